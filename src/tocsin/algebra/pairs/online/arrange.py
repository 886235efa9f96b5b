"""From an expression to the stages that evaluate it, and what each of them may forget."""

from __future__ import annotations

from collections.abc import Sequence
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
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.observation import Instance, compose
from tocsin.algebra.pairs.online.by_views import OneOf, Pair, PairsOfOneClass, PairsOfViews, Runs
from tocsin.algebra.pairs.online.forgetting import (
    forgetting_alone,
    forgetting_of,
    forgetting_of_several,
    length_of,
)
from tocsin.algebra.pairs.online.inlets import Absence, Asked, Events, Guard, Moments, Numbered, Periods
from tocsin.algebra.pairs.online.per_terminator import (
    EachOne,
    Interruptions,
    Terminators,
)
from tocsin.algebra.pairs.online.restrict import Groups, Span, Steps
from tocsin.algebra.pairs.online.stage import Merge, Stage
from tocsin.algebra.pairs.parameters import (
    Coupling,
    Detection,
    Mode,
    Pairing,
    Views,
)
from tocsin.algebra.pairs.semantics import guards_of, matches_class
from tocsin.algebra.pairs.terminator import Found, Task
from tocsin.events import Event


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
    length, without = length_of(expression), _without(expression)
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
        return EachOne(Merge([_alone(o, mode) for o, mode in zip(operands, modes, strict=True)]))
    found = (Found(()),) * len(operands)

    def make_task(interruptions: Interruptions) -> Task:
        times, places = interruptions
        return task_of(expression, how, Operands(operands, modes, found, times, places))

    forgetting = forgetting_of(expression, how, operands, modes, outermost)
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
    task = task_of_several(expression, (Found(()),) * len(expression.operands))
    merge = Merge([arrange(operand) for operand in expression.operands])
    forgetting = forgetting_of_several(expression, outermost)
    return Terminators(merge, expression.how.modes, forgetting, lambda _: task)


def _alone(operand: Expression, mode: Mode) -> Stage:
    """Detection of single instances; nothing is kept unless the mode gathers."""
    task = task_of_one(Found(()), mode)
    return Terminators(Merge([arrange(operand)]), (mode,), forgetting_alone(mode), lambda _: task)
