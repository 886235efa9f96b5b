"""The correlation language of KSU and Cadena (paper 001): libraries, event types, assemblies."""

from tocsin.algebra.correlation.expression import Library
from tocsin.languages.ksu.assembly import Assembly, parse_assembly, show_assembly
from tocsin.languages.ksu.filter import parse_filter, parse_guard
from tocsin.languages.ksu.idl import parse_idl
from tocsin.languages.ksu.options import CorrelationOptions
from tocsin.languages.ksu.parser import parse
from tocsin.languages.ksu.printer import show, show_filter, show_guard
from tocsin.languages.language import Context

__all__ = [
    "Assembly",
    "CorrelationOptions",
    "parse",
    "parse_assembly",
    "parse_filter",
    "parse_guard",
    "parse_idl",
    "read",
    "show",
    "show_assembly",
    "show_filter",
    "show_guard",
]


def read(text: str, options: CorrelationOptions, context: Context) -> Library:
    """The library a text defines, or its one correlation that the options choose, as `Language.parse` is called."""
    return options.chosen(parse(text, options.types))
