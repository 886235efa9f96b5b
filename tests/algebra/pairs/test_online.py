"""The online evaluation finds what the definitions say, whatever the operators, and keeps little."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.pairs_strategies import (
    PICKS,
    detections,
    expressions,
    nested_observation,
    nested_profile,
    observations,
    observe,
    timeframes,
    uniform,
    views,
)
from tocsin.algebra.pairs.expression import (
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Primitive,
    Sequence,
    Simultaneity,
)
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.online.evaluate import Running, evaluate, feed, finish, start, tick
from tocsin.algebra.pairs.operators import conjunction, negation, sequence
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    Consumption,
    Detection,
    Gather,
    Mode,
    Pick,
    Views,
)
from tocsin.algebra.pairs.semantics import instances
from tocsin.errors import InputError
from tocsin.events import Event, Interval

A, B, C = Primitive("a"), Primitive("b"), Primitive("c")
pytestmark = pytest.mark.slow
OPERATORS = [Disjunction, Conjunction, Sequence, Simultaneity]


def agree(expression: Expression, observation: Observation) -> None:
    assert evaluate(expression, observation) == instances(expression, observation)


@given(expressions(depth=3), observations(ticks=True, most=7))
def test_every_profile(expression: Expression, observation: Observation) -> None:
    agree(expression, observation)


@given(st.integers(0, 2**40))
def test_nested_operators(seed: int) -> None:
    for number in range(5):
        random = Random(seed + number)
        agree(nested_profile(random, 2 + number % 2), nested_observation(random))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("duplicates", [*PICKS, *Gather], ids=str)
@pytest.mark.parametrize("consumption", Consumption)
@settings(max_examples=20)
@given(timeframes, observations())
def test_consumption_duplicates_and_operator(
    operator: type,
    duplicates: Pick | Gather,
    consumption: Consumption,
    frame: int | None,
    observation: Observation,
) -> None:
    agree(operator((A, B), frame, uniform(duplicates, consumption)), observation)
    agree(operator((A, A), frame, uniform(duplicates, consumption)), observation)


@pytest.mark.parametrize("operator", OPERATORS)
@given(views, st.booleans(), timeframes, observations())
def test_views(operator: type, how: Views, equal: bool, frame: int | None, observation: Observation) -> None:
    how = Views(how.first, how.second, how.pairing, equal)
    agree(operator((A, B), frame, how), observation)
    agree(operator((A, A), frame, how), observation)


@pytest.mark.parametrize("operator", [Conjunction, Sequence, Simultaneity])
@given(detections(3), timeframes, observations(most=7))
def test_three_operands(operator: type, how: Detection, frame: int | None, observation: Observation) -> None:
    agree(operator((A, B, C), frame, how), observation)


@given(expressions(depth=1), expressions(depth=1), views, observations(ticks=True, most=7))
def test_negations_that_are_asked(
    one: Expression, other: Expression, how: Views, observation: Observation
) -> None:
    never = negation(other, float("inf"))
    agree(conjunction(one, never), observation)
    agree(sequence(never, one), observation)
    agree(Conjunction((one, Disjunction((never, negation(A, float("inf")))))), observation)
    agree(Disjunction((one, never), 3, how), observation)


def test_what_an_inner_operator_deletes_is_gone_although_it_had_expired_there() -> None:
    modes = (Mode(ALL, Consumption.DELETE), Mode(ALL, Consumption.KEEP))
    outer = Conjunction((A, Sequence((A, B), 1, Detection(modes))), None, uniform(ALL, Consumption.KEEP))
    observation = observe("a@0 a@5 b@6")
    agree(outer, observation)
    assert instances(outer, observation) == ()


# --- state ------------------------------------------------------------------------------------------------


def most_kept(expression: Expression, count: int = 400) -> int:
    """The largest state over a trace in which classes alternate in no simple way."""
    running: Running = start(expression)
    most = 0
    for time in range(count):
        name = "abc"[(time * time // 3) % 3]
        feed(running, Event(time, frozenset({name}), Interval(time, time)))
        tick(running, time)
        most = max(most, running.kept())
    return most


@pytest.mark.parametrize("operator", [Conjunction, Sequence])
@pytest.mark.parametrize("duplicates", [FIRST, LAST, ALL], ids=str)
@pytest.mark.parametrize("consumption", Consumption)
def test_a_timeframe_bounds_the_state(operator: type, duplicates: Pick, consumption: Consumption) -> None:
    assert most_kept(operator((A, B), 10, uniform(duplicates, consumption))) <= 14
    assert most_kept(operator((A, operator((B, C), 10)), 10, uniform(duplicates, consumption))) <= 60


@pytest.mark.parametrize("operator", [Conjunction, Sequence])
@pytest.mark.parametrize("duplicates", [FIRST, LAST, Pick(2, 3)], ids=str)
@pytest.mark.parametrize("consumption", [Consumption.KEEP, Consumption.DELETE])
def test_few_duplicates_bound_the_state(operator: type, duplicates: Pick, consumption: Consumption) -> None:
    assert most_kept(operator((A, B), None, uniform(duplicates, consumption))) <= 10


def test_keeping_all_without_a_timeframe_is_not_bounded() -> None:
    assert most_kept(Sequence((A, B), None, uniform(ALL, Consumption.KEEP))) > 100


def test_other_stages_are_bounded() -> None:
    assert most_kept(Negation(A, 10)) <= 12
    assert most_kept(sequence("a", "b", first="last", second="last", pairs="unique")) <= 4
    assert most_kept(conjunction("a", negation("b", float("inf")))) <= 4
    assert most_kept(sequence("a", "b", within=10, without="c")) <= 16
    assert most_kept(sequence("a", "b", within=10, consumption="keep", coupling="continuous")) <= 26


def test_what_comes_out_of_order_is_refused() -> None:
    running = start(sequence("a", "b"))
    (event,) = observe("a@5").events
    feed(running, event)
    tick(running, 5)
    for late in (lambda: feed(running, event), lambda: tick(running, 4), lambda: finish(running, 4)):
        with pytest.raises(InputError):
            late()
