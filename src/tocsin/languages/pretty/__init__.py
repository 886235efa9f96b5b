"""The "pretty" language of the Cambridge paper (003): sentences to patterns and back."""

from tocsin.languages.pretty.parser import parse
from tocsin.languages.pretty.printer import show, show_subscription

__all__ = ["parse", "show", "show_subscription"]
