"""The kernel over groups of partial matches: an event moves whole groups (see `machine`).

A group is a heap of *nodes*. A node is an event together with the group it continues (`BEFORE`), so it stands for as many
partial matches as that group has. Groups are shared and never changed: a new event on top of a group of a thousand is one
node. The heap is ordered by `LATEST`, the end of the latest first event below a node: once the window has passed that time,
nothing below is needed any more. So listing matches takes time proportional to the matches listed, whatever else there is.

The heaps are leftist, and merging two takes the logarithm of their size; the usual case, in which the new node has the latest
start, is one step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.growing import copy_row, grown
from tocsin.runtime.kernels.tokens.groups.enumerate import (
    COUNTERS,
    MATCH_WIDTH,
    MATCHES,
    PART_WIDTH,
    PARTS,
    Completing,
    Listing,
    keep_leftmost,
    list_matches,
    report,
)
from tocsin.runtime.kernels.tokens.groups.heap import LATEST, NODES, SPINE, add, begun_at, merge, new_node
from tocsin.runtime.kernels.tokens.groups.letter_tables import (
    BEGUN,
    COMPLETE,
    EMIT,
    FIRST_ROLE,
    FROM,
    NEXT_START,
    TAKES,
    TO,
)
from tocsin.runtime.kernels.tokens.groups.letter_tables import ROLE as TRANSFER_ROLE
from tocsin.runtime.program import Array

# The position of the kernel: its key and row (-1 before the first of a key), the key's start set, whether something is fresh
# and since when, how many nodes there were before, and whether escapes are done; and why it returned.
AT_KEY, AT_ROW, BEGIN_SET, FRESH, MOMENT, KEPT, LET_OUT, REACHED = range(8)
DONE, FULL, TOO_MANY, ESCAPING = range(4)


MOST_PARTS = 1 << 25  # events of the matches of one call: more than a gigabyte


class Task(NamedTuple):
    """How the rows are fed."""

    leftmost: bool
    keep: bool  # whether `groups` and `begun` are written; if not, nodes are reused for the next key
    limit: int  # matches of one event


class Heaps(NamedTuple):
    """The groups of all keys before the rows, updated in place to those after them."""

    roots: Array  # int64 (keys, places): -1 for an empty group
    begun: Array  # int64 (keys,): sets of start states
    nodes: Array  # int64 (N, NODE_WIDTH)
    firsts: Array  # int64: the times of the first events among the nodes, sorted


class Room(NamedTuple):
    """Scratch arrays of the kernel, each as large as it can need to be."""

    useful: Array  # bool (places,)
    own: Array  # int64 (places,): the groups of the present key
    arriving: Array  # int64 (transfers,)
    spine: Array  # int64 (2 * SPINE,)
    reached: Array  # int64 (REACHED,)
    most: int  # nodes that one event can need


@kernel
def _next_row(letters, signature, row, stop):  # type: ignore[no-untyped-def]
    """The next relevant row; most are not, so this loop is their only cost."""
    while row < stop and letters[signature[row]] == 0:
        row += 1
    return row


@kernel
def _let_time_go_on(moves, room, nodes, counts):  # type: ignore[no-untyped-def]
    """Advance time: nothing is fresh any more, and groups move without an event."""
    own, arriving, transfers, leaving = room.own, room.arriving, moves.transfers, moves.leaving
    first, last = moves.transfer_at[moves.tick], moves.transfer_at[moves.tick + 1]
    for at in range(first, last):
        arriving[at] = own[transfers[at, FROM]]
    for at in range(moves.leaving_at[moves.tick], moves.leaving_at[moves.tick + 1]):
        own[leaving[at]] = -1
    for at in range(first, last):
        to = transfers[at, TO]
        if own[to] < 0:
            own[to] = arriving[at]
        elif arriving[at] >= 0:
            own[to] = merge(nodes, counts, arriving[at], own[to], room.spine)


@kernel
def _is_there(ends, firsts, first, last, time):  # type: ignore[no-untyped-def]
    """Whether an event of these rows, or the first event of a partial match, ended at `time`; both are sorted."""
    at = first + np.searchsorted(ends[first:last], time)
    if at < last and ends[at] == time:
        return True
    at = np.searchsorted(firsts, time)
    return at < len(firsts) and firsts[at] == time


@kernel
def _let_some_escape(nodes, counts, own, escapes, time, spine):  # type: ignore[no-untyped-def]
    """Let partial matches that began at `time`, one window ago, and took an event of this very moment escape the window."""
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
    """Which places lead anywhere. A group need not go to one that no present letter leaves, unless others may still come."""
    useful = np.full(places, keep)
    if escapes is not None:
        for at in range(len(escapes)):
            useful[escapes[at, 0]] = True
    for at in range(len(transfers)):
        useful[transfers[at, FROM]] = True
    return useful


@kernel
def run(rows, moves, groups, task, escapes):  # type: ignore[no-untyped-def]
    """Feed the rows of every key to its groups.

    `escapes` is None if nothing can escape: then what lets partial matches escape, a third of this kernel, is not compiled.

    Returns matches, their events, the nodes, and 0; or, if one event completes too many matches, the number of the key,
    from 1, in place of 0.
    """
    places = groups.roots.shape[1]
    most = 0
    for letter in range(len(moves.transfer_at) - 1):
        most = max(most, moves.transfer_at[letter + 1] - moves.transfer_at[letter])
    most = (most + 1) * (2 * SPINE + 1)
    reached = np.zeros(REACHED, np.int64)
    reached[AT_ROW], reached[KEPT] = -1, len(groups.nodes)
    room = Room(
        _useful(moves.transfers, escapes, places, task.keep),
        np.empty(places, np.int64),
        np.empty(len(moves.transfers), np.int64),
        np.empty(2 * SPINE, np.int64),
        reached,
        most,
    )
    counts = np.zeros(COUNTERS, np.int64)
    counts[NODES] = len(groups.nodes)
    nodes = grown(groups.nodes, len(groups.nodes) + 4 * most + 1024)
    path = np.empty((16, 1), np.int64)
    stack = np.empty((64, 2), np.int64)
    found = np.empty((1024, MATCH_WIDTH), np.int64)
    parts = np.empty((4096, PART_WIDTH), np.int64)
    while True:
        listing = Listing(nodes, counts, path, stack, found, parts)
        stopped = _run_keys(rows, moves, groups, task, escapes, room, listing)
        if escapes is not None and stopped == ESCAPING:
            since = reached[MOMENT] - moves.window
            nodes = _let_some_escape(nodes, counts, room.own, escapes, since, room.spine)
            reached[LET_OUT] = 1
            continue
        if stopped != FULL:
            overflow = reached[AT_KEY] + 1 if stopped == TOO_MANY else 0
            return found[: counts[MATCHES]], parts[: counts[PARTS]], nodes[: counts[NODES]], overflow
        if counts[NODES] + most > len(nodes):
            nodes = grown(nodes, 2 * len(nodes))
        elif len(parts) - counts[PARTS] > 2 * task.limit + 4096 or len(parts) >= MOST_PARTS:
            # The next event alone needs more room than that, or all together do.
            return found[:0], parts[:0], nodes[:0], reached[AT_KEY] + 1
        else:
            path, stack = grown(path, 2 * len(path)), grown(stack, 2 * len(stack))
            found, parts = grown(found, 2 * len(found)), grown(parts, 2 * len(parts))


@kernel
def _run_keys(rows, moves, groups, task, escapes, room, listing):  # type: ignore[no-untyped-def]
    """Continue from the position in `reached` to the end, or until a table is full or something may escape.

    In these cases the current event is processed again from its beginning.

    The caller grows tables, because numba would count the references to a table that changes here at every use of it.
    """
    offsets, letters, signature, row_start, row_end, row_ref = rows
    transfers, transfer_at, leaving, leaving_at, starts = (
        moves.transfers,
        moves.transfer_at,
        moves.leaving,
        moves.leaving_at,
        moves.starts,
    )
    window, tick = moves.window, moves.tick
    leftmost, keep, limit = task
    useful, own, arriving, spine, reached, most = room
    nodes, counts, found, parts = listing.nodes, listing.counts, listing.found, listing.parts
    for key in range(reached[AT_KEY], len(offsets) - 1):
        if offsets[key] == offsets[key + 1]:
            continue
        if reached[AT_ROW] < 0:
            copy_row(groups.roots[key], own)
            begin = groups.begun[key]
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
                    escapes is not None
                    and not reached[LET_OUT]
                    and _is_there(row_end, groups.firsts, offsets[key], row, moment - window)
                ):
                    _stop_at(reached, key, row, begin, fresh, moment)
                    return ESCAPING
                reached[LET_OUT] = 0
                _let_time_go_on(moves, room, nodes, counts)
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
                        event = Completing(key, row_ref[row], role, end, row_start[row])
                        if not list_matches(listing, group, since, event, match_count + limit):
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
                report(listing, -1, Completing(key, row_ref[row], role, end, row_start[row]))
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
                keep_leftmost(listing, match_count)
                own[:] = -1
            row += 1
        if keep:
            if fresh:
                if (
                    escapes is not None
                    and not reached[LET_OUT]
                    and _is_there(row_end, groups.firsts, offsets[key], stop, moment - window)
                ):
                    _stop_at(reached, key, stop, begin, fresh, moment)
                    return ESCAPING
                reached[LET_OUT] = 0
                _let_time_go_on(moves, room, nodes, counts)
            copy_row(own, groups.roots[key])
            groups.begun[key] = begin
    return DONE


@kernel
def _stop_at(reached, key, row, begin, fresh, moment):  # type: ignore[no-untyped-def]
    reached[AT_KEY], reached[AT_ROW], reached[BEGIN_SET] = key, row, begin
    reached[FRESH], reached[MOMENT] = fresh, moment
