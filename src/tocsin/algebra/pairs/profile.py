"""A profile: what a subscriber asks for, and how it wants to be notified.

Paper: 004, section 1.1 and Table 1. A profile has a query part, which is an expression of the event algebra, and a meta part:
how often, in which format and to whom notifications go. Actions after a colon are what facility management calls the reaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tocsin.algebra.pairs.expression import Expression
from tocsin.errors import InputError, Span


@dataclass(frozen=True, slots=True)
class Action:
    """A reaction, by name, with its arguments as they are written."""

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notify:
    """The meta part of a profile: frequency, format and addressee of notifications.

    `every` is the least time between two notifications of a key in microseconds; 0 notifies of each match.
    """

    every: int = 0
    format: str = ""
    addressee: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A named expression with its actions and its meta part. `parameters` keeps what only its own language can write."""

    name: str
    expression: Expression
    actions: tuple[Action, ...] = ()
    notify: Notify = Notify()
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Interpretation:
    """The options of languages of the family that have none of their own."""

    @classmethod
    def of(cls, asked: Mapping[str, object]) -> Interpretation:
        """The options from a mapping of names to values, of which there may be none."""
        if asked:
            raise InputError("unknown-option", f"there is no option {next(iter(asked))!r}")
        return cls()
