"""Random cases of the pairs family, by seed: expressions, each with fifty traces as keys of one stream.

Half of the expressions are nested at random; the others go through every combination of operator, duplicates and consumption,
and of the parameters of trace views.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

from support.pairs_kernel import Setting, defined, detected, last_pause
from support.pairs_strategies import PICKS, nested_observation, nested_profile, uniform
from tocsin.algebra.pairs.expression import (
    Conjunction,
    Disjunction,
    Expression,
    Primitive,
    Sequence,
    Simultaneity,
)
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.parameters import Consumption, Gather, Pairing, Views

PATTERNS = 10  # of one seed
TRACES = 50  # for one pattern
CASES = PATTERNS * TRACES
OPERATORS = (Disjunction, Conjunction, Sequence, Simultaneity)
A, B = Primitive("a"), Primitive("b")
EVALUATIONS = [
    *(uniform(duplicates, mode) for duplicates, mode in product([*PICKS, *Gather], Consumption)),
    *(Views(first, second, pairing) for first, second, pairing in product(PICKS, PICKS, Pairing)),
]
COMBINATIONS = list(product(OPERATORS, EVALUATIONS))


def differences(seed: int) -> list[str]:
    """How the kernel differs from the definitions on the cases of a seed; nothing if it does not."""
    random = Random(seed)
    wrong: list[str] = []
    for number in range(PATTERNS):
        expression = (
            nested_profile(random, random.choice((1, 2, 2, 3)))
            if number % 2
            else combination(seed * PATTERNS + number, random)
        )
        setting = Setting(random.random() < 0.7, random.random() < 0.2)
        traces = [_several_types(nested_observation(random), random) for _ in range(TRACES)]
        wrong += differing(expression, traces, setting)
    return wrong


def _several_types(trace: Observation, random: Random) -> Observation:
    """The trace; in one of four some events belong to two classes."""
    if random.random() < 0.75:
        return trace
    both = frozenset("ab")
    events = (replace(event, types=both) if random.random() < 0.3 else event for event in trace.events)
    return replace(trace, events=tuple(events))


def combination(number: int, random: Random) -> Expression:
    """An operator over two classes, or one class twice, with one of all combinations of its parameters."""
    operator, how = COMBINATIONS[number // 2 % len(COMBINATIONS)]
    operands = (A, random.choice((A, B, B, nested_profile(random, 1))))
    expression: Expression = operator(operands, random.choice((None, 2, 4, 6)), how)
    return expression


def differing(expression: Expression, traces: list[Observation], setting: Setting) -> list[str]:
    """The traces on which the kernel finds something else, whole or one moment at a time."""
    wrong = []
    for piecewise in (False, True):
        until = last_pause(traces, setting) if piecewise else 0
        expected = [defined(expression, trace, setting, until) for trace in traces]
        found = detected(expression, traces, setting, piecewise=piecewise)
        for trace, own, other in zip(traces, expected, found, strict=True):
            if own != other:
                events = [(event.id, event.interval.end) for event in trace.events]
                how = "one moment at a time" if piecewise else "at once"
                wrong.append(
                    f"{show(expression)} {setting} {how}\n  {events} {trace.ticks}\n  {own}\n  {other}"
                )
    return wrong
