"""Matches listed from groups of partial matches, in time proportional to the size of the output (see `kernel`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.growing import copy_row
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.tokens.groups.heap import (
    BEFORE,
    BEGIN,
    LATEST,
    LEFT,
    NODES,
    REF,
    RIGHT,
    ROLE,
    TIME,
)
from tocsin.runtime.program import Array

# Columns of a match, and of the events of matches.
MATCH_KEY, MATCH_LENGTH, MATCH_WIDTH = range(3)
PART_REF, PART_ROLE, PART_TIME, PART_BEGIN, PART_WIDTH = range(5)
# Counters.
MATCHES, PARTS, COUNTERS = range(NODES + 1, NODES + 4)


class Listing(NamedTuple):
    """The tables that matches are read from and written to. Some may be full; the caller grows them, see `kernel`."""

    nodes: Array  # int64 (N, NODE_WIDTH)
    counts: Array  # int64 (COUNTERS,)
    path: Array  # int64 (depth, 1): the nodes of the current match, last event first
    stack: Array  # int64 (S, 2): node and depth of the matches still to be listed
    found: Array  # int64 (matches, MATCH_WIDTH)
    parts: Array  # int64 (events of matches, PART_WIDTH)


class Completing(NamedTuple):
    """The event that completes matches."""

    key: int
    ref: int
    role: int
    time: int
    begin: int


@kernel
def list_matches(listing, group, since, event, most):  # type: ignore[no-untyped-def]
    """List as matches every partial match of a group that began at or after `since`, completed by an event.

    It stops after `most` matches. Returns whether there was room for all. (It is called for every match, and returning larger
    tables would cost more than all the rest.)
    """
    nodes, counts, path, stack, found, parts = listing
    stack[0, 0], stack[0, 1] = group, 0
    top = 1
    while top:
        node, depth = stack[top - 1, 0], stack[top - 1, 1]
        full = counts[MATCHES] == len(found) or counts[PARTS] + depth + 2 > len(parts)
        if full or depth == len(path) or top + 2 > len(stack):
            return False
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
        report(listing, depth, event)
        if counts[MATCHES] > most:
            return True
    return True


@kernel
def report(listing, depth, event):  # type: ignore[no-untyped-def]
    """Write a match: the events of a path, from its far end, and then the event that completes it."""
    nodes, counts, path, _, found, parts = listing
    match = counts[MATCHES]
    counts[MATCHES] += 1
    found[match, MATCH_KEY] = event.key
    found[match, MATCH_LENGTH] = depth + 2
    at = counts[PARTS]
    for place in range(depth, -1, -1):
        node = path[place, 0]
        parts[at, PART_REF], parts[at, PART_ROLE] = nodes[node, REF], nodes[node, ROLE]
        parts[at, PART_TIME], parts[at, PART_BEGIN] = nodes[node, TIME], nodes[node, BEGIN]
        at += 1
    parts[at, PART_REF], parts[at, PART_ROLE] = event.ref, event.role
    parts[at, PART_TIME], parts[at, PART_BEGIN] = event.time, event.begin
    counts[PARTS] = at + 1


@kernel
def keep_leftmost(listing, first):  # type: ignore[no-untyped-def]
    """Of the matches from `first` on, keep only the one that began first; they all end with the same event."""
    counts, found, parts = listing.counts, listing.found, listing.parts
    if counts[MATCHES] - first < 2:
        return
    best, best_at, at = first, np.int64(0), counts[PARTS]
    for match in range(counts[MATCHES] - 1, first - 1, -1):
        at -= found[match, MATCH_LENGTH]
        if match == counts[MATCHES] - 1 or parts[at, PART_REF] < parts[best_at, PART_REF]:
            best, best_at = match, at
    length = found[best, MATCH_LENGTH]
    for place in range(length):
        copy_row(parts[best_at + place], parts[at + place])
    copy_row(found[best], found[first])
    counts[MATCHES] = first + 1
    counts[PARTS] = at + length


def matches_of(found: Array, parts: Array) -> Matches:
    """The output of the kernel as matches."""
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
