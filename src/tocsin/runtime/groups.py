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
NEVER = np.int64(1) << np.int64(62)  # the LATEST of what no window ends
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
def _is_there(times, first, last, time):  # type: ignore[no-untyped-def]
    """Whether a time is among some that are sorted."""
    at = first + np.searchsorted(times[first:last], time)
    return at < last and times[at] == time


@nb.njit(cache=True)
def _copy_of(copies, node):  # type: ignore[no-untyped-def]
    return copies[node] if node in copies else np.int64(-1)


@nb.njit(cache=True)
def _begun_at(nodes, counts, group, time, spine):  # type: ignore[no-untyped-def]
    """The partial matches of a group whose first event ended at a time, for ever; -1 if there are none.

    Looks at every node of the group: nothing in a heap leads to its oldest starts.
    """
    below = {group}
    waiting = [group]
    while len(waiting):
        node = waiting.pop()
        for column in (BEFORE, LEFT, RIGHT):
            other = nodes[node, column]
            if other >= 0 and nodes[other, LATEST] >= time and other not in below:
                below.add(other)
                waiting.append(other)
    copies = {np.int64(-1): np.int64(-1)}  # of a node and all that is at its sides
    for node in sorted(list(below)):  # what is below a node stands before it  # noqa: C414
        if counts[NODES] + 4 * _SPINE > len(nodes):
            nodes = grown(nodes, 2 * len(nodes))
        copy, before = np.int64(-1), _copy_of(copies, nodes[node, BEFORE])
        if before >= 0 or (nodes[node, BEFORE] < 0 and nodes[node, TIME] == time):
            copy = _new(
                nodes,
                counts,
                nodes[node, REF],
                nodes[node, ROLE],
                nodes[node, TIME],
                nodes[node, BEGIN],
                before,
            )
            nodes[copy, LATEST] = NEVER
        for column in (LEFT, RIGHT):
            other = _copy_of(copies, nodes[node, column])
            if other >= 0:
                copy = other if copy < 0 else _merge(nodes, counts, copy, other, spine)
        copies[node] = copy
    return nodes, copies[group]


@nb.njit(cache=True)
def _let_some_escape(nodes, counts, own, escapes, time, spine):  # type: ignore[no-untyped-def]
    """What began at a time, one window ago, and took an event of this very moment may go on without a window."""
    for at in range(len(escapes)):
        group, to = own[escapes[at, 0]], escapes[at, 1]
        if group >= 0 and nodes[group, LATEST] >= time:
            nodes, free = _begun_at(nodes, counts, group, time, spine)
            if free >= 0:
                if counts[NODES] + 4 * _SPINE > len(nodes):
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
    spine = np.empty(2 * _SPINE, np.int64)
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
    most = (most + 1) * (2 * _SPINE + 1)  # nodes that one event can need
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
