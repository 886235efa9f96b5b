"""From an expression to its correlation machine, bottom-up, one file per construct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from tocsin.algebra.completion.expression import (
    Accumulate,
    DoUnless,
    Expression,
    Fail,
    Handwritten,
    Interpretation,
    Loop,
    Modes,
    Named,
    Parallel,
    Persist,
    Predicate,
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
    children,
)
from tocsin.algebra.completion.machine import Machine
from tocsin.automata.completion.construct.accumulate import accumulate
from tocsin.automata.completion.construct.do_unless import do_unless
from tocsin.automata.completion.construct.fail import fail
from tocsin.automata.completion.construct.handwritten import handwritten
from tocsin.automata.completion.construct.loop import loop
from tocsin.automata.completion.construct.modes import modes
from tocsin.automata.completion.construct.module import Builder, Module
from tocsin.automata.completion.construct.parallel import parallel
from tocsin.automata.completion.construct.persist import persist
from tocsin.automata.completion.construct.predicate import predicate
from tocsin.automata.completion.construct.push import push
from tocsin.automata.completion.construct.repeat import repeat
from tocsin.automata.completion.construct.select import select, select_star
from tocsin.automata.completion.construct.sequential import sequential
from tocsin.errors import LimitError

# Bounded repetitions are unrolled round by round, so a short text can ask for a huge machine.
MAX_STATES = 8_000


def construct(
    expression: Expression,
    interpretation: Interpretation = Interpretation(),
    *,
    name: str = "M",
    letters: Sequence[str] | None = None,
    before: int = 0,
) -> Machine:
    """The correlation machine of an expression; refuses one of more than `MAX_STATES` states.

    >>> from tocsin.algebra.completion.expression import TRUE
    >>> machine = construct(Repeat(Predicate(TRUE)))
    >>> len(machine.states), len(machine.transitions)
    (5, 2)

    Args:
        letters: a finite alphabet of event types; a predicate then has a transition for each letter that
            satisfies it, as in the paper, instead of one for all.
        before: the states of other machines of the same text, which count as well.
    """
    states = before + count_states(expression)
    if states > MAX_STATES:
        raise LimitError(
            "machine-too-large",
            f"the machine would have {states:,} states; the limit for a text is {MAX_STATES:,}",
            expression.span,
            "lower the bounds of repeat, persist and loop, or make several texts of it",
        )
    module = _module(Builder(), expression, interpretation, letters)
    return Machine(
        name, module.states, module.initial, module.transitions, module.order, module.success, module.failure
    )


def count_states(expression: Expression) -> int:
    """The number of states of the machine, without building it."""
    match expression:
        case Predicate():
            return 3
        case Handwritten(machine):
            return len(machine.states) + (machine.success is None) + (machine.failure is None) + 2
        case Named(_, body):
            return count_states(body)
        case Repeat(body, times) | Persist(body, times) | Loop(body, times):
            return (times or 1) * count_states(body) + 2
        case Modes(several):
            return sum(count_states(mode.body) + 3 for mode in several) + 2
        case _:
            return sum(count_states(child) for child in children(expression)) + 2


def _module(
    builder: Builder, expression: Expression, interpretation: Interpretation, letters: Sequence[str] | None
) -> Module:
    def of(part: Expression) -> Module:
        return _module(builder, part, interpretation, letters)

    def rounds(body: Expression, times: int | None) -> list[Module]:
        return [of(body) for _ in range(times or 1)]

    match expression:
        case Predicate(filter):
            return predicate(builder, filter, letters)
        case Handwritten(machine):
            return handwritten(builder, machine)
        case Named(_, body):
            return of(body)
        case Accumulate(parts):
            return accumulate(builder, [of(part) for part in parts])
        case Select(parts):
            return select(builder, [of(part) for part in parts])
        case SelectStar(parts):
            return select_star(builder, [of(part) for part in parts])
        case Sequential(parts):
            return sequential(builder, [of(part) for part in parts])
        case DoUnless(body, unless):
            return do_unless(builder, of(body), of(unless), interpretation.unless_tie)
        case Fail(body):
            return fail(builder, of(body))
        case Push(output, body):
            return push(builder, output, of(body))
        case Parallel(parts):
            return parallel(builder, [of(part) for part in parts])
        case Modes(several):
            guards = [predicate(builder, mode.guard, letters) for mode in several]
            return modes(builder, guards, [of(mode.body) for mode in several])
        case Repeat(body, times):
            return repeat(builder, rounds(body, times), bounded=times is not None)
        case Persist(body, times):
            return persist(builder, rounds(body, times), bounded=times is not None)
        case Loop(body, times):
            return loop(
                builder, rounds(body, times), bounded=times is not None, ends=interpretation.loop_ends
            )
        case _:
            assert_never(expression)
