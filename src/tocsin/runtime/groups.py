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
from tocsin.runtime.machine import BEGUN, COMPLETE, EMIT, FIRST_ROLE, FROM, NEXT_START, TAKES, TO
from tocsin.runtime.machine import ROLE as TRANSFER_ROLE
from tocsin.runtime.program import Array

# Columns of a node. DEPTH is the distance to the nearest place without a right branch.
REF, ROLE, TIME, BEGIN, BEFORE, LATEST, LEFT, RIGHT, DEPTH, NODE_WIDTH = range(10)
# Columns of a match, and of the events of matches.
MATCH_KEY, MATCH_LENGTH, MATCH_WIDTH = range(3)
PART_REF, PART_ROLE, PART_TIME, PART_BEGIN, PART_WIDTH = range(5)
# Counters.
NODES, MATCHES, PARTS, COUNTERS = range(4)
# Where the kernel is: its key and row (-1 before the first of a key), the key's start set, whether something is fresh and since
# when, and how many nodes were there before; and why it came back.
AT_KEY, AT_ROW, BEGIN_SET, FRESH, MOMENT, KEPT, REACHED = range(7)
DONE, FULL, TOO_MANY = range(3)
_SPINE = 64  # no right branch of a heap of fewer than 2^64 nodes is longer


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order."""

    offsets: Array  # int64 (keys+1,)
    letter: Array  # int64 by signature
    signature: Array  # int32 (R,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ref: Array  # int64 (R,)


@nb.njit(cache=True)
def _merge(nodes, counts, one, other, spine):  # type: ignore[no-untyped-def]
    """The heap of both; neither is changed. Room for the nodes of two right branches must be there."""
    length = 0
    while one >= 0 and other >= 0:
        if nodes[other, LATEST] > nodes[one, LATEST]:
            one, other = other, one
        spine[length] = one
        length += 1
        one = nodes[one, RIGHT]
    rest = one if one >= 0 else other
    for at in range(length - 1, -1, -1):
        node = counts[NODES]
        counts[NODES] += 1
        nodes[node] = nodes[spine[at]]
        left = nodes[node, LEFT]
        if left < 0 or nodes[left, DEPTH] < nodes[rest, DEPTH]:
            nodes[node, LEFT], nodes[node, RIGHT] = rest, left
        else:
            nodes[node, RIGHT] = rest
        right = nodes[node, RIGHT]
        nodes[node, DEPTH] = 1 if right < 0 else nodes[right, DEPTH] + 1
        rest = node
    return rest


@nb.njit(cache=True)
def _add(nodes, counts, node, group, spine):  # type: ignore[no-untyped-def]
    """A group with one more node, which is new and belongs to no heap yet."""
    if group < 0:
        return node
    if nodes[node, LATEST] >= nodes[group, LATEST]:
        nodes[node, LEFT] = group
        return node
    return _merge(nodes, counts, node, group, spine)


@nb.njit(cache=True)
def _new(nodes, counts, ref, role, time, begin, before):  # type: ignore[no-untyped-def]
    node = counts[NODES]
    counts[NODES] += 1
    nodes[node, REF] = ref
    nodes[node, ROLE] = role
    nodes[node, TIME] = time
    nodes[node, BEGIN] = begin
    nodes[node, BEFORE] = before
    nodes[node, LATEST] = time if before < 0 else nodes[before, LATEST]
    nodes[node, LEFT] = -1
    nodes[node, RIGHT] = -1
    nodes[node, DEPTH] = 1
    return node


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
def _useful(transfers, places, keep):  # type: ignore[no-untyped-def]
    """Which places lead on. Where none of the letters there are does, a group need not go, unless others may still come."""
    useful = np.full(places, keep)
    for at in range(len(transfers)):
        useful[transfers[at, FROM]] = True
    return useful


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
    leftmost,
    groups,
    begun,
    nodes,
    keep,
    limit,
):
    """Feed the rows of every key to its groups.

    `groups` (keys, places) are the groups before and after, `begun` (keys) the sets of start states; without `keep` they are
    left as they were, and nodes are used again for the next key. Where one event completes more than `limit` matches it
    stops; the last number is then that of the key, from 1.
    """
    places = groups.shape[1]
    useful = _useful(transfers, places, keep)
    own = np.empty(places, np.int64)
    arriving = np.empty(len(transfers), np.int64)
    spine = np.empty(2 * _SPINE, np.int64)
    path = np.empty((16, 1), np.int64)
    stack = np.empty((64, 2), np.int64)
    found = np.empty((1024, MATCH_WIDTH), np.int64)
    parts = np.empty((4096, PART_WIDTH), np.int64)
    counts = np.zeros(COUNTERS, np.int64)
    counts[NODES] = len(nodes)
    most = 0
    for letter in range(len(transfer_at) - 1):
        most = max(most, transfer_at[letter + 1] - transfer_at[letter])
    most = (most + 1) * (2 * _SPINE + 1)  # nodes that one event can need
    reached = np.zeros(REACHED, np.int64)
    reached[AT_ROW], reached[KEPT] = -1, len(nodes)
    nodes = grown(nodes, len(nodes) + 4 * most + 1024)
    while True:
        stopped = _run_keys(
            rows.offsets, rows.letter, rows.signature, rows.start, rows.end, rows.ref,
            transfers, transfer_at, leaving, leaving_at, starts, window, tick, leftmost, useful, most,
            groups, begun, own, arriving, spine, path, stack, nodes, found, parts, counts, reached, keep, limit,
        )  # fmt: skip
        if stopped != FULL:
            overflow = reached[AT_KEY] + 1 if stopped == TOO_MANY else 0
            return found[: counts[MATCHES]], parts[: counts[PARTS]], nodes[: counts[NODES]], overflow
        if counts[NODES] + most > len(nodes):
            nodes = grown(nodes, 2 * len(nodes))
        else:
            path, stack = grown(path, 2 * len(path)), grown(stack, 2 * len(stack))
            found, parts = grown(found, 2 * len(found)), grown(parts, 2 * len(parts))


@nb.njit(cache=True)
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
    """Go on from where `reached` says, to the end or until a table is full; then an event is begun anew.

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
                        if _list(nodes, since, counts, path, stack, 1, found, parts, key, row_ref[row], role, end,
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
                        group = _new(nodes, counts, row_ref[row], role, end, row_start[row], group)
                arriving[at] = group
            place, role = starts[begin, letter, BEGUN], starts[begin, letter, FIRST_ROLE]
            if starts[begin, letter, COMPLETE] != 0:
                if counts[MATCHES] == len(found) or counts[PARTS] + 2 > len(parts):
                    counts[NODES], counts[MATCHES], counts[PARTS] = node_count, match_count, part_count
                    _stop_at(reached, key, row, begin, fresh, moment)
                    return FULL
                _report(nodes, counts, path, -1, found, parts, key, row_ref[row], role, end, row_start[row])
            begin = starts[begin, letter, NEXT_START]
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
            if place >= 0 and useful[place]:
                node = _new(nodes, counts, row_ref[row], role, end, row_start[row], -1)
                own[place] = _add(nodes, counts, node, own[place], spine)
            fresh, moment = tick > 0, end
            if counts[MATCHES] - match_count > limit:
                reached[AT_KEY] = key
                return TOO_MANY
            if leftmost and counts[MATCHES] > match_count:
                _leftmost(counts, match_count, found, parts)
                own[:] = -1
            row += 1
        if keep:
            if fresh:
                _let_time_go_on(
                    nodes, counts, own, arriving, transfers, transfer_at, leaving, leaving_at, tick, spine
                )
            groups[key] = own
            begun[key] = begin
    return DONE


@nb.njit(cache=True)
def _stop_at(reached, key, row, begin, fresh, moment):  # type: ignore[no-untyped-def]
    reached[AT_KEY], reached[AT_ROW], reached[BEGIN_SET] = key, row, begin
    reached[FRESH], reached[MOMENT] = fresh, moment


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


@nb.njit(cache=True)
def compacted(nodes, groups, since):  # type: ignore[no-untyped-def]
    """The nodes that groups still need; what began before `since` is left out.

    `groups` (keys, places) are -1 where they are empty; they are changed to where they are then. The second result is how many
    nodes each key needs.
    """
    roots, places = groups.reshape(-1), groups.shape[1]
    owner = np.full(len(nodes), -1, np.int64)  # no node serves two keys
    sizes = np.zeros(len(groups), np.int64)
    place = np.full(len(nodes), -1, np.int64)
    needed = np.zeros(len(nodes), np.bool_)
    for at in range(len(roots)):
        if roots[at] >= 0 and nodes[roots[at], LATEST] < since:
            roots[at] = -1
        elif roots[at] >= 0:
            needed[roots[at]] = True
            owner[roots[at]] = at // places
    for node in range(len(nodes) - 1, -1, -1):  # what is below a node stands before it
        if needed[node]:
            for column in (BEFORE, LEFT, RIGHT):
                below = nodes[node, column]
                if below >= 0 and nodes[below, LATEST] >= since:
                    needed[below] = True
                    owner[below] = owner[node]
    count = 0
    for node in range(len(nodes)):
        if needed[node]:
            place[node] = count
            count += 1
            sizes[owner[node]] += 1
    kept = np.empty((count, NODE_WIDTH), np.int64)
    for node in range(len(nodes)):
        if not needed[node]:
            continue
        kept[place[node]] = nodes[node]
        for column in (BEFORE, LEFT, RIGHT):
            below = nodes[node, column]
            kept[place[node], column] = place[below] if below >= 0 else -1
        # Branches that went away may have left the heap out of balance.
        own = place[node]
        left, right = kept[own, LEFT], kept[own, RIGHT]
        if right >= 0 and (left < 0 or kept[left, DEPTH] < kept[right, DEPTH]):
            left, right = right, left
        kept[own, LEFT], kept[own, RIGHT] = left, right
        kept[own, DEPTH] = 1 if right < 0 else kept[right, DEPTH] + 1
    for at in range(len(roots)):
        if roots[at] >= 0:
            roots[at] = place[roots[at]]
    return kept, sizes
