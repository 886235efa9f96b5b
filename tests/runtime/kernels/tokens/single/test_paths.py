"""The tree of events that tokens share."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.kernels.tokens.single.paths import child, compacted, compare_names, first_of, root, unroll
from tocsin.runtime.kernels.tokens.single.token import CANON, COUNTERS, KEY, NODE, NODES, REF, TOKEN_WIDTH
from tocsin.runtime.program import Array


def tree() -> tuple[Array, Array]:
    nodes = np.concatenate([root(), np.zeros((9, root().shape[1]), np.int64)])
    counts = np.zeros(COUNTERS, np.int64)
    counts[NODES] = 1
    return nodes, counts


def test_an_event_under_two_names_has_one_canonical_node() -> None:
    nodes, counts = tree()
    first = child(nodes, counts, 0, 7, 0, 10, 10)
    other = child(nodes, counts, 0, 7, 1, 10, 10)
    assert child(nodes, counts, 0, 7, 0, 10, 10) == first
    assert other != first
    assert nodes[other, CANON] == nodes[first, CANON] == first
    assert compare_names(nodes, first, other) < 0 < compare_names(nodes, other, first)


def test_a_path_is_read_from_its_first_event() -> None:
    nodes, counts = tree()
    first = child(nodes, counts, 0, 7, 0, 10, 8)
    last = child(nodes, counts, first, 9, 1, 12, 11)
    ends = np.array([last, first])
    offsets, refs, roles, times, begins = unroll(nodes, ends)
    assert (offsets.tolist(), refs.tolist(), roles.tolist()) == ([0, 2, 3], [7, 9, 7], [0, 1, 0])
    assert (times.tolist(), begins.tolist()) == ([10, 12, 10], [8, 11, 8])
    assert first_of(nodes, ends).tolist() == [first, first]


def test_nodes_that_no_token_needs_go() -> None:
    nodes, counts = tree()
    child(nodes, counts, 0, 7, 0, 10, 10)
    kept = child(nodes, counts, 0, 8, 0, 11, 11)
    rows = np.zeros((1, TOKEN_WIDTH), np.int64)
    rows[0, [KEY, NODE]] = 0, kept
    left, small = compacted(rows, nodes, int(counts[NODES]))
    assert small[:, REF].tolist() == [-1, 8]
    assert left[0, NODE] == 1
