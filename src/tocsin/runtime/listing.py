"""Matches listed from groups of partial matches, in time proportional to what is listed (see `groups`)."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.found import Matches
from tocsin.runtime.heap import BEFORE, BEGIN, LATEST, LEFT, NODES, REF, RIGHT, ROLE, TIME
from tocsin.runtime.program import Array

# Columns of a match, and of the events of matches.
MATCH_KEY, MATCH_LENGTH, MATCH_WIDTH = range(3)
PART_REF, PART_ROLE, PART_TIME, PART_BEGIN, PART_WIDTH = range(5)
# Counters.
MATCHES, PARTS, COUNTERS = range(NODES + 1, NODES + 4)


@kernel
def list_matches(nodes, since, counts, path, stack, top, found, parts, key, ref, role, time, begin, most):  # type: ignore[no-untyped-def]
    """Every partial match on the stack that began since then, with an event at its end, as matches.

    It stops behind `most` matches. Returns what is left on the stack: nothing, or more because there is no room for it. (It is
    called for every match, and handing larger tables back would cost more than all the rest.)
    """
    while top:
        node, depth = stack[top - 1, 0], stack[top - 1, 1]
        full = counts[MATCHES] == len(found) or counts[PARTS] + depth + 2 > len(parts)
        if full or depth == len(path) or top + 2 > len(stack):
            return top
        top -= 1
        path[depth, 0] = node
        right, left, before = nodes[node, RIGHT], nodes[node, LEFT], nodes[node, BEFORE]
        if right >= 0 and nodes[right, LATEST] >= since:
            stack[top, 0], stack[top, 1] = right, depth
            top += 1
        if left >= 0 and nodes[left, LATEST] >= since:
            stack[top, 0], stack[top, 1] = left, depth
            top += 1
        if before >= 0:
            stack[top, 0], stack[top, 1] = before, depth + 1
            top += 1
            continue
        report(nodes, counts, path, depth, found, parts, key, ref, role, time, begin)
        if counts[MATCHES] > most:
            return 0
    return 0


@kernel
def report(nodes, counts, path, depth, found, parts, key, ref, role, time, begin):  # type: ignore[no-untyped-def]
    """A match: the events of a path, from its far end, and then the event that completes it."""
    match = counts[MATCHES]
    counts[MATCHES] += 1
    found[match, MATCH_KEY] = key
    found[match, MATCH_LENGTH] = depth + 2
    at = counts[PARTS]
    for place in range(depth, -1, -1):
        node = path[place, 0]
        parts[at, PART_REF], parts[at, PART_ROLE] = nodes[node, REF], nodes[node, ROLE]
        parts[at, PART_TIME], parts[at, PART_BEGIN] = nodes[node, TIME], nodes[node, BEGIN]
        at += 1
    parts[at, PART_REF], parts[at, PART_ROLE], parts[at, PART_TIME], parts[at, PART_BEGIN] = (
        ref,
        role,
        time,
        begin,
    )
    counts[PARTS] = at + 1


@kernel
def keep_leftmost(counts, first, found, parts):  # type: ignore[no-untyped-def]
    """Of the matches from `first` on, keep the one that began first; they all end with the same event."""
    if counts[MATCHES] - first < 2:
        return
    best, best_at, at = first, np.int64(0), counts[PARTS]
    for match in range(counts[MATCHES] - 1, first - 1, -1):
        at -= found[match, MATCH_LENGTH]
        if match == counts[MATCHES] - 1 or parts[at, PART_REF] < parts[best_at, PART_REF]:
            best, best_at = match, at
    length = found[best, MATCH_LENGTH]
    for place in range(length):
        parts[at + place] = parts[best_at + place]
    found[first] = found[best]
    counts[MATCHES] = first + 1
    counts[PARTS] = at + length


def matches_of(found: Array, parts: Array) -> Matches:
    """What the kernel found, as matches."""
    offsets = np.concatenate([[0], np.cumsum(found[:, MATCH_LENGTH])]).astype(np.int64)
    ends = parts[:, PART_TIME]
    begins = np.ascontiguousarray(parts[:, PART_BEGIN])
    start = np.minimum.reduceat(begins, offsets[:-1]) if len(found) else np.empty(0, np.int64)
    return Matches(
        found[:, MATCH_KEY].copy(),
        start,
        ends[offsets[1:] - 1].copy(),
        np.empty((len(found), 0), np.int64),
        offsets,
        parts[:, PART_REF].copy(),
        parts[:, PART_ROLE].copy(),
        ends.copy(),
        begins,
    )
