"""Correlations: a filter that watches for events, and a transformer that makes new events from them.

| paper (001)                  | here                                    |
|------------------------------|-----------------------------------------|
| filter expression x1 || x2   | a tuple of expressions, the *branches*  |
| a                            | `Atom`                                  |
| a+b, a|b, a;b                | `Accumulation`, `Collection`, `Sequence`|
| l:x                          | `Labelled`                              |
| label expression             | `Guard`                                 |
| case l: …                    | `Case`                                  |
| push e, push new T {…}       | `Push`, `PushNew`                       |
| abort, revive, toggle        | `Switch`                                |

This module only says what a correlation *is*. Its meaning is defined in `semantics`, its mistakes are found
in `check`, its syntax is in `languages.ksu`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal as OneOf
from typing import assert_never, get_args

from tocsin.algebra.predicate import Literal
from tocsin.errors import InputError, PatternError, Span, did_you_mean

Action = OneOf["abort", "revive", "toggle"]
Activity = OneOf["literal", "local"]
Abort = OneOf["eager", "lazy"]
Overwrite = OneOf["recent", "earliest"]


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


# --- the filter -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom:
    """An event of one port arrives. Paper: 001, Definition 1."""

    event: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Accumulation:
    """Both, in any order: `a+b`."""

    left: Expression
    right: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Collection:
    """At least one of the two: `a|b`."""

    left: Expression
    right: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other: `a;b`."""

    left: Expression
    right: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Labelled:
    """An expression with a name, so that the transformer can test it and switch it off: `l:x`."""

    label: str
    body: Expression
    span: Span | None = _span()


Expression = Atom | Accumulation | Collection | Sequence | Labelled
Branches = tuple[Expression, ...]


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts of an expression."""
    match expression:
        case Atom():
            return ()
        case Labelled(_, body):
            return (body,)
        case Accumulation(left, right) | Collection(left, right) | Sequence(left, right):
            return (left, right)
        case _:
            assert_never(expression)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and every part of it, in textual order.

    >>> [type(part).__name__ for part in walk(Labelled("l", Sequence(Atom("a"), Atom("b"))))]
    ['Labelled', 'Sequence', 'Atom', 'Atom']
    """
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(parts(part))


def events(expression: Expression) -> frozenset[str]:
    """The events an expression names."""
    return frozenset(part.event for part in walk(expression) if isinstance(part, Atom))


def labelled(expression: Expression) -> tuple[Labelled, ...]:
    """The labelled parts of an expression, in textual order."""
    return tuple(part for part in walk(expression) if isinstance(part, Labelled))


# --- the transformer ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Is:
    """The label is active."""

    label: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Guard
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class And:
    """All parts are true."""

    parts: tuple[Guard, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Or:
    """One part is true."""

    parts: tuple[Guard, ...]
    span: Span | None = _span()


Guard = Is | Not | And | Or


def asked(guard: Guard) -> Iterator[Is]:
    """Every label a guard tests, in textual order."""
    match guard:
        case Is():
            yield guard
        case Not(part):
            yield from asked(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from asked(part)
        case _:
            assert_never(guard)


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute of a received event: `a.SourceID`."""

    event: str
    attribute: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Assignment:
    """The value that an attribute of a new event is set to."""

    attribute: str
    value: Field | Literal
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Push:
    """Send a received event on."""

    event: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class PushNew:
    """Send a new event."""

    type: str
    assignments: tuple[Assignment, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Switch:
    """Abort labelled parts of the filter, revive them, or toggle them."""

    action: Action
    labels: tuple[str, ...]
    span: Span | None = _span()
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)  # one for each label


Statement = Push | PushNew | Switch


def used(statement: Statement) -> tuple[str, ...]:
    """The received events a statement needs."""
    match statement:
        case Push(event):
            return (event,)
        case PushNew(_, assignments):
            return tuple(dict.fromkeys(a.value.event for a in assignments if isinstance(a.value, Field)))
        case Switch():
            return ()
        case _:
            assert_never(statement)


@dataclass(frozen=True, slots=True)
class Case:
    """The statements to run on a trigger whose active labels make the guard true."""

    guard: Guard
    body: tuple[Statement, ...] = ()
    span: Span | None = _span()


# --- the correlation ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """An event of the filter, to be bound to a port, and the type of that port."""

    type: str
    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Correlation:
    """A filter and its transformer, under a name, with the type of all events it sends."""

    output: str
    name: str
    parameters: tuple[Parameter, ...]
    branches: Branches
    initial: tuple[Switch, ...] = ()
    cases: tuple[Case, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Library:
    """The correlations of one file; warnings are errors that are not raised."""

    correlations: tuple[Correlation, ...]
    warnings: tuple[PatternError, ...] = field(default=(), compare=False)

    def find(self, name: str) -> Correlation | None:
        """The correlation of this name."""
        return next((c for c in self.correlations if c.name == name), None)


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Which of two possible interpretations of the paper is followed.

    `activity`: a label is active if the whole trigger matches its expression (the definition, to the letter),
    or if its expression took part at its place. `abort`: a branch that an abort completes triggers at once,
    or with its next event. `overwrite`: of several events of one port in a trigger, the transformer sees the
    most recent, or the earliest.
    """

    activity: Activity = "literal"
    abort: Abort = "eager"
    overwrite: Overwrite = "recent"

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Interpretation:
        """The interpretation given by a mapping of option names to values.

        >>> Interpretation.of({"overwrite": "earliest"}).overwrite
        'earliest'
        """
        choices = {"activity": get_args(Activity), "abort": get_args(Abort), "overwrite": get_args(Overwrite)}
        for name, value in options.items():
            if name not in choices:
                raise InputError(
                    "unknown-option",
                    f"there is no option {name!r}",
                    hint=did_you_mean(name, [f.name for f in fields(cls)]),
                )
            if value not in choices[name]:
                raise InputError(
                    "bad-option",
                    f"the option {name} cannot be {value!r}",
                    hint="one of " + ", ".join(choices[name]),
                )
        return cls(**options)  # type: ignore[arg-type]  # checked above
