"""Chunks of the time axis find together what the whole finds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tocsin
from support.strategies import SECOND, subscriptions, traces
from support.table_columns import of_columns
from support.time_chunks import job_of, prepared, rows
from tocsin.algebra.tokens.subscription import Interpretation, Subscription
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.span import longest_match, overlap
from tocsin.events import Event, Interval
from tocsin.runtime.batch.partition import detect_chunks, detect_partition
from tocsin.runtime.transport.pack import unpack_tables
from tocsin.runtime.transport.time_chunks import far_apart, pack_chunks


def in_chunks(compiled: Compiled, events: pa.Table, bounds: list[int]) -> list[str]:
    apart = overlap(compiled)
    assert apart is not None
    packed = [
        batch
        for piece in events.to_batches(max_chunksize=3)
        for batch in pack_chunks(pa.Table.from_batches([piece]), far_apart(bounds, apart), apart)
    ]
    return rows(list(detect_chunks(job_of(compiled), packed)))


def can_be_cut(subscription: Subscription) -> bool:
    return of_columns(subscription) and bool(overlap(compile([subscription])))


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(
    subscriptions().filter(can_be_cut),
    traces(max_size=16, keys=(None,)),
    st.lists(st.integers(-1, 12), min_size=1, max_size=4),
)
def test_chunks_find_what_the_whole_finds(
    subscription: Subscription, events: list[Event], bounds: list[int]
) -> None:
    compiled = compile([subscription])
    table = prepared(compiled, events)
    assume(table.num_rows)
    whole = rows(list(detect_partition(job_of(compiled), table.to_batches())))
    assert in_chunks(compiled, table, [bound * SECOND for bound in bounds]) == whole


def event(number: int, type: str, start: int, end: int) -> Event:
    return Event(number, frozenset({type}), Interval(start * SECOND, end * SECOND), {})


def test_a_match_over_a_cut_and_a_timer_at_it_are_found_once() -> None:
    compiled = compile([tocsin.parse("([A], [B])_{T1=5s}"), tocsin.parse("([A], [T2 in {T2, B}])_{T2=5s}")])
    events = prepared(compiled, [event(1, "A", 0, 1), event(2, "B", 0, 6), event(3, "A", 0, 7)])
    whole = rows(list(detect_partition(job_of(compiled), events.to_batches())))
    assert len(whole) == 2
    for bounds in ([1], [5], [6], [7], [12], [1, 6], [6, 11], [3, 8, 13]):
        assert in_chunks(compiled, events, [bound * SECOND for bound in bounds]) == whole


def test_an_event_goes_to_its_chunk_and_to_the_next_if_it_is_near() -> None:
    table = pa.table({"end": pa.array([0, 10, 11, 14, 15, 16, 20, 21], pa.int64())})
    bounds = far_apart([10, 20, 22], 5)
    assert bounds.tolist() == [10, 20]
    batches = list(pack_chunks(table, bounds, 5))
    held = [own.column("end").to_pylist() for own in unpack_tables(batches)]
    assert [batch.column("shard").to_pylist() for batch in batches] == [[0], [1], [2]]
    assert held == [[0, 10], [10, 11, 14, 15, 16, 20], [16, 20, 21]]


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("[A]", 0),
        ("[A];[B]", None),
        ("([A],[B])_{T1=5s}", 5),
        ("([A],[B][C])_{T1=5s}", 5),
        # C may come for ever if B comes at the very moment T1 runs out.
        ("([A],[B];[C])_{T1=5s}", None),
        ("([A],[T1][B])_{T1=5s}", None),
        ("(([A],[B])_{T2=1s},[C])_{T1=5s}", 6),
        ("([A],([B],[C])_{T2=1s})_{T1=5s}", 5),
        # Every A starts the timer again.
        ("([A][A]*,[T1])_{T1=5s}", None),
        ("([A],[B] || [C])_{T1=5s}", None),
        ("([A], [B])_{T1@2004-01-31T19:00:00}", None),
        ("P := (([A],[B])_{T1=2s}); ([P],[C])_{T1=5s}", 7),
    ],
)
def test_how_long_a_match_can_last(text: str, longest: int | None) -> None:
    compiled = compile([tocsin.parse(text)])
    assert longest_match(compiled) == (None if longest is None else longest * SECOND)
    assert overlap(compiled) == longest_match(compiled)


@pytest.mark.parametrize("restart", ["on-accept", "always"])
def test_a_detection_that_can_end_for_good_stays_whole(restart: str) -> None:
    parsed = tocsin.parse("[A in {A, B}]")
    reading = Interpretation.of({"restart": restart})
    compiled = compile([Subscription(parsed.pattern, interpretation=reading)])
    assert overlap(compiled) == (0 if restart == "always" else None)
    assert longest_match(compiled) == 0


def test_the_bounds_of_chunks_are_moments_of_the_type_of_time() -> None:
    assert far_apart([], 5).dtype == np.int64
