"""What a running operator may forget, read off its expression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from tocsin.algebra.pairs.expression import (
    After,
    At,
    Chain,
    Composition,
    Conjunction,
    Disjunction,
    During,
    Each,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Several,
    Simultaneity,
    walk,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    ONE,
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Gather,
    Mode,
    Pick,
    Views,
)

_HARMLESS = (Consumption.KEEP, Consumption.OWN)  # to the operators around


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What can be forgotten: `length` is the timeframe, `plain` allows to forget by number as well.

    `reach` is how long before its occurrence an instance of an operand can start.
    """

    length: int | None
    plain: bool
    last_only: bool
    reach: int | None = 0


def forgetting_of(
    expression: Composition,
    how: Detection,
    operands: Sequence[Expression],
    modes: Sequence[Mode],
    outermost: bool,
) -> Forgetting:
    """What an operator that is evaluated per terminator can forget."""
    own = length_of(expression)
    length = own if forgets_by_timeframe(modes, outermost) else None
    plain = forgets_by_number(modes) and _is_plain(expression, how, operands)
    return Forgetting(
        length,
        plain and length == own,
        isinstance(expression, Ordered),
        _longest(_reach(operand) for operand in operands),
    )


def forgetting_of_several(expression: Several, outermost: bool) -> Forgetting:
    """What an operator that wants so many of its operands can forget."""
    own = expression.timeframe if isinstance(expression.timeframe, int) else None
    return Forgetting(
        own if forgets_by_timeframe(expression.how.modes, outermost) else None, False, False, None
    )


def forgetting_alone(mode: Mode) -> Forgetting:
    """What an operand of a disjunction can forget; nothing is kept unless its mode gathers."""
    return Forgetting(None, forgets_by_number((mode, mode)), True)


def length_of(expression: Composition) -> int | None:
    """How far apart the instances of a match can be."""
    if isinstance(expression, Simultaneity):
        return expression.tolerance
    return expression.timeframe if isinstance(expression.timeframe, int) else None


def forgets_by_timeframe(modes: Sequence[Mode], outermost: bool) -> bool:
    """Whether what is older than the timeframe is of no use: not even to be listed, or to be deleted around."""
    if any(mode.selection is Gather.CUMULATIVE for mode in modes):
        return False
    deleting = [mode.consumption is Consumption.DELETE for mode in modes]
    return outermost or all(deleting) or not any(deleting)


def forgets_by_number(modes: Sequence[Mode]) -> bool:
    """Whether the modes never want an instance after others of its operand have been deleted."""
    uniform = {mode.consumption for mode in modes} in ({Consumption.KEEP}, {Consumption.DELETE})
    single = all(isinstance(mode.selection, Pick) and mode.delimiter == ONE for mode in modes)
    return uniform and single and len(modes) == 2


def _reach(expression: Expression) -> int | None:
    """How long before its occurrence an instance can start; None if there is no bound."""
    match expression:
        case Primitive() | At() | Negation():
            return 0
        case Selection(body) | Framed(body) | During(body) | Each(body):
            return _reach(body)
        case Several() | Chain():
            return None
        case After(body, delay):
            inner = _reach(body)
            return None if inner is None else inner + delay
        case Every():
            return None
        case Disjunction() | Conjunction() | Ordered() | Simultaneity():
            how = expression.how
            if isinstance(how, Detection) and not forgets_by_timeframe(how.modes, outermost=True):
                return None
            inner = _longest(_reach(operand) for operand in expression.operands)
            own = length_of(expression)
            if isinstance(expression, Disjunction):
                single = isinstance(how, Views) or all(forgets_by_number((mode, mode)) for mode in how.modes)
                own = 0 if single else None
            return None if inner is None or own is None else inner + own
        case _:
            assert_never(expression)


def _longest(reaches: Iterable[int | None]) -> int | None:
    known = list(reaches)
    bounded = [reach for reach in known if reach is not None]
    return max(bounded, default=0) if len(bounded) == len(known) else None


def _is_plain(expression: Composition, how: Detection, operands: Sequence[Expression]) -> bool:
    """Whether only order and timeframe decide what fits, and no operator inside deletes anything."""
    nested = [part for operand in operands for part in walk(operand)]
    inside = [part.how for part in nested if isinstance(part, Composition | Several)]
    keeping = all(
        isinstance(inner, Views) or all(mode.consumption in _HARMLESS for mode in inner.modes)
        for inner in inside
    )
    free = how.coupling is Coupling.NON_CONTINUOUS and how.concurrency is Concurrency.OVERLAPPING
    without = isinstance(expression, Ordered) and expression.without is not None
    return keeping and free and not without and operands[0] != operands[1]
