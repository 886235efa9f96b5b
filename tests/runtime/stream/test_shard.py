"""A shard without Spark gives the answer of the table: whatever the pieces, the order of arrival and the size of buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tocsin
from support.one_shard import SCHEMA, Shard, prepared, rows
from support.strategies import SECOND, subscriptions, traces
from support.table_columns import of_columns
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.events.pace import Mark, Pace, PaceSettings
from tocsin.runtime.batch.partition import Job, detect_partition
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.moments import FOREVER, LONG_AGO
from tocsin.runtime.program import subplan, to_bytes
from tocsin.runtime.stream import buckets
from tocsin.runtime.stream.arrivals import AHEAD, EVENTS, MARKS, ArrivalJob, pack_arrivals
from tocsin.runtime.stream.buckets import Head, step
from tocsin.runtime.stream.carry_over import carried_over, outline
from tocsin.runtime.transport.pack import from_ipc

ABSENCE = "([A], [T1 in {T1, B}])_{T1=5s}"


def in_a_table(compiled: Compiled, events: Sequence[Event]) -> pa.Table:
    job = Job(to_bytes(compiled.plan), SCHEMA.serialize().to_pybytes(), 1, MAX_TOKENS)
    return pa.Table.from_batches(detect_partition(job, prepared(compiled, events).to_batches()), SCHEMA)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=120)
@given(
    st.lists(subscriptions().filter(of_columns), min_size=4, max_size=4),
    traces(max_size=16, keys=("p", "p", "q", "r")),
    st.data(),
)
def test_any_arrival_within_the_delay_gives_what_the_table_gives(
    many: list[Subscription], events: list[Event], data: st.DataObject
) -> None:
    compiled = compile(many)
    delay = data.draw(st.integers(0, 5)) * SECOND
    # An event that is at most `delay` late arrives before every event that ends more than `delay` after it.
    lag = {event.id: data.draw(st.sampled_from([0, delay // 2, delay])) for event in events}
    arrivals = sorted(events, key=lambda event: (event.interval.end + lag[event.id], event.id))
    size = data.draw(st.integers(1, 4))
    # A microsecond more, because several events may end at one moment.
    shard, pace, found = Shard(compiled), Pace(PaceSettings(delay=delay + 1)), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            buckets, "GROWN", data.draw(st.sampled_from([1, 1 << 20]))
        )  # many small buckets, or one
        for first in range(0, len(events), size):
            piece = arrivals[first : first + size]
            latest = max(event.interval.end for event in piece)
            until = pace.hear([Mark(None, len(piece), latest)])
            found.append(shard.advance(prepared(compiled, piece), until))
        found.append(shard.advance(None, FOREVER))
    assert rows(pa.concat_tables(found)) == rows(in_a_table(compiled, events))
    assert shard.wakeup is None


def test_a_shard_wakes_for_what_waits_and_then_for_its_timers() -> None:
    compiled = compile([tocsin.parse(ABSENCE)])
    events = [Event(n, frozenset({"A"}), Interval(n * SECOND, n * SECOND), {}, "k") for n in (3, 1)]
    shard = Shard(compiled)
    wakeups, found = [], []
    arrived: pa.Table | None = prepared(compiled, events)
    for until in (0, 1, 3, 5, 6, 7, 8):
        found.append(shard.advance(arrived, until * SECOND).num_rows)
        arrived = None
        wakeups.append(shard.wakeup and shard.wakeup // SECOND)
    assert (wakeups, found) == ([1, 3, 6, 6, 8, 8, None], [0, 0, 0, 0, 1, 0, 1])


def test_what_can_no_longer_match_is_forgotten_without_a_further_event() -> None:
    compiled = compile([tocsin.parse("([A], [B])_{T1=5s}")], points=True)
    shard = Shard(compiled)
    shard.advance(prepared(compiled, [Event(1, frozenset({"A"}), Interval(0, 0), {}, "k")]), SECOND)
    assert len(shard.store) == 1
    shard.advance(None, 5 * SECOND)
    assert len(shard.store) == 1
    shard.advance(None, 6 * SECOND)
    assert (shard.store, shard.head.entries) == ({}, {})


def test_only_buckets_that_are_touched_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "GROWN", 8_000)
    compiled = compile([tocsin.parse("[A];[B]")])
    events = [Event(n, frozenset({"A"}), Interval(n, n), {}, f"key {n}") for n in range(400)]
    shard = Shard(compiled)
    shard.advance(prepared(compiled, events), SECOND)
    assert len(shard.store) == 1 << shard.head.bits >= 4
    before = dict(shard.store)
    end = [Event(500, frozenset({"B"}), Interval(2 * SECOND, 2 * SECOND), {}, "key 7")]
    assert shard.advance(prepared(compiled, end), 2 * SECOND).num_rows == 1
    changed = [key for key in before if shard.store.get(key) is not before[key]]
    assert len(changed) == 1


def test_events_that_come_again_are_dropped_while_the_first_waits() -> None:
    compiled = compile([tocsin.parse("[A];[B]")])
    one, end = (
        Event(n, frozenset({type}), Interval(n * SECOND, n * SECOND), {}, "k")
        for n, type in ((1, "A"), (3, "B"))
    )
    shard = Shard(compiled, late="keep")
    shard.job = shard.job._replace(repeated="drop")

    def come(events: list[Event], until: int) -> tuple[int, list[int], int]:
        """How many matches there are, the ids of events that came again, and how many are late."""
        late = len(shard.late)
        done = step(shard.job, 0, shard.head, shard.store, prepared(compiled, events), until * SECOND)
        shard.head = done.head
        again = [id for table in done.repeated for id in table.column("id").to_pylist()]
        shard.late += [] if done.late is None else [done.late]
        return sum(map(len, done.matches)), again, len(shard.late) - late

    assert come([one, one], 0) == (0, [1], 0)
    assert come([one, replace(one, id=2)], 0) == (0, [1], 0)
    # Another moment, or another key, is another event.
    assert come([end, replace(one, key="other"), replace(one, interval=Interval(2, 2))], 2) == (0, [], 0)
    assert come([one, end], 3) == (3, [3], 1)


def test_equal_rows_are_told_apart_also_in_a_later_batch() -> None:
    compiled = compile([tocsin.parse("[A];[B]")])
    one, two, end = (
        Event(n, frozenset({type}), Interval(n * SECOND, n * SECOND), {}, "k")
        for n, type in ((1, "A"), (2, "A"), (3, "B"))
    )
    shard = Shard(compiled)
    shard.advance(prepared(compiled, [one]), SECOND)
    found = shard.advance(prepared(compiled, [two, two, end]), 3 * SECOND)
    assert found.num_rows == 3
    assert rows(found) == rows(in_a_table(compiled, [one, two, two, end]))


def test_a_late_event_stops_detection_or_is_left_out_or_kept() -> None:
    compiled = compile([tocsin.parse("[A];[B]")])
    early = Event(7, frozenset({"A"}), Interval(SECOND, SECOND), {}, "k")
    later = Event(8, frozenset({"B"}), Interval(3 * SECOND, 3 * SECOND), {}, "k")
    kept = []
    for late in ("fail", "drop", "keep"):
        shard = Shard(compiled, late)
        shard.advance(prepared(compiled, []), 2 * SECOND)
        if late == "fail":
            with pytest.raises(
                InputError, match=r"event 7 of type A ended at 1970-01-01T00:00:01\S* and came"
            ):
                shard.advance(prepared(compiled, [early, later]), 4 * SECOND)
            continue
        assert shard.advance(prepared(compiled, [early, later]), 4 * SECOND).num_rows == 0
        kept.append(shard.late)
    # Those that are left out are told all the same, so that they can be counted.
    assert kept[0] == kept[1]
    (row,) = kept[1][0].to_pylist()
    assert (row["pattern"], row["key"], row["constituents"][0]["id"]) == (None, "k", "7")
    assert row["late"] == "everything up to 1970-01-01T00:00:02.000000Z was decided"


def test_best_effort_uses_events_as_they_come() -> None:
    compiled = compile([tocsin.parse("[A];[B]")])
    events = [
        Event(n, frozenset({type}), Interval(at * SECOND, at * SECOND), {}, "k")
        for n, type, at in ((1, "B", 5), (2, "A", 1), (3, "B", 6))
    ]
    shard = Shard(compiled, at_once=True)
    found = [shard.advance(prepared(compiled, [event]), event.interval.end - 1) for event in events]
    # The A comes behind the first B, and is used all the same.
    assert [one.num_rows for one in found] == [0, 0, 1]


def test_a_plan_can_be_cut_by_its_outputs() -> None:
    texts = ("[A];[B]", "[A];[B] || [C]", "[C]")
    compiled = compile([tocsin.parse(text, name=text) for text in texts])
    events = [
        Event(n, frozenset({type}), Interval(n, n), {}, "k") for n, type in enumerate(("A", "C", "B", "C"), 1)
    ]
    whole = in_a_table(compiled, events).to_pylist()
    for wanted in ([0], [1], [2], [0, 2], [2, 1]):
        own = Compiled(subplan(compiled.plan, wanted), compiled.tests, compiled.attributes)
        expected = [row for row in whole if row["pattern"] in {texts[n] for n in wanted}]
        assert rows(in_a_table(own, events)) == sorted(map(repr, expected))


def test_events_go_to_their_shard_and_marks_to_all() -> None:
    compiled = compile([tocsin.parse("[A]")])
    events = [Event(n, frozenset({type}), Interval(n, n), {}, f"k{n}") for n, type in enumerate("AZA", 1)]
    table = prepared(compiled, events).append_column("source", pa.array(["x", "y", "x"]))
    job = ArrivalJob(3, 1, compiled.plan.detectors[0].program.domain.any(axis=0).astype("uint64"), True)
    sent = pa.Table.from_batches(pack_arrivals(job, table.to_batches())).to_pylist()
    marks = [row for row in sent if row["kind"] == MARKS]
    assert sorted(row["shard"] for row in marks) == [0, 1, 2]
    told = from_ipc(marks[0]["packed"]).to_pylist()
    assert [(one["source"], one["events"], one["latest"]) for one in told] == [("x", 2, 3), ("y", 1, 2)]
    carried = [from_ipc(row["packed"]) for row in sent if row["kind"] != MARKS]
    assert sorted(pa.concat_tables(carried).column("id").to_pylist()) == [1, 3]
    assert "source" not in carried[0].column_names


def test_events_ahead_of_the_clock_go_apart_and_say_nothing_of_time() -> None:
    compiled = compile([tocsin.parse("[A]")])
    events = [Event(n, frozenset({type}), Interval(n, n), {}, "k") for n, type in enumerate("AAZ", 1)]
    table = prepared(compiled, events).append_column("ahead", pa.array([False, True, True]))
    job = ArrivalJob(1, 1, compiled.plan.detectors[0].program.domain.any(axis=0).astype("uint64"), False)
    sent = pa.Table.from_batches(pack_arrivals(job, table.to_batches())).to_pylist()
    packed = {row["kind"]: from_ipc(row["packed"]) for row in sent}
    assert {kind: rows.num_rows for kind, rows in packed.items()} == {EVENTS: 1, AHEAD: 2, MARKS: 1}
    assert (packed[EVENTS].column("id").to_pylist(), packed[AHEAD].column("id").to_pylist()) == ([1], [2, 3])
    assert packed[MARKS].select(["events", "latest"]).to_pylist() == [{"events": 1, "latest": 1}]
    assert "ahead" not in packed[AHEAD].column_names


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=60)
@given(
    st.lists(subscriptions().filter(of_columns), min_size=4, max_size=4),
    traces(max_size=16, keys=("p", "p", "q")),
    st.permutations(range(4)),
    st.integers(1, 3),
    st.integers(0, 16),
)
def test_subscriptions_that_stay_go_on_when_others_change(
    many: list[Subscription], events: list[Event], order: list[int], stay: int, cut: int
) -> None:
    events = sorted(events, key=lambda event: (event.interval.end, event.id))
    while 0 < cut < len(events) and events[cut - 1].interval.end == events[cut].interval.end:
        cut += 1  # a moment is never cut in two
    many = [replace(one, name=str(number)) for number, one in enumerate(many)]
    before = compile(many[:stay])
    after = compile([many[number] for number in order])
    one, two = Shard(before), Shard(after)
    until = events[cut - 1].interval.end if 0 < cut <= len(events) else LONG_AGO
    waiting = prepared(before, events[:cut])
    found = [one.advance(waiting, until - SECOND)]  # the last of them still wait
    (was,), (now,) = one.job.groups, two.job.groups
    old = outline(was)
    two.head = Head(one.head.until, one.head.bits, {})
    for (_, bucket), memory in one.store.items():
        made = carried_over(old, now, memory)
        if made is not None:
            two.store[0, bucket] = made
            two.head.entries[bucket] = one.head.entries[bucket]._replace(wakeup=LONG_AGO)
    found.append(two.advance(prepared(after, events[cut:]), until))
    found.append(two.advance(None, FOREVER))
    staying = {str(number) for number in range(stay)}
    told = [row for table in found for row in table.to_pylist() if row["pattern"] in staying]
    assert sorted(map(repr, told)) == rows(in_a_table(compile(many[:stay]), events))
