"""Operators that look at a part of what is observed, need some of their operands, or delete for themselves alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from support.pairs_strategies import (
    expressions,
    ids,
    nested_observation,
    nested_profile,
    observations,
    observe,
)
from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.online.evaluate import evaluate
from tocsin.algebra.pairs.operators import (
    at,
    chain,
    conjunction,
    during,
    each,
    negation,
    selection,
    sequence,
    several,
)
from tocsin.algebra.pairs.semantics import instances
from tocsin.events import Event, Interval


def _found(expression: Expression, observation: Observation) -> list[object]:
    found = ids(instances(expression, observation))
    assert sorted(map(str, found)) == sorted(map(str, ids(evaluate(expression, observation))))
    return found


def test_an_interval_has_both_its_ends() -> None:
    trace = observe("a@0 a@1 a@4 a@5 a@6")
    assert _found(during("a", 1, 5), trace) == ["a.2", "a.3", "a.4"]
    assert _found(during(selection("a", 3), 1, 5), trace) == ["a.4"]
    assert _found(selection(during("a", 4, 9), "last"), trace) == ["a.5"]


def test_an_absence_in_an_interval_is_known_at_its_end() -> None:
    absent = conjunction(at(5), negation(during("a", 1, 5), float("inf")))
    assert [i.time for i in instances(absent, observe("a@0 b@6"))] == [5]
    assert _found(absent, observe("a@5 b@6")) == []
    assert _found(absent, observe("a@6")) == [["at.5"]]


def test_an_interval_that_ends_before_it_starts_is_refused() -> None:
    assert [error.code for error in check(during("a", 5, 1))] == ["empty-interval"]
    assert [error.code for error in check(during(at(3), 1, 5))] == ["misplaced-moment"]


def _of_groups(*given: tuple[str, int, int | None]) -> Observation:
    return Observation.of(
        Event(f"{name}.{number}", frozenset({name}), Interval(time, time), {"flow": flow})
        for number, (name, time, flow) in enumerate(given, 1)
    )


def test_groups_are_kept_apart() -> None:
    trace = _of_groups(("a", 1, 7), ("a", 2, 8), ("b", 3, 8), ("b", 4, 7), ("a", 5, None), ("b", 6, None))
    both = each(sequence("a", "b", duplicates="first", consumption="delete"), "flow")
    assert _found(both, trace) == [["a.2", "b.3"], ["a.1", "b.4"], ["a.5", "b.6"]]
    assert _found(each(selection("a", 1), "flow"), trace) == ["a.1", "a.2", "a.5"]


def test_a_chain_commits_to_the_first_of_each() -> None:
    times = [
        ("B", 4, 1),
        ("A", 3, 2),
        ("A", 1, 3),
        ("B", 2, 4),
        ("A", 5, 5),
        ("B", 6, 6),
        ("A", 7, 7),
        ("B", 8, 8),
    ]
    trace = Observation.of(
        Event(f"{name}{created}", frozenset({name}), Interval(filtered, filtered), {"created": created})
        for name, created, filtered in times
    )
    assert _found(chain("A", "B", by="created"), trace) == [["A3", "B6"], ["A7", "B8"]]
    assert _found(chain("A", "B"), trace) == [["A3", "B2"], ["A5", "B6"], ["A7", "B8"]]
    assert [error.code for error in check(chain("A"))] == ["operand-missing"]


def test_some_of_the_operands_are_enough() -> None:
    trace = observe("a@1 a@2 c@3 b@4")
    two = several(2, "a", "b", "c", duplicates="first", consumption="own")
    assert _found(two, trace) == [["a.1", "c.1"], ["a.2", "b.1"]]
    newest = several(2, "a", "b", "c", duplicates="last", consumption="keep")
    assert _found(newest, trace) == [["a.2", "c.1"], ["b.1", "c.1"]]


@pytest.mark.parametrize("count", [0, 4])
def test_more_than_there_are_cannot_occur(count: int) -> None:
    assert [error.code for error in check(several(count, "a", "b", "c"))] == ["bad-count"]


def test_what_an_operator_deletes_for_itself_others_still_have() -> None:
    trace = observe("a@1 b@2 a@3 c@4")
    inner = sequence("a", "b", duplicates="first", consumption="own")
    shared = sequence("a", "b", duplicates="first", consumption="delete_reapply")
    for part, expected in ((inner, [["a.1", ["a.1", "b.1"]]]), (shared, [["a.2", ["a.1", "b.1"]]])):
        both = conjunction("a", part, duplicates="first", consumption="keep")
        assert _found(both, trace)[:1] == expected[:1]
    assert _found(inner, observe("a@1 b@2 b@3")) == [["a.1", "b.1"]]


@pytest.mark.slow
@given(expressions(parts=True), observations(ticks=True))
def test_profiles_mean_the_same_online(profile: Expression, observation: Observation) -> None:
    _found(profile, observation)


@pytest.mark.slow
def test_nested_profiles_mean_the_same_online() -> None:
    random = Random(21)
    seen: set[str] = set()
    for _ in range(400):
        profile, observation = nested_profile(random, parts=True), nested_observation(random)
        seen |= {type(part).__name__ for part in (profile, *getattr(profile, "operands", ()))}
        _found(profile, observation)
    assert {"During", "Each", "Several"} <= seen
