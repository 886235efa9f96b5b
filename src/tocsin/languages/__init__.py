"""Text to pattern and back, one folder a language."""
