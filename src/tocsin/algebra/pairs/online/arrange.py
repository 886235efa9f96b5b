"""From an expression to the stages that evaluate it, and what each of them may forget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from tocsin.algebra.pairs.composition import Operands, occurs_at, task_of, task_of_one, task_of_several
from tocsin.algebra.pairs.constraints import meets, nothing_between
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
    primitives,
    walk,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.observation import Instance, compose
from tocsin.algebra.pairs.online.by_views import OneOf, Pair, PairsOfOneClass, PairsOfViews, Runs
from tocsin.algebra.pairs.online.inlets import Absence, Asked, Events, Guard, Moments, Numbered, Periods
from tocsin.algebra.pairs.online.per_terminator import (
    EachOne,
    Forgetting,
    Interruptions,
    Terminators,
    forgets_by_number,
    forgets_by_timeframe,
)
from tocsin.algebra.pairs.online.restrict import Groups, Span, Steps
from tocsin.algebra.pairs.online.stage import Merge, Stage
from tocsin.algebra.pairs.parameters import (
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Mode,
    Pairing,
    Views,
)
from tocsin.algebra.pairs.semantics import guards_of, matches_class
from tocsin.algebra.pairs.terminator import Found, Task
from tocsin.events import Event

_HARMLESS = (Consumption.KEEP, Consumption.OWN)  # to the operators around


def arrange(expression: Expression, outermost: bool = False) -> Stage:
    """The stages that evaluate an expression whose negations have their timeframes."""
    match expression:
        case Primitive():
            return Events(expression)
        case At(time):
            return Moments(at=time)
        case After(body, delay):
            return Moments(body=arrange(body), delay=delay)
        case Every(period, since, until):
            return Periods(period, arrange(since), None if until is None else arrange(until))
        case Negation(body, timeframe):
            return Absence(arrange(body), timeframe if isinstance(timeframe, int) else None)
        case Selection(body, pick):
            return Numbered(arrange(body), pick)
        case Framed(body):
            return arrange(body, outermost)
        case Disjunction() | Conjunction() | Ordered() | Simultaneity():
            return _composition(expression, outermost)
        case Several():
            return _several(expression, outermost)
        case Chain():
            return Steps(expression)
        case During(body, since, until):
            return Span(arrange(body), since, until)
        case Each(body):
            return Groups(expression, lambda: arrange(body, outermost))
        case _:
            assert_never(expression)


def _composition(expression: Composition, outermost: bool) -> Stage:
    guards = guards_of(expression)
    modes = (
        expression.how.modes
        if isinstance(expression.how, Detection)
        else (Mode(),) * len(expression.operands)
    )
    active = [(o, mode) for o, mode in zip(expression.operands, modes, strict=True) if o not in guards]
    operands = tuple(operand for operand, _ in active)
    if guards and len(operands) == 1:
        stage = arrange(operands[0])
    elif isinstance(expression.how, Detection):
        stage = _per_terminator(expression, expression.how, operands, tuple(m for _, m in active), outermost)
    else:
        stage = _by_views(expression, expression.how, operands)
    return Asked(stage, [_guard(guard) for guard in guards], len(operands) == 1) if guards else stage


def _guard(expression: Expression) -> Guard:
    match expression:
        case Negation(body):
            return Guard([arrange(body)], (), some=False)
        case Framed(body):
            return _guard(body)
        case Disjunction(operands) | Conjunction(operands):
            return Guard((), [_guard(operand) for operand in operands], isinstance(expression, Disjunction))
        case _:
            raise TypeError(f"{expression} is not a negation without an end")


def _length(expression: Composition) -> int | None:
    """How far apart the instances of a match can be."""
    if isinstance(expression, Simultaneity):
        return expression.tolerance
    return expression.timeframe if isinstance(expression.timeframe, int) else None


def _without(expression: Composition) -> Stage | None:
    if not isinstance(expression, Ordered) or expression.without is None:
        return None
    return arrange(expression.without)


def _by_views(expression: Composition, how: Views, operands: tuple[Expression, ...]) -> Stage:
    if isinstance(expression, Disjunction):
        return OneOf(Merge([arrange(operand) for operand in operands]), Runs(how, only_first=True))

    def fits(pair: Pair, absent: Sequence[int]) -> bool:
        return meets(expression, [(pair[0],), (pair[1],)]) and nothing_between(pair, absent)

    def composed(pair: Pair) -> Instance:
        return compose(pair, occurs_at(type(expression), pair[0].time, pair[1].time))

    views = Views() if isinstance(expression, Simultaneity) else how
    length, without = _length(expression), _without(expression)
    if operands[0] == operands[1]:
        unique = views.pairing is Pairing.UNIQUE
        return PairsOfOneClass(arrange(operands[0]), unique, fits, composed, length, without)
    runs = Runs(views, in_order=isinstance(expression, Ordered))
    return PairsOfViews(Merge([arrange(o) for o in operands]), runs, fits, composed, length, without)


def _per_terminator(
    expression: Composition,
    how: Detection,
    operands: tuple[Expression, ...],
    modes: tuple[Mode, ...],
    outermost: bool,
) -> Stage:
    if isinstance(expression, Disjunction):
        return EachOne(Merge([_alone(o, mode, outermost) for o, mode in zip(operands, modes, strict=True)]))
    found = (Found(()),) * len(operands)

    def make_task(interruptions: Interruptions) -> Task:
        times, places = interruptions
        return task_of(expression, how, Operands(operands, modes, found, times, places))

    length = _length(expression) if forgets_by_timeframe(modes, outermost) else None
    in_order = isinstance(expression, Ordered)
    plain = forgets_by_number(modes) and _is_plain(expression, how, operands)
    reach = _longest(_reach(operand) for operand in operands)
    forgetting = Forgetting(length, plain and length == _length(expression), in_order, reach)
    relevant = primitives(expression)

    def foreign(event: Event) -> bool:
        return not any(matches_class(primitive, event) for primitive in relevant)

    return Terminators(
        Merge([arrange(operand) for operand in operands]),
        modes,
        forgetting,
        make_task,
        _without(expression),
        foreign if how.coupling is Coupling.CONTINUOUS else None,
    )


def _several(expression: Several, outermost: bool) -> Stage:
    operands, modes = expression.operands, expression.how.modes
    task = task_of_several(expression, (Found(()),) * len(operands))
    own = expression.timeframe if isinstance(expression.timeframe, int) else None
    forgetting = Forgetting(own if forgets_by_timeframe(modes, outermost) else None, False, False, None)
    return Terminators(Merge([arrange(operand) for operand in operands]), modes, forgetting, lambda _: task)


def _alone(operand: Expression, mode: Mode, outermost: bool) -> Stage:
    """Detection of single instances; nothing is kept unless the mode gathers."""
    task = task_of_one(Found(()), mode)
    single = forgets_by_number((mode, mode))
    return Terminators(Merge([arrange(operand)]), (mode,), Forgetting(None, single, True), lambda _: task)


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
            own = _length(expression)
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


def _is_plain(expression: Composition, how: Detection, operands: tuple[Expression, ...]) -> bool:
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
