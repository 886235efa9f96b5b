"""Profiles of the event algebra: a closed union of frozen dataclasses, one node per operator.

| paper (004)            | here                                   |
|------------------------|----------------------------------------|
| e                      | `Primitive`                            |
| (e1\\|e2)               | `Disjunction`                          |
| (e1,e2)_t              | `Conjunction`                          |
| (e1;e2)_t              | `Sequence`                             |
| (e1:e2)_t              | `Simultaneity`                         |
| overbar (e)_t          | `Negation`                             |
| e^[i]                  | `Selection`                            |
| (e)_t                  | `Framed`                               |
| time events            | `At`, `After`, `Every`                 |
| Any(m, e1, …, en)      | `Several`                              |
| A.B with two times     | `Chain`                                |
| E IN [start, end]      | `During`                               |
| sw, the same workflow  | `Each`                                 |

Each operator says how it is evaluated (`how`): over trace views, or per terminator. What an expression means is in
`semantics`, its mistakes are found in `check`. Times are whole numbers of one unit; the engines use microseconds.

Paper: 004, sections 4.1 to 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import assert_never

from tocsin.algebra.pairs.parameters import Detection, Evaluation, Pick, Views
from tocsin.algebra.predicate import Filter
from tocsin.errors import Span


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


class Unbounded(Enum):
    """A timeframe explicitly given as infinite, as opposed to none at all."""

    INFINITE = "inf"


INFINITE = Unbounded.INFINITE
Timeframe = int | Unbounded


@dataclass(frozen=True, slots=True)
class Primitive:
    """An event of a type (or of a subtype or set) that satisfies a filter; a class of instances."""

    name: str
    filter: Filter | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class At:
    """The time event of one moment: absolute."""

    time: int
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class After:
    """A time event a fixed time after each instance of the body: relative."""

    body: Expression
    delay: int
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Every:
    """A time event each `period` after an instance of `since`, until the next instance of `until`: periodic."""

    period: int
    since: Expression
    until: Expression | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Disjunction:
    """One of the operands. A timeframe has no effect on the matches; a negation inside takes it over."""

    operands: tuple[Expression, ...]
    timeframe: Timeframe | None = None
    how: Evaluation = Views()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All operands, in any order, at most `timeframe` apart."""

    operands: tuple[Expression, ...]
    timeframe: Timeframe | None = None
    how: Evaluation = Views()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Sequence:
    """One operand after the other, at most `timeframe` from first to last, and nothing of `without` in between."""

    operands: tuple[Expression, ...]
    timeframe: Timeframe | None = None
    how: Evaluation = Views()
    without: Expression | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Simultaneity:
    """All operands at the same time, up to `tolerance`. The timeframe is not the tolerance and has no effect."""

    operands: tuple[Expression, ...]
    timeframe: Timeframe | None = None
    how: Evaluation = Views()
    tolerance: int = 0
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Negation:
    """Nothing of the body for the length of the timeframe; without one it takes that of the operator around it."""

    body: Expression
    timeframe: Timeframe | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Selection:
    """The i-th instance of the body, or the n-th to the m-th, over the whole trace."""

    body: Expression
    pick: Pick
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Framed:
    """An expression with a timeframe of its own, which only negations inside it use."""

    body: Expression
    timeframe: Timeframe
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Several:
    """So many of the operands, in any order, at most `timeframe` apart. Sections 3.2: Any."""

    operands: tuple[Expression, ...]
    count: int
    timeframe: Timeframe | None
    how: Detection
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Chain:
    """One event after the other, committed to the first of each: later in time, and in the attribute `by` if it is given.

    What was passed over is not taken up again, and a match drops everything before its end. Section 3.4: Siena.
    """

    operands: tuple[Primitive, ...]
    by: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class During:
    """The body over what is observed from one moment to another, both included."""

    body: Expression
    since: int
    until: int
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Each:
    """The body over the events of each value of an attribute, separately; from the first such event that it looks at."""

    body: Expression
    by: str
    span: Span | None = _span()


Composition = Disjunction | Conjunction | Sequence | Simultaneity
Expression = (
    Primitive
    | At
    | After
    | Every
    | Disjunction
    | Conjunction
    | Sequence
    | Simultaneity
    | Negation
    | Selection
    | Framed
    | Several
    | Chain
    | During
    | Each
)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside an expression, in textual order."""
    match expression:
        case Primitive() | At():
            return ()
        case After(body) | Negation(body) | Selection(body) | Framed(body) | During(body) | Each(body):
            return (body,)
        case Every(_, since, until):
            return (since,) if until is None else (since, until)
        case Disjunction(operands) | Conjunction(operands) | Simultaneity(operands) | Several(operands):
            return operands
        case Chain(primitives):
            return primitives
        case Sequence(operands, without=without):
            return operands if without is None else (*operands, without)
        case _:
            assert_never(expression)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it, in textual order.

    >>> [type(part).__name__ for part in walk(Negation(Sequence((Primitive("a"), Primitive("b")))))]
    ['Negation', 'Sequence', 'Primitive', 'Primitive']
    """
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(parts(part))


def primitives(expression: Expression) -> tuple[Primitive, ...]:
    """The primitive events an expression names, in textual order."""
    return tuple(part for part in walk(expression) if isinstance(part, Primitive))


def with_timeframes(expression: Expression, around: Timeframe | None = None) -> Expression:
    """The expression with a timeframe on each negation: its own, or that of the nearest operator around it.

    >>> with_timeframes(Disjunction((Primitive("a"), Negation(Primitive("b"))), 30)).operands[1].timeframe
    30

    A negation that finds none gets an infinite one. Part C.5.16.
    """

    def inside(part: Expression, own: Timeframe | None) -> Expression:
        return with_timeframes(part, around if own is None else own)

    match expression:
        case Primitive() | At() | Chain():
            return expression
        case Negation(body, own):
            frame = own if own is not None else around if around is not None else INFINITE
            return replace(expression, body=inside(body, frame), timeframe=frame)
        case Framed(body, own):
            return replace(expression, body=inside(body, own))
        case After(body) | Selection(body) | During(body) | Each(body):
            return replace(expression, body=inside(body, None))
        case Every(_, since, until):
            stop = None if until is None else inside(until, None)
            return replace(expression, since=inside(since, None), until=stop)
        case Several(operands, _, own):
            return replace(expression, operands=tuple(inside(part, own) for part in operands))
        case Disjunction(operands, own) | Conjunction(operands, own) | Simultaneity(operands, own):
            return replace(expression, operands=tuple(inside(part, own) for part in operands))
        case Sequence(operands, own, without=without):
            absent = None if without is None else inside(without, own)
            operands = tuple(inside(part, own) for part in operands)
            return replace(expression, operands=operands, without=absent)
        case _:
            assert_never(expression)
