"""Leftmost matches in a chunk of the time axis, without knowing the matches before the chunk.

Leftmost matches form a *chain*: each is the first completion of the first start after the one before it. A *candidate* is
the first completion of any start; which candidates there are does not depend on the chain, so a chunk can find them. The
chain may enter the chunk in several ways. Followed from candidate to candidate these soon meet, and detection can begin
where they do, as if nothing had come before. If they have not met before the events that the chunk has to decide, earlier
events must be read, in the worst case all of them.
"""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.program import Array, Choice, Plan

BEHIND, UNKNOWN = -1, -2
_LAST = np.iinfo(np.int64).max


def chained(plan: Plan) -> tuple[int, ...]:
    """The numbers of the detectors whose matches form a chain."""
    return tuple(n for n, one in enumerate(plan.detectors) if one.choice.matches == "leftmost")


def listing_candidates(plan: Plan) -> Plan:
    """The plan, changed to report all candidates instead of chains."""
    detectors = list(plan.detectors)
    for number in chained(plan):
        detectors[number] = detectors[number]._replace(choice=Choice("next"))
    return plan._replace(detectors=tuple(detectors))


def beginnings(candidates: Matches, keys: int, certain: int, horizon: int) -> Array:
    """For each key the first event of a match that is certainly in the chain, as a ref: int64 (keys,).

    BEHIND if no match of the chain begins by the horizon and ends after it, so that the chain can be followed from there;
    UNKNOWN if it takes earlier events to decide.

    Args:
        candidates: all candidates that begin by the horizon.
        certain: the time by which every match that began before the given events is over.
    """
    ends = candidates.offsets[1:] - 1
    firsts = candidates.offsets[:-1]
    # Refs are in the order of keys, and of events within a key.
    order = np.argsort(candidates.refs[firsts], kind="stable")
    firsts, ends = firsts[order], ends[order]
    # A timer comes after the events of its moment: whatever begins at that moment does not follow it.
    last = np.where(candidates.roles[ends] < 0, _LAST, candidates.refs[ends])
    found = np.full(keys, BEHIND if certain <= horizon else UNKNOWN, np.int64)
    _follow(
        candidates.key[order], candidates.refs[firsts], candidates.times[firsts], last, candidates.times[ends],
        certain, horizon, found,
    )  # fmt: skip
    return found


@kernel
def _follow(key, first, started, last, ended, certain, horizon, found):  # type: ignore[no-untyped-def]
    """Write the result of `beginnings` for each key, given its candidates in the order of their starts."""
    possible = np.zeros(len(key) + 1, np.bool_)
    begin = 0
    while begin < len(key):
        stop = _end_of_key(key, begin)
        ways = _ways_in(begin, stop, started, certain, possible)
        over, left = certain, -1
        for at in range(begin, stop):
            if started[at] > horizon or ways == 0:
                break
            if not possible[at]:
                continue
            if ways == 1:
                found[key[begin]], ways = first[at], 0
                continue
            then = following(at, stop, first, started, last, ended)
            if then < stop and started[then] <= horizon:
                ways -= possible[then]
                possible[then] = True
                continue
            # A way that leads past the known candidates still counts; but ways that leave from the same event have met.
            ways -= left >= 0 and last[left] == last[at] and ended[left] == ended[at]
            if ways == 1:
                found[key[begin]], ways = first[at], 0
            left, over = at, max(over, ended[at])
        if ways and over > horizon:
            found[key[begin]] = UNKNOWN
        begin = stop


@kernel
def _end_of_key(key, begin):  # type: ignore[no-untyped-def]
    stop = begin
    while stop < len(key) and key[stop] == key[begin]:
        stop += 1
    return stop


@kernel
def _ways_in(begin, stop, started, certain, possible):  # type: ignore[no-untyped-def]
    """Mark and count the candidates through which the chain can enter: those that begin by `certain`, and the next.

    Where there is no next candidate, entering through none of them is one more way.
    """
    for at in range(begin, stop):
        possible[at] = True
        if started[at] > certain:
            return at + 1 - begin
    return stop + 1 - begin


@kernel
def following(at, stop, first, started, last, ended):  # type: ignore[no-untyped-def]
    """The first candidate that begins after the candidate `at` has ended, or `stop`."""
    low, high = at + 1, stop
    while low < high:
        middle = (low + high) // 2
        if started[middle] > ended[at] or (started[middle] == ended[at] and first[middle] > last[at]):
            high = middle
        else:
            low = middle + 1
    return low
