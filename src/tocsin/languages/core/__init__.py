"""The Cambridge core language (paper 003): text to pattern and back."""

from tocsin.languages.core.parser import parse
from tocsin.languages.core.printer import show, show_subscription

__all__ = ["parse", "show", "show_subscription"]
