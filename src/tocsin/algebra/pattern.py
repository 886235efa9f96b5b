"""Patterns: a closed union of frozen dataclasses, one node per idea.

Only what a pattern *is* stands here. What it means is in `semantics`, how it is spelled in `languages`. A new idea of
another language is a new node; mypy then lists every function that has to learn it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import assert_never

from tocsin.algebra.predicate import Filter, variables
from tocsin.errors import Span


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


class Order(Enum):
    """How the parts of a sequence follow each other in time."""

    WEAK = "weak"  # later in the total order; intervals may overlap
    STRONG = "strong"  # all of the second lies after the end of the first


@dataclass(frozen=True, slots=True)
class EventSpec:
    """A describable set of events: a type, set, composite or timer by name, perhaps filtered."""

    name: str
    filter: Filter | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Atom:
    """One event. Events of `accept` match, others of `domain` fail, the rest is not looked at.

    Without a domain nothing fails. `negated`: the events of the domain that are not in `accept` match, those of
    `accept` fail.
    """

    accept: tuple[EventSpec, ...]
    domain: tuple[EventSpec, ...] = ()
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Pattern, ...]
    order: Order
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Repeat:
    """Zero or more times."""

    body: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several."""

    options: tuple[Pattern, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class AllOf:
    """Both, in any order, perhaps overlapping; each side is a detector of its own."""

    left: Pattern
    right: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer event: `after` microseconds, or `at` a moment; exactly one of the two."""

    name: str
    after: int | None = None
    at: int | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Timed:
    """The end of `first` starts a timer that `second` can wait for, and that ends `second` if it does not."""

    first: Pattern
    second: Pattern
    timer: Timer
    span: Span | None = _span()


Pattern = Atom | Sequence | Repeat | AnyOf | AllOf | Timed


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside a pattern, in textual order."""
    match pattern:
        case Atom():
            return ()
        case Sequence(parts):
            return parts
        case Repeat(body):
            return (body,)
        case AnyOf(options):
            return options
        case AllOf(left, right):
            return (left, right)
        case Timed(first, second):
            return (first, second)
        case _:
            assert_never(pattern)


def walk(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and everything inside it, in textual order."""
    yield pattern
    for child in children(pattern):
        yield from walk(child)


def atoms(pattern: Pattern) -> Iterator[Atom]:
    """Every atom, in textual order."""
    return (node for node in walk(pattern) if isinstance(node, Atom))


def specs(pattern: Pattern) -> Iterator[EventSpec]:
    """Every event specification, in textual order, domains included."""
    for atom in atoms(pattern):
        yield from atom.accept
        yield from atom.domain


def pattern_variables(pattern: Pattern) -> frozenset[str]:
    """The variables a pattern names."""
    return frozenset().union(*(variables(spec.filter) for spec in specs(pattern)))


def can_be_empty(pattern: Pattern) -> bool:
    """Whether the pattern can complete without any event."""
    match pattern:
        case Atom() | Timed() | AllOf():
            return False
        case Repeat():
            return True
        case Sequence(parts):
            return all(can_be_empty(part) for part in parts)
        case AnyOf(options):
            return any(can_be_empty(option) for option in options)
        case _:
            assert_never(pattern)
