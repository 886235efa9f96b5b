"""Leftmost matches in a chunk of the time axis, where what was found before the chunk is not known.

Leftmost matches form a *chain*: each is the first completion of the first start after the one before it. A *candidate* is
the first completion of any start; which candidates there are does not depend on the chain, so a chunk can find them. The
chain may come into the chunk in several ways. Followed from candidate to candidate these soon meet, and detection can begin
where they do, as if nothing had been before. If they have not met before the events that the chunk has to decide, earlier
events must be looked at, in the worst case all there are.
"""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.found import Matches
from tocsin.runtime.program import Array, Choice, Plan

BEHIND, UNKNOWN = -1, -2
_LAST = np.iinfo(np.int64).max


def chained(plan: Plan) -> tuple[int, ...]:
    """The detectors whose matches are a chain."""
    return tuple(n for n, one in enumerate(plan.detectors) if one.choice.matches == "leftmost")


def listing_candidates(plan: Plan) -> Plan:
    """The same plan, but with all candidates instead of chains."""
    detectors = list(plan.detectors)
    for number in chained(plan):
        detectors[number] = detectors[number]._replace(choice=Choice("next"))
    return plan._replace(detectors=tuple(detectors))


def beginnings(candidates: Matches, keys: int, certain: int, horizon: int) -> Array:
    """For each key the first event of a match that is surely in the chain, as a ref; int64 (keys,).

    BEHIND if the chain has nothing that begins until the horizon and ends behind it, so that it can be followed from there;
    UNKNOWN if it takes earlier events to know it.

    Args:
        candidates: all that begin until the horizon.
        certain: every match that began before the events that are given is over by then.
    """
    ends = candidates.offsets[1:] - 1
    firsts = candidates.offsets[:-1]
    # Refs are in the order of keys, and of events within a key.
    order = np.argsort(candidates.refs[firsts], kind="stable")
    firsts, ends = firsts[order], ends[order]
    # A timer is heard behind the events of its moment: whatever begins then does not come after it.
    last = np.where(candidates.roles[ends] < 0, _LAST, candidates.refs[ends])
    found = np.full(keys, BEHIND if certain <= horizon else UNKNOWN, np.int64)
    _follow(
        candidates.key[order], candidates.refs[firsts], candidates.times[firsts], last, candidates.times[ends],
        certain, horizon, found,
    )  # fmt: skip
    return found


@kernel
def _follow(key, first, started, last, ended, certain, horizon, found):  # type: ignore[no-untyped-def]
    """Write what `beginnings` says for each key, given its candidates in the order of their starts."""
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
            # A way that leaves what is known is one all the same; but those that leave from the same event have met.
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
    """Mark the candidates that the chain can come in by, and count them: those that begin until then, and the next.

    Where there is no next, coming in by none of them is one way more.
    """
    for at in range(begin, stop):
        possible[at] = True
        if started[at] > certain:
            return at + 1 - begin
    return stop + 1 - begin


@kernel
def following(at, stop, first, started, last, ended):  # type: ignore[no-untyped-def]
    """The first candidate that begins after this one is over, or `stop`."""
    low, high = at + 1, stop
    while low < high:
        middle = (low + high) // 2
        if started[middle] > ended[at] or (started[middle] == ended[at] and first[middle] > last[at]):
            high = middle
        else:
            low = middle + 1
    return low
