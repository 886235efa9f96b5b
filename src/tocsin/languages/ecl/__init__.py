"""ECL, the event correlation language of paper 000: text to expression and machine, and back."""

from tocsin.algebra.completion.expression import Handwritten, Interpretation, Program, Subscription
from tocsin.languages.ecl.machine_text import is_machine, parse_machine, parse_subscription, show_machine
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
    "write",
]


def read(text: str, options: Interpretation, context: Context) -> Program:
    """Parse a text, which may be a machine, to a program, with the signature of `Language.parse`."""
    return parse_subscription(text, options) if is_machine(text) else parse(text, interpretation=options)


def write(program: Program) -> str:
    """The text of a program; of one that is a machine, the machine."""
    match program.subscriptions:
        case (Subscription(_, Handwritten(machine)),):
            return show_machine(machine)
        case _:
            return show_program(program)
