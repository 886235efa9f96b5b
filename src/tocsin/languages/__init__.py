"""Text to pattern and back, one folder per language."""
