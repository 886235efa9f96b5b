"""The kernel over groups of partial matches: an event moves whole groups (see `machine`).

A group is a heap of *nodes*. A node is an event together with the group it goes on from (`BEFORE`), so it stands for as many
partial matches as that group has. Groups are shared and never changed: a new event on top of a group of a thousand is one
node. The heap is ordered by `LATEST`, the end of the latest first event below a node: where a window has left that behind,
nothing below is wanted any more. So listing what is complete costs as much as what is listed, whatever else is there.

The heaps are leftist, and merging two takes the logarithm of their size; the usual case, in which the new node has the latest
start, is one step.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from tocsin.runtime.found import Matches
from tocsin.runtime.growing import grown
from tocsin.runtime.heap import BEFORE, BEGIN, LATEST, LEFT, NODES, REF, RIGHT, ROLE, SPINE, TIME, begun_at
from tocsin.runtime.heap import add as _add
from tocsin.runtime.heap import merge as _merge
from tocsin.runtime.heap import new_node as _new
from tocsin.runtime.machine import BEGUN, COMPLETE, EMIT, FIRST_ROLE, FROM, NEXT_START, TAKES, TO
from tocsin.runtime.machine import ROLE as TRANSFER_ROLE
from tocsin.runtime.program import Array

# Columns of a match, and of the events of matches.
MATCH_KEY, MATCH_LENGTH, MATCH_WIDTH = range(3)
PART_REF, PART_ROLE, PART_TIME, PART_BEGIN, PART_WIDTH = range(5)
# Counters.
MATCHES, PARTS, COUNTERS = range(NODES + 1, NODES + 4)


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order."""

    offsets: Array  # int64 (keys+1,)
    letter: Array  # int64 by signature
    signature: Array  # int32 (R,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ref: Array  # int64 (R,)


@nb.njit(cache=True)
def _list(nodes, since, counts, path, stack, top, found, parts, key, ref, role, time, begin, most):  # type: ignore[no-untyped-def]
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
        _report(nodes, counts, path, depth, found, parts, key, ref, role, time, begin)
        if counts[MATCHES] > most:
            return 0
    return 0


@nb.njit(cache=True)
def _report(nodes, counts, path, depth, found, parts, key, ref, role, time, begin):  # type: ignore[no-untyped-def]
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


@nb.njit(cache=True)
def _leftmost(counts, first, found, parts):  # type: ignore[no-untyped-def]
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


@nb.njit(cache=True)
def _next_row(letters, signature, row, stop):  # type: ignore[no-untyped-def]
    """The next row that means something; most do not, so this loop is all there is for them."""
    while row < stop and letters[signature[row]] == 0:
        row += 1
    return row


@nb.njit(cache=True)
def _let_time_go_on(  # type: ignore[no-untyped-def]
    nodes, counts, own, arriving, transfers, transfer_at, leaving, leaving_at, tick, spine
):
    """Nothing is fresh any more: groups move without an event."""
    first, last = transfer_at[tick], transfer_at[tick + 1]
    for at in range(first, last):
        arriving[at] = own[transfers[at, FROM]]
    for at in range(leaving_at[tick], leaving_at[tick + 1]):
        own[leaving[at]] = -1
    for at in range(first, last):
        to = transfers[at, TO]
        if own[to] < 0:
            own[to] = arriving[at]
        elif arriving[at] >= 0:
            own[to] = _merge(nodes, counts, arriving[at], own[to], spine)


@nb.njit(cache=True)
def _is_there(times, first, last, time):  # type: ignore[no-untyped-def]
    """Whether a time is among some that are sorted."""
    at = first + np.searchsorted(times[first:last], time)
    return at < last and times[at] == time


@nb.njit(cache=True)
def _let_some_escape(nodes, counts, own, escapes, time, spine):  # type: ignore[no-untyped-def]
    """What began at a time, one window ago, and took an event of this very moment may go on without a window."""
    for at in range(len(escapes)):
        group, to = own[escapes[at, 0]], escapes[at, 1]
        if group >= 0 and nodes[group, LATEST] >= time:
            nodes, free = begun_at(nodes, counts, group, time, spine)
            if free >= 0:
                if counts[NODES] + 4 * SPINE > len(nodes):
                    nodes = grown(nodes, 2 * len(nodes))
                own[to] = free if own[to] < 0 else _merge(nodes, counts, free, own[to], spine)
    return nodes


@nb.njit(cache=True)
def run(  # type: ignore[no-untyped-def]
    rows,
    transfers,
    transfer_at,
    leaving,
    leaving_at,
    starts,
    window,
    tick,
    escapes,
    leftmost,
    groups,
    begun,
    nodes,
    firsts,
    keep,
    limit,
):
    """Feed the rows of every key to its groups.

    `groups` (keys, places) are the groups before and after, `begun` (keys) the sets of start states; without `keep` they are
    left as they were, and nodes are used again for the next key. `firsts` are the times of the first events among `nodes`,
    sorted. Where one event completes more than `limit` matches it stops; the last number is then that of the key, from 1.
    """
    places = groups.shape[1]
    own = np.empty(places, np.int64)
    arriving = np.empty(len(transfers), np.int64)
    spine = np.empty(2 * SPINE, np.int64)
    path = np.empty((16, 1), np.int64)
    stack = np.empty((64, 2), np.int64)
    found = np.empty((1024, MATCH_WIDTH), np.int64)
    parts = np.empty((4096, PART_WIDTH), np.int64)
    counts = np.zeros(COUNTERS, np.int64)
    counts[NODES] = len(nodes)
    kept = len(nodes)
    most = 0
    for letter in range(len(transfer_at) - 1):
        most = max(most, transfer_at[letter + 1] - transfer_at[letter])
    most = (most + 1) * (2 * SPINE + 1)  # nodes that one event can need
    nodes = grown(nodes, kept + 4 * most + 1024)
    offsets, letters, signature, row_start, row_end, row_ref = (
        rows.offsets,
        rows.letter,
        rows.signature,
        rows.start,
        rows.end,
        rows.ref,
    )
    for key in range(len(offsets) - 1):
        if offsets[key] == offsets[key + 1]:
            continue
        own[:] = groups[key]
        begin = begun[key]
        fresh, moment = False, np.int64(0)  # whether something took an event of this moment
        if not keep:
            counts[NODES] = kept
        row, stop = offsets[key] - 1, offsets[key + 1]
        while True:
            row = _next_row(letters, signature, row + 1, stop)
            if row == stop:
                break
            letter = letters[signature[row]]
            end = row_end[row]
            if len(escapes) and fresh and end > moment:
                since = moment - window
                if _is_there(row_end, offsets[key], row, since) or _is_there(firsts, 0, len(firsts), since):
                    nodes = _let_some_escape(nodes, counts, own, escapes, since, spine)
            if counts[NODES] + most > len(nodes):
                nodes = grown(nodes, 2 * len(nodes))
            if fresh and end > moment:
                _let_time_go_on(
                    nodes, counts, own, arriving, transfers, transfer_at, leaving, leaving_at, tick, spine
                )
            fresh, moment = tick > 0, end
            since = end - window
            before = counts[MATCHES]
            first, last = transfer_at[letter], transfer_at[letter + 1]
            for at in range(first, last):
                group = own[transfers[at, FROM]]
                if group >= 0 and nodes[group, LATEST] < since:
                    group = own[transfers[at, FROM]] = -1
                if group >= 0 and transfers[at, TAKES]:
                    if transfers[at, TO] == EMIT:
                        top, stack[0, 0], stack[0, 1] = 1, group, 0
                        while top:
                            top = _list(nodes, since, counts, path, stack, top, found, parts, key, row_ref[row],
                                        transfers[at, TRANSFER_ROLE], end, row_start[row], before + limit)  # fmt: skip
                            if top:
                                path, stack = grown(path, 2 * len(path)), grown(stack, 2 * len(stack))
                                found, parts = grown(found, 2 * len(found)), grown(parts, 2 * len(parts))
                        group = -1
                    else:
                        group = _new(
                            nodes,
                            counts,
                            row_ref[row],
                            transfers[at, TRANSFER_ROLE],
                            end,
                            row_start[row],
                            group,
                        )
                arriving[at] = group
            for at in range(leaving_at[letter], leaving_at[letter + 1]):
                own[leaving[at]] = -1
            for at in range(first, last):
                if arriving[at] >= 0:
                    to = transfers[at, TO]
                    if transfers[at, TAKES]:
                        own[to] = _add(nodes, counts, arriving[at], own[to], spine)
                    else:
                        own[to] = (
                            arriving[at]
                            if own[to] < 0
                            else _merge(nodes, counts, arriving[at], own[to], spine)
                        )
            place, role = starts[begin, letter, BEGUN], starts[begin, letter, FIRST_ROLE]
            complete = starts[begin, letter, COMPLETE] != 0
            begin = starts[begin, letter, NEXT_START]
            if complete:
                if counts[MATCHES] == len(found):
                    found = grown(found, 2 * len(found))
                if counts[PARTS] + 2 > len(parts):
                    parts = grown(parts, 2 * len(parts))
                _report(nodes, counts, path, -1, found, parts, key, row_ref[row], role, end, row_start[row])
            if place >= 0:
                node = _new(nodes, counts, row_ref[row], role, end, row_start[row], -1)
                own[place] = _add(nodes, counts, node, own[place], spine)
            if counts[MATCHES] - before > limit:
                return found[: counts[MATCHES]], parts[: counts[PARTS]], nodes[: counts[NODES]], key + 1
            if leftmost and counts[MATCHES] > before:
                _leftmost(counts, before, found, parts)
                own[:] = -1
        if keep:
            if fresh:
                since = moment - window
                if len(escapes) and (
                    _is_there(row_end, offsets[key], stop, since) or _is_there(firsts, 0, len(firsts), since)
                ):
                    nodes = _let_some_escape(nodes, counts, own, escapes, since, spine)
                if counts[NODES] + most > len(nodes):
                    nodes = grown(nodes, 2 * len(nodes))
                _let_time_go_on(
                    nodes, counts, own, arriving, transfers, transfer_at, leaving, leaving_at, tick, spine
                )
            groups[key] = own
            begun[key] = begin
    return found[: counts[MATCHES]], parts[: counts[PARTS]], nodes[: counts[NODES]], 0


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
