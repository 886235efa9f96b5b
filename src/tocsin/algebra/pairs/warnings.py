"""Warnings about legal but probably unintended profiles: parameters without effect, conflicting modes, unbounded state.

>>> from tocsin.algebra.pairs.operators import sequence
>>> [warning.code for warning in warnings(sequence("a", "b"))]
['unbounded-state']
"""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.pairs.check import OPERATOR_NAMES
from tocsin.algebra.pairs.expression import (
    Composition,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Simultaneity,
    walk,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    IMPLIED_CONCURRENCY,
    LAST,
    Concurrency,
    Consumption,
    Detection,
    Pairing,
    Views,
)
from tocsin.errors import PatternError

Errors = Iterator[PatternError]


def warnings(expression: Expression) -> list[PatternError]:
    """Warnings about parameters without effect, modes that contradict each other, and unbounded state."""
    compositions = [
        part
        for part in walk(expression)
        if isinstance(part, Disjunction | Conjunction | Ordered | Simultaneity)
    ]
    return [
        warning for part in compositions for warning in (*_without_effect(part), *_modes(part), *_state(part))
    ]


def _without_effect(expression: Composition) -> Errors:
    how, span = expression.how, expression.span
    negated = any(isinstance(part, Negation) for part in walk(expression))
    if (
        isinstance(expression, Disjunction | Simultaneity)
        and expression.timeframe is not None
        and not negated
    ):
        yield PatternError(
            "no-effect",
            f"a timeframe has no effect on a {OPERATOR_NAMES[type(expression)]}",
            span,
            "leave it out",
        )
    if not isinstance(how, Views):
        return
    second = how.second != ALL or how.pairing is not Pairing.ALL
    if isinstance(expression, Disjunction) and second:
        yield PatternError("no-effect", "only the first choice has an effect on a disjunction", span)
    if isinstance(expression, Simultaneity) and (second or how.first != ALL):
        yield PatternError(
            "no-effect", "a simultaneity has every pair of its time, whatever is chosen", span, "leave it out"
        )
    operands = expression.operands
    twice = isinstance(expression, Conjunction | Ordered) and operands[:1] == operands[1:2]
    if twice and (how.first, how.second) != (ALL, ALL):
        yield PatternError(
            "no-effect", "of one class twice every two instances are taken, whatever is chosen", span
        )


def _modes(expression: Composition) -> Errors:
    """Consumption and concurrency that exclude each other. Paper: 004, Table 9."""
    if not isinstance(expression.how, Detection):
        return
    implied = {IMPLIED_CONCURRENCY[mode.consumption] for mode in expression.how.modes}
    if expression.how.concurrency is Concurrency.NON_OVERLAPPING and implied == {Concurrency.OVERLAPPING}:
        yield PatternError(
            "modes-disagree",
            "what keeps every instance overlaps, but the concurrency is nonoverlapping",
            expression.span,
            "consume with delete, or let matches overlap",
        )


def _state(expression: Composition) -> Errors:
    """Operators that can never forget an instance."""
    if not isinstance(expression, Conjunction | Ordered) or isinstance(expression.timeframe, int):
        return
    how = expression.how
    if isinstance(how, Views):
        keeps = how.pairing is Pairing.ALL
    else:
        keeps = any(m.consumption is Consumption.KEEP and m.selection not in (FIRST, LAST) for m in how.modes)
    if keeps:
        yield PatternError(
            "unbounded-state",
            f"without a timeframe a {OPERATOR_NAMES[type(expression)]} that keeps its instances never forgets one",
            expression.span,
            "give it a timeframe, or consume with delete or delete_reapply",
        )
