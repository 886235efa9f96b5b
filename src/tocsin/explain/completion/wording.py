"""How a language writes the pieces of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tocsin.algebra.completion.expression import Program
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Output
from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.predicate import Filter
from tocsin.languages.language import Language
from tocsin.languages.registry import plain_language, with_parts


@dataclass(frozen=True, slots=True)
class Printers:
    """The printers of a language: of programs, machines, predicates and outputs.

    `library` writes the correlations that modes can be simulated with, in a language of those.
    """

    program: Callable[[Program], str]
    machine: Callable[[Machine], str]
    filter: Callable[[Filter], str]
    output: Callable[[Output], str]
    library: Callable[[Library], str]


def printers_of(own: Language) -> Printers:
    """The printers of a language, or those of the first language of the family if some are missing."""
    writer = with_parts(own, "show-machine", "show-filter", "show-output")
    return Printers(
        writer.text_of,
        writer.part("show-machine"),
        writer.part("show-filter"),
        writer.part("show-output"),
        plain_language("correlation").text_of,
    )
