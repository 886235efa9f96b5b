"""The engines agree: reference = kernel = Spark, however the stream is cut, by key and over all keys."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from support.calls import detect
from support.on_spark import READING, expected_in, found_in, modest, named, table_of, typed
from support.strategies import SECOND, VALUES, dice, subscription, subscriptions, trace, traces, with_limits
from tocsin.algebra.tokens import semantics
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata import execute
from tocsin.events import Composite, Event, Interval
from tocsin.languages.registry import parse
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.state import from_bytes, to_bytes
from tocsin.values import kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def found(composites: list[Composite]) -> list[str]:
    """What must be equal: events in their order and nesting with their names, variables, the interval and the key."""
    return sorted(
        f"{c.key} {c.ids} {[leaf.role for leaf in c.leaves()]} {_plain(c)} {c.interval.start}-{c.interval.end}"
        for c in composites
    )


def _plain(composite: Composite) -> list[object]:
    """The variables; 1 and 1.0 are the same value, and an engine may hand out either."""
    return [(name, float(v) if kind(v) == "number" else v) for name, v in composite.variables]  # type: ignore[arg-type]


# Twenty thousand cases, whole and one moment at a time, are in `test_many_cases`; here a failure is made small.
@pytest.mark.slow
@settings(SLOW, max_examples=100)
@given(subscriptions(), traces())
def test_kernel_finds_what_the_reference_finds(subscription: Subscription, events: list[Event]) -> None:
    assert found(execute.detect(subscription, events)) == found(semantics.detect(subscription, events))


@pytest.mark.slow
@settings(SLOW, max_examples=100)
@given(subscriptions(), traces(), st.lists(st.integers(-1, 10), max_size=4))
def test_any_cut_of_the_stream_finds_the_same(
    subscription: Subscription, events: list[Event], cuts: list[int]
) -> None:
    session = execute.Session([subscription])
    pieces: list[Composite] = []
    before = -FOREVER
    for cut in [*sorted(cut * SECOND for cut in cuts), FOREVER]:
        pieces += session.feed([e for e in events if before < e.interval.end <= cut], cut)[0]
        session.state = from_bytes(to_bytes(session.state))
        before = cut
    assert found(pieces) == found(semantics.detect(subscription, events))


@pytest.mark.slow
@settings(SLOW, max_examples=100)
@given(subscriptions(), traces())
def test_detection_by_key_is_the_union_over_keys(subscription: Subscription, events: list[Event]) -> None:
    apart = [
        c
        for key in {e.key for e in events}
        for c in execute.detect(subscription, [e for e in events if e.key == key])
    ]
    assert found(execute.detect(subscription, events)) == found(apart)


@pytest.mark.slow
@settings(SLOW, max_examples=80)
@given(st.lists(subscriptions(), min_size=2, max_size=4), traces())
def test_many_subscriptions_at_once_find_what_each_finds_alone(
    many: list[Subscription], events: list[Event]
) -> None:
    together = execute.Session(many).feed(events, FOREVER)
    assert [found(own) for own in together] == [found(execute.detect(one, events)) for one in many]


@pytest.mark.slow
@pytest.mark.spark
@settings(SLOW, max_examples=4)
@given(
    st.lists(subscriptions().filter(typed), min_size=8, max_size=8),
    st.lists(traces(max_size=10, keys=(None,)), min_size=10, max_size=10),
)
def test_spark_finds_what_the_reference_finds(
    spark: SparkSession, many: list[Subscription], streams: list[list[Event]]
) -> None:
    """One job for eight patterns over ten keys: each key is a trace of its own."""
    many = modest(many, streams)
    assume(many)
    frame = spark.createDataFrame(table_of(streams))
    rows = detect(frame, named(many), **READING).toArrow().to_pylist()
    got = found_in(rows)
    assert got == expected_in(many, streams)
    assert len({row["match_id"] for row in rows}) >= len({text.split(" ", 1)[1] for text in got})


@pytest.mark.slow
@pytest.mark.spark
def test_a_stream_finds_what_the_reference_finds(spark: SparkSession) -> None:
    """Three hundred cases in one query: events out of order and in pieces, and a restart in the middle."""
    from tocsin.spark.testing import DELAY, streamed

    draw = dice(Random(6))
    streams = [trace(draw, max_size=10, keys=(None,)) for _ in range(12)]
    many: list[Subscription] = []
    while len(many) < 25:
        many += modest([one for one in [with_limits(draw, subscription(draw))] if typed(one)], streams)
    assert len(many) * len(streams) >= 200
    asked = partial(detect, pattern=named(many), delay=f"{DELAY}s", ahead="any", shards=2, **READING)
    rows = streamed(
        table_of(streams), asked, types="type", moments={"a": 1, "b": 1}, last={"key": -1, "id": -1}
    )
    assert found_in(row for row in rows if row["key"] != -1) == expected_in(many, streams)
    assert len({row["pattern"] for row in rows}) > 9


def test_traces_can_have_values_of_every_kind() -> None:
    assert {type(value) for value in VALUES["m"]} == {int, float, str, bool}


def test_a_match_found_on_several_ways_has_the_names_that_come_first() -> None:
    """Both ways take the same events; the names of one way must not get into the other."""
    events = [
        Event(7, frozenset({"A", "B"}), Interval(SECOND, SECOND), {}),
        Event(8, frozenset({"A"}), Interval(2 * SECOND, 2 * SECOND), {"k": 0}),
    ]
    for text, roles in (
        ("([B] | [A])[A]", [["A", "A"]]),
        ("([B][A]) | ([A][A])", [["A", "A"]]),
        ("([B] | [A][A] | [A]) | [A] where A.k = 0", [["A"]]),
        ("([B][A]) | ([A][A]) where A.k = 0", []),
    ):
        one = parse(text)
        for matches in (execute.detect(one, events), semantics.detect(one, events)):
            assert [[c.role for c in m.leaves()] for m in matches] == roles, text
