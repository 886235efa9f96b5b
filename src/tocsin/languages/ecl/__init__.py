"""ECL, the event correlation language of paper 000: text to expression and machine, and back."""

from tocsin.algebra.completion.expression import Interpretation, Program
from tocsin.languages.ecl.machine_text import parse_machine, show_machine
from tocsin.languages.ecl.parser import parse
from tocsin.languages.ecl.printer import show, show_filter, show_output, show_program
from tocsin.languages.language import Context

__all__ = [
    "parse",
    "parse_machine",
    "read",
    "show",
    "show_filter",
    "show_machine",
    "show_output",
    "show_program",
]


def read(text: str, options: Interpretation, context: Context) -> Program:
    """Parse a text to a program, with the signature of `Language.parse`."""
    return parse(text, interpretation=options)
