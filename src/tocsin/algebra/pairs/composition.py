"""How the operators combine the instances of their operands, in both evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tocsin.algebra.pairs.constraints import meets, nothing_between, uninterrupted
from tocsin.algebra.pairs.expression import (
    Composition,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Several,
    Simultaneity,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.observation import Instance, Place, compose
from tocsin.algebra.pairs.parameters import Coupling, Detection, Mode, Views
from tocsin.algebra.pairs.terminator import Found, Task, detect
from tocsin.algebra.pairs.views import any_order_pairs, one_of, ordered_pairs, pairs_of_one_class


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of an operator that have instances, their modes and instances, and possible interruptions.

    `absent` are the times of what may not lie between them, `foreign` the places of events that no operand looks at.
    """

    expressions: tuple[Expression, ...]
    modes: tuple[Mode, ...]
    found: tuple[Found, ...]
    absent: Sequence[int] = ()
    foreign: Sequence[Place] = ()


def occurs_at(operator: type[Composition] | type[Negation], *times: int) -> int:
    """When a composite of parts with these times occurs; of a negation, the start and the length of its timeframe.

    >>> occurs_at(Disjunction, 3, 8), occurs_at(Conjunction, 8, 3), occurs_at(Negation, 10, 5)
    (3, 8, 15)

    Paper: 004, section 4.2, event operators.
    """
    if operator is Disjunction:
        return min(times)
    if operator is Negation:
        return sum(times)
    return times[-1] if operator is Ordered else max(times)


def put_together(expression: Composition, operands: Operands) -> Found:
    """The instances of an operator, from those of its operands."""
    if isinstance(expression.how, Detection):
        return _per_terminator(expression, expression.how, operands)
    deletions = tuple(d for found in operands.found for d in found.deletions)
    return Found(in_order(_by_views(expression, expression.how, operands)), deletions)


def in_order(instances: Iterable[Instance]) -> tuple[Instance, ...]:
    """The instances by time, then by place."""
    return tuple(sorted(instances, key=lambda instance: instance.order))


def _by_views(expression: Composition, how: Views, operands: Operands) -> Iterable[Instance]:
    lists = [found.instances for found in operands.found]
    if isinstance(expression, Disjunction):
        return one_of(lists, how)
    first, second = lists

    def fits(pair: Sequence[Instance]) -> bool:
        return meets(expression, [(pair[0],), (pair[1],)]) and nothing_between(pair, operands.absent)

    if isinstance(expression, Simultaneity):
        # z, w and P have no effect here: views of equal times are not defined (Part C.5.15).
        how = Views()
    if operands.expressions[0] == operands.expressions[1]:
        pairs = pairs_of_one_class(first, how, fits)
    elif isinstance(expression, Ordered):
        pairs = ordered_pairs(first, second, how, fits)
    else:
        pairs = any_order_pairs(first, second, how, fits)
    return {compose(pair, occurs_at(type(expression), pair[0].time, pair[1].time)) for pair in pairs}


def _per_terminator(expression: Composition, how: Detection, operands: Operands) -> Found:
    if isinstance(expression, Disjunction):
        return _each_one(operands)
    return detect(task_of(expression, how, operands))


def task_of(expression: Composition, how: Detection, operands: Operands) -> Task:
    """An operator as a task for detection per terminator."""
    same = [
        (one, other)
        for one, other in combinations(range(len(operands.expressions)), 2)
        if operands.expressions[one] == operands.expressions[other]
    ]

    def complete(match: Instance) -> bool:
        continuous = how.coupling is Coupling.CONTINUOUS
        interrupted = continuous and not uninterrupted(match, operands.foreign)
        return not interrupted and nothing_between(match.parts, operands.absent)

    return Task(
        operands.found,
        replace(how, modes=operands.modes),
        lambda chosen: meets(expression, chosen, how.concurrency, same),
        complete,
        last_only=isinstance(expression, Ordered),
    )


def task_of_several(expression: Several, found: tuple[Found, ...]) -> Task:
    """An operator that needs only some of its operands, as a task: a conjunction of those."""
    whole = Conjunction(expression.operands, expression.timeframe, expression.how)
    task = task_of(whole, expression.how, Operands(expression.operands, expression.how.modes, found))
    return replace(task, count=expression.count)


def _each_one(operands: Operands) -> Found:
    """A disjunction per terminator: an instance is a match by itself, or with others of its operand if the mode gathers."""
    each = [
        detect(task_of_one(found, mode)) for found, mode in zip(operands.found, operands.modes, strict=True)
    ]
    alone = dict.fromkeys(unwrapped(match) for one in each for match in one.instances)
    return Found(in_order(alone), tuple(deletion for one in each for deletion in one.deletions))


def task_of_one(found: Found, mode: Mode) -> Task:
    """Detection of single instances."""
    return Task((found,), Detection((mode,)), lambda _: True, lambda _: True, last_only=False)


def unwrapped(match: Instance) -> Instance:
    """The only part of a match, or the match if it has several."""
    return match.parts[0] if len(match.parts) == 1 else match
