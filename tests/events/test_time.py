"""Interval time and its two orders; durations and times as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.events import (
    MICROSECONDS,
    Event,
    Interval,
    format_duration,
    format_timestamp,
    parse_duration,
    parse_timestamp,
    total_order,
    trace,
)

INTERVALS = st.builds(
    lambda start, length: Interval(start, start + length), st.integers(0, 6), st.integers(0, 4)
)


@pytest.mark.parametrize(
    ("first", "second", "strong", "weak"),
    [
        # One inside the other: it ends earlier, so it comes first, but not strongly. Paper: 003, (3), (4).
        (Interval(3, 4), Interval(1, 9), False, True),
        (Interval(1, 9), Interval(3, 4), False, False),
        # Touching is not strongly before: (3) is strict.
        (Interval(1, 3), Interval(3, 5), False, True),
        (Interval(1, 3), Interval(4, 4), True, True),
        # A tie on the end: the earlier start comes first.
        (Interval(1, 4), Interval(3, 4), False, True),
        # Equal intervals: only the id decides.
        (Interval(2, 2), Interval(2, 2), False, False),
    ],
)
def test_orders(first: Interval, second: Interval, strong: bool, weak: bool) -> None:
    assert first.strongly_before(second) is strong
    assert first.before(second) is weak


@given(INTERVALS, INTERVALS)
def test_the_total_order_extends_the_strong_one(first: Interval, second: Interval) -> None:
    if first.strongly_before(second):
        assert first.before(second)
        assert not second.before(first)
    assert first.before(second) + second.before(first) + (first == second) == 1


@given(INTERVALS, INTERVALS, INTERVALS)
def test_orders_are_transitive(a: Interval, b: Interval, c: Interval) -> None:
    if a.strongly_before(b) and b.strongly_before(c):
        assert a.strongly_before(c)
    if a.before(b) and b.before(c):
        assert a.before(c)


@given(INTERVALS, INTERVALS)
def test_a_union_covers_both_and_no_more(a: Interval, b: Interval) -> None:
    union = a.union(b)
    assert union == b.union(a)
    assert union.start in (a.start, b.start)
    assert union.end in (a.end, b.end)
    assert union.start <= min(a.start, b.start) <= max(a.end, b.end) <= union.end


def test_a_trace_is_in_the_total_order() -> None:
    def event(id: int | str, start: int, end: int) -> Event:
        return Event(id, frozenset("A"), Interval(start, end))

    events = [
        event("b", 1, 5),
        event(10, 1, 5),
        event(9, 1, 5),
        event(1, 2, 5),
        event(2, 0, 6),
        event(3, 4, 4),
    ]
    # By end, then start, then id: numbers by value and before texts.
    assert [e.id for e in trace(events)] == [3, 9, 10, "b", 1, 2]
    assert total_order(events[2]) < total_order(events[1]) < total_order(events[0])


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1ms", 1_000),
        ("0.001ms", 1),
        ("1s", 1_000_000),
        ("1.5min", 90_000_000),
        (" 2 h ", 7_200_000_000),
        ("1d", 86_400_000_000),
        ("0s", 0),
    ],
)
def test_durations(text: str, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


@pytest.mark.parametrize(
    "text", ["", "5", "min", "-1s", "1 month", "1ns", "1e3s", "1,5s", ".5s", "0.0001ms", "1s 1s"]
)
def test_what_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@given(st.integers(0, 10**15))
def test_a_duration_reads_back(microseconds: int) -> None:
    assert parse_duration(format_duration(microseconds)) == microseconds


@pytest.mark.parametrize("unit", ["ms", "s", "min", "h", "d"])
def test_whole_units_are_written_as_such(unit: str) -> None:
    assert format_duration(7 * MICROSECONDS[unit]) == f"7{unit}"


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01.000001", 1_000_001),
        ("1970-01-01 00:00:01", 1_000_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59", -1_000_000),
    ],
)
def test_times(text: str, microseconds: int) -> None:
    assert parse_timestamp(text) == microseconds


@pytest.mark.parametrize("text", ["", "now", "12:00", "2004-13-01", "2004-02-30", "2004-01-31T25:00:00"])
def test_what_is_no_time(text: str) -> None:
    assert parse_timestamp(text) is None


@given(st.integers(-(10**15), 10**16))
def test_a_time_reads_back(microseconds: int) -> None:
    assert parse_timestamp(format_timestamp(microseconds)) == microseconds
