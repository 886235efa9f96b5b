"""Explanations and reports as text, as HTML and as JSON."""
