"""How a language writes the pieces of a library, and how it says which ports events come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tocsin.algebra.correlation.expression import Case, Expression, Library, Statement
from tocsin.errors import PatternError
from tocsin.languages.language import Language
from tocsin.languages.registry import with_parts


@dataclass(frozen=True, slots=True)
class Printers:
    """The printers of a language: of libraries, branches, cases without their keyword, and statements."""

    library: Callable[[Library], str]
    expression: Callable[[Expression], str]
    case: Callable[[Case], str]
    statement: Callable[[Statement], str]


def printers_of(own: Language) -> Printers:
    """The printers of a language, or those of the first language of the family if some are missing."""
    parts = "show-branch", "show-case", "show-statement"
    writer = with_parts(own, *parts)
    return Printers(writer.text_of, *map(writer.part, parts))


class Port(Protocol):
    """A port of a component; as text it has the name of both."""

    @property
    def owner(self) -> str: ...


class Assembly(Protocol):
    """The connections of a system: the port that each event of a correlation is bound to, and what is odd about them."""

    @property
    def warnings(self) -> tuple[PatternError, ...]: ...

    def sources(self, correlation: str) -> Mapping[str, Port]:
        """The ports by the names of the events."""
        ...
