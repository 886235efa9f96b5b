"""Laws that the definitions imply, on short random traces."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.pairs_strategies import (
    PICKS,
    detections,
    expressions,
    observations,
    picks,
    timeframes,
    uniform,
    views,
)
from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import (
    INFINITE,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Primitive,
    Selection,
    Sequence,
    Simultaneity,
)
from tocsin.algebra.pairs.observation import Instance, Observation, event_groups, terminator, tick_instances
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    ONE,
    Concurrency,
    Consumption,
    Delimiter,
    Detection,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
from tocsin.algebra.pairs.semantics import instances, reactions

A, B, C = Primitive("a"), Primitive("b"), Primitive("c")
pytestmark = pytest.mark.slow
BINARY = [Conjunction, Sequence, Simultaneity]


def found(expression: Expression, observation: Observation) -> set[Instance]:
    return set(instances(expression, observation))


def leaves(expression: Expression, observation: Observation) -> set[frozenset[object]]:
    """The matches by the events in them, however they are nested."""
    return {frozenset(i.id for i in match.leaves()) for match in instances(expression, observation)}


# --- every profile ------------------------------------------------------------------------------------


@given(expressions(depth=3), observations(ticks=True, most=6))
def test_every_profile_has_a_meaning_in_order(expression: Expression, observation: Observation) -> None:
    assert check(expression) == []
    matches = instances(expression, observation)
    assert [m.order for m in matches] == sorted(m.order for m in matches)
    assert all(m.start <= m.time <= observation.end for m in matches)
    assert set(reactions(expression, observation)) <= set(matches)


# --- trace views --------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", [*BINARY, Disjunction])
@given(views, timeframes, observations())
def test_fewer_duplicates_and_unique_pairs_are_among_all(
    operator: type, how: Views, frame: int | None, observation: Observation
) -> None:
    chosen = found(operator((A, B), frame, how), observation)
    assert chosen <= found(operator((A, B), frame, replace(how, first=ALL, second=ALL)), observation)
    assert chosen <= found(operator((A, B), frame, replace(how, pairing=Pairing.ALL)), observation)


@given(views, timeframes, observations())
def test_a_conjunction_does_not_mind_the_order_of_its_operands(
    how: Views, frame: int | None, observation: Observation
) -> None:
    turned = replace(how, first=how.second, second=how.first)
    one = {m.parts for m in found(Conjunction((A, B), frame, how), observation)}
    assert one == {m.parts[::-1] for m in found(Conjunction((B, A), frame, turned), observation)}


@given(observations())
def test_a_conjunction_is_both_sequences_and_the_simultaneity(observation: Observation) -> None:
    parts = [Sequence((A, B)), Sequence((B, A)), Simultaneity((A, B))]
    split = [leaves(part, observation) for part in parts]
    assert sum(map(len, split)) == len(set().union(*split))
    assert set().union(*split) == leaves(Conjunction((A, B)), observation)


@pytest.mark.parametrize("operator", [Conjunction, Sequence])
@given(st.integers(1, 6), st.integers(0, 6), observations())
def test_a_longer_timeframe_has_more_matches(
    operator: type, frame: int, more: int, observation: Observation
) -> None:
    assert found(operator((A, B), frame), observation) <= found(operator((A, B), frame + more), observation)
    assert found(operator((A, B), frame), observation) <= found(operator((A, B), INFINITE), observation)


@given(observations())
def test_disjunctions_and_conjunctions_can_be_nested_either_way(observation: Observation) -> None:
    for operator in (Disjunction, Conjunction):
        left, right = operator((operator((A, B)), C)), operator((A, operator((B, C))))
        assert leaves(left, observation) == leaves(right, observation)


@given(observations(most=7))
def test_nested_sequences_agree_only_if_parts_may_not_overlap(observation: Observation) -> None:
    # A composite occurs when its last event does, so a ; (b ; c) also has matches in which a comes after b.
    assert leaves(Sequence((Sequence((A, B)), C)), observation) <= leaves(
        Sequence((A, Sequence((B, C)))), observation
    )
    apart = replace(uniform(ALL, Consumption.KEEP), concurrency=Concurrency.NON_OVERLAPPING)
    left = Sequence((Sequence((A, B), None, apart), C), None, apart)
    right = Sequence((A, Sequence((B, C), None, apart)), None, apart)
    flat = Sequence((A, B, C), None, uniform(ALL, Consumption.KEEP, 3))
    assert leaves(left, observation) == leaves(right, observation) == leaves(flat, observation)


@given(timeframes, observations())
def test_occurrence_times(frame: int | None, observation: Observation) -> None:
    for match in instances(Conjunction((A, B), frame), observation):
        assert match.time == max(part.time for part in match.parts)
    for match in instances(Sequence((A, B), frame), observation):
        assert match.time == match.parts[-1].time > match.parts[0].time


# --- selection, negation --------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(0, 3), observations())
def test_a_selection_has_at_most_what_it_counts(low: int, more: int, observation: Observation) -> None:
    everything = instances(A, observation)
    chosen = instances(Selection(A, Pick(low, low + more)), observation)
    assert chosen == everything[low - 1 : low + more]
    assert instances(Selection(A, LAST), observation) == everything[-1:]
    assert instances(Selection(A, ALL), observation) == everything


@given(st.integers(0, 6), st.integers(0, 4), observations(ticks=True))
def test_a_negation_is_true_at_the_ticks_without_the_event(
    frame: int, more: int, observation: Observation
) -> None:
    true = found(Negation(A, frame), observation)
    times = [i.time for i in instances(A, observation)]
    for tick in tick_instances(observation):
        assert (tick in true) != any(tick.time - frame <= time <= tick.time for time in times)
    assert found(Negation(A, frame + more), observation) <= true
    assert found(Negation(A, INFINITE), observation) <= true


# --- detection per terminator -----------------------------------------------------------------------------


@pytest.mark.parametrize("pick", [FIRST, LAST, ALL])
@given(observations(ties=False))
def test_both_evaluations_agree_where_they_should(pick: Pick, observation: Observation) -> None:
    """Part C.5.1: delete is unique pairs with the first duplicate of the second operand; keep all is all pairs."""
    deleting = Sequence((A, B), None, uniform(pick, Consumption.DELETE))
    unique = Sequence((A, B), None, Views(pick, FIRST, Pairing.UNIQUE))
    assert found(deleting, observation) == found(unique, observation)
    keeping = Sequence((A, B), None, uniform(ALL, Consumption.KEEP))
    assert found(keeping, observation) == found(Sequence((A, B)), observation)


@pytest.mark.parametrize("operator", BINARY)
@given(timeframes, observations())
def test_keeping_all_is_every_pair(operator: type, frame: int | None, observation: Observation) -> None:
    keeping = operator((A, B), frame, uniform(ALL, Consumption.KEEP))
    assert found(keeping, observation) == set(found(operator((A, B), frame), observation))


@pytest.mark.parametrize("operator", BINARY)
@given(st.data(), timeframes, observations())
def test_what_was_detected_stays_detected(
    operator: type, data: st.DataObject, frame: int | None, observation: Observation
) -> None:
    expression = operator((A, B), frame, data.draw(detections()))
    cut = data.draw(st.integers(0, len(observation.events)))
    before = Observation.of(observation.events[:cut], end=observation.end)
    assert found(expression, before) <= found(expression, observation)


@pytest.mark.parametrize("operator", BINARY)
@given(picks, timeframes, observations())
def test_consuming_has_no_more_groups_than_keeping(
    operator: type, pick: Pick, frame: int | None, observation: Observation
) -> None:
    assume(pick in (FIRST, LAST, ALL))
    groups = {
        consumption: {
            terminator(match)
            for match in found(operator((A, B), frame, uniform(pick, consumption)), observation)
        }
        for consumption in Consumption
    }
    assert groups[Consumption.DELETE] <= groups[Consumption.KEEP]
    assert groups[Consumption.REAPPLY] <= groups[Consumption.KEEP]


@pytest.mark.parametrize("operator", BINARY)
@given(st.sampled_from(PICKS), timeframes, observations())
def test_reapply_uses_an_instance_in_one_group_and_delete_starts_afresh(
    operator: type, pick: Pick, frame: int | None, observation: Observation
) -> None:
    reapplied = instances(operator((A, B), frame, uniform(pick, Consumption.REAPPLY)), observation)
    groups = [{part for match in group for part in match.parts} for group in event_groups(reapplied)]
    assert sum(map(len, groups)) == len(set().union(*groups))
    deleted = instances(operator((A, B), frame, uniform(pick, Consumption.DELETE)), observation)
    ended = [(min(min(m.places) for m in group), group[0].last) for group in event_groups(deleted)]
    assert all(one[1] < other[0] for one, other in pairwise(ended))


@given(st.sampled_from(Traversal), timeframes, observations())
def test_selections_of_a_terminator(
    traversal: Traversal, frame: int | None, observation: Observation
) -> None:
    def chosen(selection: Pick | Gather, delimiter: Delimiter = ONE) -> set[Instance]:
        how = Detection((Mode(selection, delimiter=delimiter), Mode()), traversal)
        return found(Sequence((A, B), frame, how), observation)

    everything = chosen(ALL)
    assert chosen(FIRST) | chosen(LAST) <= everything
    assert everything == chosen(Gather.COMBINATIONS) == chosen(Gather.COMBINATIONS_MINIMUM)
    two = Delimiter(2, 2)
    assert chosen(FIRST, two) | chosen(LAST, two) <= chosen(Gather.COMBINATIONS, two)
    endings = {terminator(match) for match in everything}
    for gather in (Gather.CUMULATIVE, Gather.RESTRICTED):
        assert sorted(m.last for m in chosen(gather)) == sorted(end.last for end in endings)
    for match in chosen(Gather.RESTRICTED):
        group = [pair.parts[0] for pair in everything if terminator(pair) == terminator(match)]
        assert set(match.parts[:-1]) == set(group)


@given(detections(3), timeframes, observations(most=7))
def test_three_operands_in_order(how: Detection, frame: int | None, observation: Observation) -> None:
    for match in instances(Sequence((A, B, C), frame, how), observation):
        classes = [next(iter(part.event.types)) for part in match.parts]
        assert [name for name, _ in groupby(classes)] == ["a", "b", "c"]
