"""The correct results, computed with numpy alone: no automaton, no kernel, no SQL.

A workload uses the events of three types. For each event that may start a match, the event that ends it is looked up in
sorted arrays; where matches must not overlap, a plain loop then repeatedly takes the leftmost one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tocsin.bench.events import Columns
from tocsin.bench.pairs_oracle import pairs
from tocsin.bench.workloads import Threshold, Workload

Array = np.ndarray[Any, Any]


class Answer(NamedTuple):
    """The number of matches, and the sum of the milliseconds from the first to the last event of each."""

    matches: int
    span_sum: int


class _Starts(NamedTuple):
    """The starts and ends of matches, as positions in the sorted events; ordered by start."""

    first: Array
    last: Array


def answer(workload: Workload, window: int, events: Columns) -> Answer:
    """The result that every engine must find, for a window in milliseconds."""
    if workload.family == "pairs":
        return Answer(*pairs(workload, window, events))
    places = {name: np.flatnonzero(events.is_type(name)) for name in "ABC"}
    if workload.shape == "abc_any":
        return _every_triple(events, places, window)
    bounds = np.concatenate([np.flatnonzero(np.diff(events.key, prepend=-1)), [len(events.key)]])
    stop_of = np.repeat(bounds[1:], np.diff(bounds))  # for each event, where the next key begins
    matches = spans = 0
    for threshold in workload.thresholds:
        starts = _starts(workload.shape, events, places, threshold, stop_of)
        span = events.time[starts.last] - events.time[starts.first]
        if workload.windowed:
            starts, span = _Starts(*(column[span < window] for column in starts)), span[span < window]
        if workload.selection == "leftmost":
            span = span[_without_overlap(starts)]
        matches += len(span)
        spans += int(span.sum())
    return Answer(matches, spans)


def _starts(
    shape: str, events: Columns, places: dict[str, Array], threshold: Threshold, stop_of: Array
) -> _Starts:
    a, b, c = places["A"], places["B"], places["C"]
    if shape == "all_three":
        first = np.sort(np.concatenate([a, b, c]))
        last = np.maximum.reduce(
            [_next(first, one) for one in (a, b, c)]
        )  # an event is the next of its own type
    elif shape == "ac_without_b":
        first, last = a, _next(a, c)
        # Without a B up to it; a B of a later key comes after every C of this one.
        first, last = first[_next(a, b) > last], last[_next(a, b) > last]
    else:
        first = a[events.value[a] >= threshold.a]
        second = _next(first, b[events.value[b] >= threshold.b])
        last = _next(second, c)
    there = last < stop_of[first]
    return _Starts(first[there], last[there])


def _next(after: Array, places: Array) -> Array:
    """For each position the first of `places` that is not before it; past the end if there is none."""
    behind = np.append(places, np.iinfo(np.int64).max)
    found: Array = behind[np.searchsorted(places, after)]
    return found


def _without_overlap(starts: _Starts) -> Array:
    chosen, over = [], -1
    for number, (first, last) in enumerate(zip(starts.first.tolist(), starts.last.tolist(), strict=True)):
        if first > over:
            chosen.append(number)
            over = last
    return np.array(chosen, np.int64)


def _every_triple(events: Columns, places: dict[str, Array], window: int) -> Answer:
    """All (A, B, C) in order, counted from the C: for each A in its window, the B in between are a difference of counts."""
    until = np.cumsum(events.is_type("B"))  # B up to each place
    a, c = places["A"], places["C"]
    begin = events.time.min(initial=0)
    width = int(events.time.max(initial=0)) - int(begin) + window + 1
    moment = events.key.astype(np.int64) * width + (events.time - begin)
    # The A of a C: of its key, and less than a window before it.
    from_a = np.searchsorted(moment[a], np.maximum(moment[c] - window + 1, events.key[c] * np.int64(width)))
    to_a = np.searchsorted(moment[a], moment[c])
    count, b_before, time_sum, both = (
        np.concatenate([[0], np.cumsum(column)])
        for column in (
            np.ones(len(a), np.int64),
            until[a],
            events.time[a] - begin,
            (events.time[a] - begin) * until[a],
        )
    )

    def over(sums: Array) -> Array:
        difference: Array = sums[to_a] - sums[from_a]
        return difference

    now, seen = events.time[c] - begin, until[c]
    matches = over(count) * seen - over(b_before)
    # The sum over A of (now - time of A) * (seen - B before A), expanded. Running sums may exceed 64 bits and wrap,
    # but their differences are still correct.
    spans = now * matches - (seen * over(time_sum) - over(both))
    return Answer(int(matches.sum()), int(spans.sum()))
