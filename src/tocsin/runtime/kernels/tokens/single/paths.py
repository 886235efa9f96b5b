"""Paths of tokens: a tree of nodes that tokens share, each node an event under a name.

Paths that differ only in names share a *canonical* node.
"""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import bare, kernel
from tocsin.runtime.kernels.tokens.single.token import (
    BEGIN,
    CANON,
    CHILD,
    DEPTH,
    EMITTED,
    KEY,
    NODE,
    NODE_WIDTH,
    NODES,
    PARENT,
    REF,
    ROLE,
    SIBLING,
    START,
    TIME,
    TOKENS,
)
from tocsin.runtime.moments import NEVER
from tocsin.runtime.program import Array


def root() -> Array:
    """An empty tree of events: the root node alone."""
    nodes = np.zeros((1, NODE_WIDTH), np.int64)
    nodes[0, START] = NEVER
    nodes[0, [REF, CHILD, SIBLING, TOKENS]] = -1
    return nodes


@bare
def _new_node(nodes, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    node = counts[NODES]
    counts[NODES] += 1
    nodes[node, PARENT] = parent
    nodes[node, REF] = ref
    nodes[node, ROLE] = role
    nodes[node, TIME] = time
    nodes[node, BEGIN] = start
    nodes[node, START] = min(nodes[parent, START], start)
    nodes[node, DEPTH] = nodes[parent, DEPTH] + 1
    nodes[node, CHILD] = -1
    nodes[node, SIBLING] = nodes[parent, CHILD]
    nodes[node, CANON] = node
    nodes[node, EMITTED] = 0
    nodes[node, TOKENS] = -1
    nodes[parent, CHILD] = node
    return node


@bare
def _canonical_child(nodes, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    """The node that stands for one more event on a canonical path, whatever the event's name."""
    child = nodes[parent, CHILD]
    while child >= 0 and nodes[child, REF] == ref and nodes[child, TIME] == time:
        if role >= 0 or nodes[child, ROLE] == role:
            return nodes[child, CANON]
        child = nodes[child, SIBLING]
    return _new_node(nodes, counts, parent, ref, role, time, start)


@bare
def child(nodes, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    """The node for one more event on a path; the same node for the same event or timer under the same name."""
    canon = -1
    child = nodes[parent, CHILD]
    # Children for the current event are the youngest ones.
    while child >= 0 and nodes[child, REF] == ref and nodes[child, TIME] == time:
        if nodes[child, ROLE] == role:
            return child
        if role >= 0:  # timers of different names are different events
            canon = nodes[child, CANON]
        child = nodes[child, SIBLING]
    if canon < 0 and nodes[parent, CANON] != parent:
        canon = _canonical_child(nodes, counts, nodes[parent, CANON], ref, role, time, start)
    node = _new_node(nodes, counts, parent, ref, role, time, start)
    if canon >= 0:
        nodes[node, CANON] = canon
    return node


@bare
def compare_names(nodes, left, right):  # type: ignore[no-untyped-def]
    """Negative, zero or positive as the names on one path come before, equal or come after those on another of equal length."""
    order = np.int64(0)
    while left != right:
        if nodes[left, ROLE] != nodes[right, ROLE]:
            order = nodes[left, ROLE] - nodes[right, ROLE]  # the first difference decides, and it is met last
        left, right = nodes[left, PARENT], nodes[right, PARENT]
    return order


@kernel
def unroll(nodes, ends):  # type: ignore[no-untyped-def]
    """The events on the paths to the given nodes, first event first: offsets, refs, roles, ends and starts."""
    offsets = np.zeros(len(ends) + 1, np.int64)
    for at in range(len(ends)):
        offsets[at + 1] = offsets[at] + nodes[ends[at], DEPTH]
    refs = np.empty(offsets[-1], np.int64)
    roles = np.empty(offsets[-1], np.int64)
    times = np.empty(offsets[-1], np.int64)
    begins = np.empty(offsets[-1], np.int64)
    for at in range(len(ends)):
        node = ends[at]
        for place in range(offsets[at + 1] - 1, offsets[at] - 1, -1):
            refs[place], roles[place] = nodes[node, REF], nodes[node, ROLE]
            times[place], begins[place] = nodes[node, TIME], nodes[node, BEGIN]
            node = nodes[node, PARENT]
    return offsets, refs, roles, times, begins


@kernel
def first_of(nodes, ends):  # type: ignore[no-untyped-def]
    """The node of the first event on the path to each of the given nodes."""
    first = np.empty(len(ends), np.int64)
    for at in range(len(ends)):
        node = ends[at]
        while nodes[node, PARENT] != 0:
            node = nodes[node, PARENT]
        first[at] = node
    return first


@kernel
def reachable(nodes, ends, count):  # type: ignore[no-untyped-def]
    """Which of the first `count` nodes lie on the path to one of `ends`, or on its canonical path."""
    keep = np.zeros(count, np.bool_)
    keep[0] = True
    for end in ends:
        for node in (end, nodes[end, CANON]):
            while not keep[node]:
                keep[node] = True
                node = nodes[node, PARENT]
    return keep


def compacted(rows: Array, nodes: Array, count: int) -> tuple[Array, Array]:
    """Sort tokens by key, and keep only those of the first `count` nodes that they need."""
    rows = rows[np.argsort(rows[:, KEY], kind="stable")]
    keep = reachable(nodes, np.ascontiguousarray(rows[:, NODE]), count)
    place = np.cumsum(keep) - 1
    kept = nodes[:count][keep]
    rows[:, NODE] = place[rows[:, NODE]]
    for column in (PARENT, CANON):
        kept[:, column] = place[kept[:, column]]
    # Which tokens, children and matches a node has matters only within one batch.
    kept[:, [CHILD, SIBLING, TOKENS]] = -1
    kept[:, EMITTED] = 0
    return rows, kept
