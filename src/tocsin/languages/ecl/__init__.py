"""ECL, the event correlation language of paper 000: text to expression and machine, and back."""

from tocsin.languages.ecl.machine_text import parse_machine, show_machine
from tocsin.languages.ecl.parser import parse
from tocsin.languages.ecl.printer import show, show_filter, show_output, show_program

__all__ = ["parse", "parse_machine", "show", "show_filter", "show_machine", "show_output", "show_program"]
