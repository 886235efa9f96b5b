"""Groups of partial matches as heaps that share their nodes; `kernel` explains them."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.growing import copy_row, grown
from tocsin.runtime.moments import NEVER

# Columns of a node. DEPTH is the distance to the nearest node without a right branch.
REF, ROLE, TIME, BEGIN, BEFORE, LATEST, LEFT, RIGHT, DEPTH, NODE_WIDTH = range(10)
SPINE = 64  # no right branch of a heap of fewer than 2^64 nodes is longer
NODES = 0  # the counter of nodes


@kernel
def merge(nodes, counts, one, other, spine):  # type: ignore[no-untyped-def]
    """Merge two heaps into a new one; neither is changed. There must be room for the nodes of two right branches."""
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
        copy_row(nodes[spine[at]], nodes[node])
        left = nodes[node, LEFT]
        if left < 0 or nodes[left, DEPTH] < nodes[rest, DEPTH]:
            nodes[node, LEFT], nodes[node, RIGHT] = rest, left
        else:
            nodes[node, RIGHT] = rest
        right = nodes[node, RIGHT]
        nodes[node, DEPTH] = 1 if right < 0 else nodes[right, DEPTH] + 1
        rest = node
    return rest


@kernel
def add(nodes, counts, node, group, spine):  # type: ignore[no-untyped-def]
    """Add a new node, which belongs to no heap yet, to a group."""
    if group < 0:
        return node
    if nodes[node, LATEST] >= nodes[group, LATEST]:
        if (
            group > node
        ):  # nodes below a node precede it, and others that came with this one were merged since
            copy_row(nodes[node], nodes[counts[NODES]])
            node = counts[NODES]
            counts[NODES] += 1
        nodes[node, LEFT] = group
        return node
    return merge(nodes, counts, node, group, spine)


@kernel
def new_node(nodes, counts, ref, role, time, begin, before):  # type: ignore[no-untyped-def]
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


@kernel
def _copy_of(copies, node):  # type: ignore[no-untyped-def]
    return copies[node] if node in copies else np.int64(-1)


@kernel
def begun_at(nodes, counts, group, time, spine):  # type: ignore[no-untyped-def]
    """A group of those partial matches whose first event ended at `time`, which no window ends; -1 if there are none.

    Visits every node of the group: nothing in a heap leads to its oldest starts.
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
    copies = {np.int64(-1): np.int64(-1)}  # copies of a node and of everything in its branches
    for node in sorted(list(below)):  # nodes below a node precede it  # noqa: C414
        if counts[NODES] + 4 * SPINE > len(nodes):
            nodes = grown(nodes, 2 * len(nodes))
        copy, before = np.int64(-1), _copy_of(copies, nodes[node, BEFORE])
        if before >= 0 or (nodes[node, BEFORE] < 0 and nodes[node, TIME] == time):
            copy = new_node(
                nodes,
                counts,
                nodes[node, REF],
                nodes[node, ROLE],
                nodes[node, TIME],
                nodes[node, BEGIN],
                before,
            )
            nodes[copy, LATEST] = NEVER  # no window ends it
        for column in (LEFT, RIGHT):
            other = _copy_of(copies, nodes[node, column])
            if other >= 0:
                copy = other if copy < 0 else merge(nodes, counts, copy, other, spine)
        copies[node] = copy
    return nodes, copies[group]


@kernel
def compacted(nodes, groups, since):  # type: ignore[no-untyped-def]
    """The nodes that groups still need, without those that began before `since`.

    `groups` (keys, places) are -1 where they are empty; they are renumbered. The second result is the number of nodes that
    each key needs.
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
    for node in range(len(nodes) - 1, -1, -1):  # nodes below a node precede it
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
        copy_row(nodes[node], kept[place[node]])
        for column in (BEFORE, LEFT, RIGHT):
            below = nodes[node, column]
            kept[place[node], column] = place[below] if below >= 0 else -1
        # Removed branches may have left the heap out of balance.
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
