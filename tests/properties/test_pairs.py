"""Definitions = online evaluation = kernel, for every combination of operator, duplicates and consumption.

`tests/many_cases.py --family pairs` compares the kernel with the definitions on more.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.many_pairs import COMBINATIONS, EVALUATIONS, OPERATORS, combination, differing
from support.pairs_kernel import Setting, defined, detected, online
from support.pairs_strategies import nested_observation, nested_profile
from tocsin.algebra.pairs.parameters import Consumption

PARTS = 8
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", range(PARTS))
def test_every_combination(part: int) -> None:
    for number in range(part, len(COMBINATIONS), PARTS):
        random = Random(number)
        expression = combination(2 * number, random)
        traces = [nested_observation(random) for _ in range(4)]
        found = detected(expression, traces)
        for trace, own in zip(traces, found, strict=True):
            assert own == defined(expression, trace) == online(expression, trace)


def test_there_are_no_other_combinations() -> None:
    assert len(COMBINATIONS) == len(OPERATORS) * len(EVALUATIONS) == 4 * (10 * len(Consumption) + 6 * 6 * 2)


@settings(max_examples=60)
@given(st.integers(0, 2**40), st.booleans(), st.booleans())
def test_nested_profiles_with_either_clock(seed: int, given_ticks: bool, reacts: bool) -> None:
    random = Random(seed)
    expression = nested_profile(random, random.choice((2, 3)))
    traces = [nested_observation(random) for _ in range(5)]
    assert not differing(expression, traces, Setting(given_ticks, reacts))
