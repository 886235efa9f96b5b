"""The correlation language of KSU and Cadena (paper 001): libraries, event types, assemblies."""

from tocsin.languages.ksu.assembly import Assembly, parse_assembly, show_assembly
from tocsin.languages.ksu.filter import parse_filter, parse_guard
from tocsin.languages.ksu.idl import parse_idl
from tocsin.languages.ksu.parser import parse
from tocsin.languages.ksu.printer import show, show_filter, show_guard

__all__ = [
    "Assembly",
    "parse",
    "parse_assembly",
    "parse_filter",
    "parse_guard",
    "parse_idl",
    "show",
    "show_assembly",
    "show_filter",
    "show_guard",
]
