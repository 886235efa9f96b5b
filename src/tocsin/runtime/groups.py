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

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.growing import grown
from tocsin.runtime.heap import LATEST, NODES, SPINE, add, begun_at, merge, new_node
from tocsin.runtime.listing import (
    COUNTERS,
    MATCH_WIDTH,
    MATCHES,
    PART_WIDTH,
    PARTS,
    keep_leftmost,
    list_matches,
    report,
)
from tocsin.runtime.machine import BEGUN, COMPLETE, EMIT, FIRST_ROLE, FROM, NEXT_START, TAKES, TO
from tocsin.runtime.machine import ROLE as TRANSFER_ROLE
from tocsin.runtime.program import Array

# Where the kernel is: its key and row (-1 before the first of a key), the key's start set, whether something is fresh and since
# when, how many nodes were there before, and whether what may escape has; and why it came back.
AT_KEY, AT_ROW, BEGIN_SET, FRESH, MOMENT, KEPT, LET_OUT, REACHED = range(8)
DONE, FULL, TOO_MANY, ESCAPING = range(4)


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order."""

    offsets: Array  # int64 (keys+1,)
    letter: Array  # int64 by signature
    signature: Array  # int32 (R,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ref: Array  # int64 (R,)


@kernel
def _next_row(letters, signature, row, stop):  # type: ignore[no-untyped-def]
    """The next row that means something; most do not, so this loop is all there is for them."""
    while row < stop and letters[signature[row]] == 0:
        row += 1
    return row


@kernel
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
            own[to] = merge(nodes, counts, arriving[at], own[to], spine)


@kernel
def _is_there(ends, firsts, first, last, time):  # type: ignore[no-untyped-def]
    """Whether an event of these rows ended at a time, or the first event of a partial match; both are sorted."""
    at = first + np.searchsorted(ends[first:last], time)
    if at < last and ends[at] == time:
        return True
    at = np.searchsorted(firsts, time)
    return at < len(firsts) and firsts[at] == time


@kernel
def _let_some_escape(nodes, counts, own, escapes, time, spine):  # type: ignore[no-untyped-def]
    """What began at a time, one window ago, and took an event of this very moment may go on without a window."""
    for at in range(len(escapes)):
        group, to = own[escapes[at, 0]], escapes[at, 1]
        if group >= 0 and nodes[group, LATEST] >= time:
            nodes, free = begun_at(nodes, counts, group, time, spine)
            if free >= 0:
                if counts[NODES] + 4 * SPINE > len(nodes):
                    nodes = grown(nodes, 2 * len(nodes))
                own[to] = free if own[to] < 0 else merge(nodes, counts, free, own[to], spine)
    return nodes


@kernel
def _useful(transfers, escapes, places, keep):  # type: ignore[no-untyped-def]
    """Which places lead on. Where none of the letters there are does, a group need not go, unless others may still come."""
    useful = np.full(places, keep)
    for at in range(len(escapes)):
        useful[escapes[at, 0]] = True
    for at in range(len(transfers)):
        useful[transfers[at, FROM]] = True
    return useful


@kernel
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
    useful = _useful(transfers, escapes, places, keep)
    own = np.empty(places, np.int64)
    arriving = np.empty(len(transfers), np.int64)
    spine = np.empty(2 * SPINE, np.int64)
    path = np.empty((16, 1), np.int64)
    stack = np.empty((64, 2), np.int64)
    found = np.empty((1024, MATCH_WIDTH), np.int64)
    parts = np.empty((4096, PART_WIDTH), np.int64)
    counts = np.zeros(COUNTERS, np.int64)
    counts[NODES] = len(nodes)
    most = 0
    for letter in range(len(transfer_at) - 1):
        most = max(most, transfer_at[letter + 1] - transfer_at[letter])
    most = (most + 1) * (2 * SPINE + 1)  # nodes that one event can need
    reached = np.zeros(REACHED, np.int64)
    reached[AT_ROW], reached[KEPT] = -1, len(nodes)
    nodes = grown(nodes, len(nodes) + 4 * most + 1024)
    while True:
        stopped = _run_keys(
            rows.offsets, rows.letter, rows.signature, rows.start, rows.end, rows.ref,
            transfers, transfer_at, leaving, leaving_at, starts, window, tick, len(escapes) > 0, firsts, leftmost,
            useful, most,
            groups, begun, own, arriving, spine, path, stack, nodes, found, parts, counts, reached, keep, limit,
        )  # fmt: skip
        if stopped == ESCAPING:
            nodes = _let_some_escape(nodes, counts, own, escapes, reached[MOMENT] - window, spine)
            reached[LET_OUT] = 1
            continue
        if stopped != FULL:
            overflow = reached[AT_KEY] + 1 if stopped == TOO_MANY else 0
            return found[: counts[MATCHES]], parts[: counts[PARTS]], nodes[: counts[NODES]], overflow
        if counts[NODES] + most > len(nodes):
            nodes = grown(nodes, 2 * len(nodes))
        else:
            path, stack = grown(path, 2 * len(path)), grown(stack, 2 * len(stack))
            found, parts = grown(found, 2 * len(found)), grown(parts, 2 * len(parts))


@kernel
def _run_keys(  # type: ignore[no-untyped-def]
    offsets,
    letters,
    signature,
    row_start,
    row_end,
    row_ref,
    transfers,
    transfer_at,
    leaving,
    leaving_at,
    starts,
    window,
    tick,
    some_escape,
    firsts,
    leftmost,
    useful,
    most,
    groups,
    begun,
    own,
    arriving,
    spine,
    path,
    stack,
    nodes,
    found,
    parts,
    counts,
    reached,
    keep,
    limit,
):
    """Go on from where `reached` says, to the end, until a table is full, or something may escape; then an event is begun anew.

    Tables grow outside, because numba would count the references to a table that changes here at every use of it.
    """
    for key in range(reached[AT_KEY], len(offsets) - 1):
        if offsets[key] == offsets[key + 1]:
            continue
        if reached[AT_ROW] < 0:
            own[:] = groups[key]
            begin = begun[key]
            fresh, moment = False, np.int64(0)  # whether something took an event of this moment
            row = offsets[key]
            if not keep:
                counts[NODES] = reached[KEPT]
        else:
            row, begin, fresh, moment = (
                reached[AT_ROW],
                reached[BEGIN_SET],
                reached[FRESH] != 0,
                reached[MOMENT],
            )
            reached[AT_ROW] = -1
        stop = offsets[key + 1]
        while True:
            row = _next_row(letters, signature, row, stop)
            full = counts[NODES] + most > len(nodes)
            if row == stop and not (full and keep and fresh):
                break
            node_count, match_count, part_count = counts[NODES], counts[MATCHES], counts[PARTS]
            if full or match_count + 1 > len(found) or part_count + 2 > len(parts):
                _stop_at(reached, key, row, begin, fresh, moment)
                return FULL
            letter = letters[signature[row]]
            end = row_end[row]
            if fresh and end > moment:
                if (
                    some_escape
                    and not reached[LET_OUT]
                    and _is_there(row_end, firsts, offsets[key], row, moment - window)
                ):
                    _stop_at(reached, key, row, begin, fresh, moment)
                    return ESCAPING
                reached[LET_OUT] = 0
                _let_time_go_on(
                    nodes, counts, own, arriving, transfers, transfer_at, leaving, leaving_at, tick, spine
                )
                fresh, node_count = False, counts[NODES]
                if node_count + most > len(nodes):
                    _stop_at(reached, key, row, begin, fresh, moment)
                    return FULL
            since = end - window
            first, last = transfer_at[letter], transfer_at[letter + 1]
            for at in range(first, last):
                group = own[transfers[at, FROM]]
                if group >= 0 and nodes[group, LATEST] < since:
                    group = own[transfers[at, FROM]] = -1
                if group >= 0:
                    to, role = transfers[at, TO], transfers[at, TRANSFER_ROLE]
                    if to == EMIT:
                        stack[0, 0], stack[0, 1] = group, 0
                        if list_matches(nodes, since, counts, path, stack, 1, found, parts, key, row_ref[row], role, end,
                                 row_start[row], match_count + limit):  # fmt: skip
                            counts[NODES], counts[MATCHES], counts[PARTS] = (
                                node_count,
                                match_count,
                                part_count,
                            )
                            _stop_at(reached, key, row, begin, fresh, moment)
                            return FULL
                        group = np.int64(-1)
                    elif not useful[to]:
                        group = np.int64(-1)
                    elif transfers[at, TAKES]:
                        group = new_node(nodes, counts, row_ref[row], role, end, row_start[row], group)
                arriving[at] = group
            place, role = starts[begin, letter, BEGUN], starts[begin, letter, FIRST_ROLE]
            if starts[begin, letter, COMPLETE] != 0:
                if counts[MATCHES] == len(found) or counts[PARTS] + 2 > len(parts):
                    counts[NODES], counts[MATCHES], counts[PARTS] = node_count, match_count, part_count
                    _stop_at(reached, key, row, begin, fresh, moment)
                    return FULL
                report(nodes, counts, path, -1, found, parts, key, row_ref[row], role, end, row_start[row])
            begin = starts[begin, letter, NEXT_START]
            for at in range(leaving_at[letter], leaving_at[letter + 1]):
                own[leaving[at]] = -1
            for at in range(first, last):
                if arriving[at] >= 0:
                    to = transfers[at, TO]
                    if transfers[at, TAKES]:
                        own[to] = add(nodes, counts, arriving[at], own[to], spine)
                    else:
                        own[to] = (
                            arriving[at]
                            if own[to] < 0
                            else merge(nodes, counts, arriving[at], own[to], spine)
                        )
            if place >= 0 and useful[place]:
                node = new_node(nodes, counts, row_ref[row], role, end, row_start[row], -1)
                own[place] = add(nodes, counts, node, own[place], spine)
            fresh, moment = tick > 0, end
            if counts[MATCHES] - match_count > limit:
                reached[AT_KEY] = key
                return TOO_MANY
            if leftmost and counts[MATCHES] > match_count:
                keep_leftmost(counts, match_count, found, parts)
                own[:] = -1
            row += 1
        if keep:
            if fresh:
                if (
                    some_escape
                    and not reached[LET_OUT]
                    and _is_there(row_end, firsts, offsets[key], stop, moment - window)
                ):
                    _stop_at(reached, key, stop, begin, fresh, moment)
                    return ESCAPING
                reached[LET_OUT] = 0
                _let_time_go_on(
                    nodes, counts, own, arriving, transfers, transfer_at, leaving, leaving_at, tick, spine
                )
            groups[key] = own
            begun[key] = begin
    return DONE


@kernel
def _stop_at(reached, key, row, begin, fresh, moment):  # type: ignore[no-untyped-def]
    reached[AT_KEY], reached[AT_ROW], reached[BEGIN_SET] = key, row, begin
    reached[FRESH], reached[MOMENT] = fresh, moment
