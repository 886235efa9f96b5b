"""Patterns: a closed union of frozen dataclasses, one node per construct.

This module only says what a pattern *is*. Its meaning is defined in `semantics`, its syntax in `languages`. A new
construct of another language is a new node; mypy then lists every function that has to handle it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
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
    """One event. Events of `accept` match, others of `domain` fail, the rest are ignored.

    Without a domain nothing fails. `negated`: the events of the domain that are not in `accept` match, the others of the
    domain fail. `domain.domain_of` gives this as lists of events.
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
class Optional:
    """Not at all, or up to `most` times, one after the other."""

    body: Pattern
    most: int = 1
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
    """The end of `first` starts a timer that `second` can wait for, and that ends `second` if it does not wait for it."""

    first: Pattern
    second: Pattern
    timer: Timer
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Within:
    """Matches of `body` whose last event ends at most `limit` microseconds after the end of the first."""

    body: Pattern
    limit: int
    span: Span | None = _span()


Pattern = Atom | Sequence | Repeat | Optional | AnyOf | AllOf | Timed | Within


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside a pattern, in textual order."""
    match pattern:
        case Atom():
            return ()
        case Sequence(parts):
            return parts
        case Repeat(body) | Optional(body) | Within(body):
            return (body,)
        case AnyOf(options):
            return options
        case AllOf(left, right):
            return (left, right)
        case Timed(first, second):
            return (first, second)
        case _:
            assert_never(pattern)


def rebuilt(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """The pattern with each pattern directly inside it changed."""
    match pattern:
        case Atom():
            return pattern
        case Sequence(parts):
            return replace(pattern, parts=tuple(map(change, parts)))
        case Repeat(body) | Optional(body) | Within(body):
            return replace(pattern, body=change(body))
        case AnyOf(options):
            return replace(pattern, options=tuple(map(change, options)))
        case AllOf(left, right):
            return replace(pattern, left=change(left), right=change(right))
        case Timed(first, second):
            return replace(pattern, first=change(first), second=change(second))
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
        case Repeat() | Optional():
            return True
        case Within(body):
            return can_be_empty(body)
        case Sequence(parts):
            return all(can_be_empty(part) for part in parts)
        case AnyOf(options):
            return any(can_be_empty(option) for option in options)
        case _:
            assert_never(pattern)
