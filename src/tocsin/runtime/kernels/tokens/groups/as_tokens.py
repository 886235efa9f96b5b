"""Conversion of groups back to single partial matches, in the middle of a stream."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.kernels.tokens.groups import heap
from tocsin.runtime.kernels.tokens.groups.eligible import timer_of
from tocsin.runtime.kernels.tokens.groups.letter_tables import ESCAPED, Groups
from tocsin.runtime.kernels.tokens.single import token
from tocsin.runtime.kernels.tokens.single.memory import Tokens, initial
from tocsin.runtime.kernels.tokens.single.paths import root
from tocsin.runtime.kernels.tokens.single.token import layout
from tocsin.runtime.moments import LONG_AGO, NEVER
from tocsin.runtime.program import TIMER_AFTER, Array, Detector, Program


def as_tokens(detector: Detector, groups: Groups) -> Tokens:
    """Every partial match of the groups as a token, and the remaining start states."""
    program = detector.program
    assert isinstance(program, Program)
    where = layout(program)
    timers = timer_of(program) or {}
    nodes = [root()]
    rows: list[Array] = []
    count = 1
    for at, key in enumerate(groups.keys.tolist()):
        for place, (ways, index) in enumerate(groups.known.places):
            if groups.roots[at, place] < 0:
                continue
            for path in _paths(groups.nodes, int(groups.roots[at, place])):
                chain = _chain(groups.nodes, path, count)
                nodes.append(chain)
                count += len(chain)
                how, states = ways[index]
                for state in states:
                    row = np.full(where.width, -1, np.int64)
                    row[[token.STATE, token.KEY, token.NODE]] = state, key, count - 1
                    row[token.LAST_START] = chain[-1, token.BEGIN]
                    row[token.LAST_END] = chain[-1, token.TIME]
                    # Events have no length and lie after all earlier ones, so no strong link holds any of them back.
                    row[where.link_at : where.timer_at] = LONG_AGO
                    row[where.timer_at : where.next_at] = NEVER
                    if state in timers and not how & ESCAPED:
                        deadline = chain[0, token.TIME] + program.timers[timers[state], TIMER_AFTER]
                        row[where.timer_at + timers[state]] = deadline
                    rows.append(row)
    starts = program.starts.tolist()
    alive = {
        key: sum(1 << n for n, start in enumerate(starts) if start in groups.known.start_sets[begun])
        for key, begun in zip(groups.keys.tolist(), groups.begun.tolist(), strict=True)
        if len(groups.known.start_sets[begun]) < len(set(starts))
    }
    table = np.array(rows, np.int64).reshape(-1, where.width)
    return initial(detector)._replace(rows=table, nodes=np.concatenate(nodes), alive=alive)


def _paths(nodes: Array, root: int) -> list[list[int]]:
    """The nodes of each partial match of a group, first event first."""
    found: list[list[int]] = []
    waiting: list[tuple[int, list[int]]] = [(root, [])]
    while waiting:
        node, after = waiting.pop()
        if node < 0:
            continue
        waiting += [(int(nodes[node, side]), after) for side in (heap.LEFT, heap.RIGHT)]
        path = [node, *after]
        if nodes[node, heap.BEFORE] < 0:
            found.append(path)
        else:
            waiting.append((int(nodes[node, heap.BEFORE]), path))
    return found


def _chain(nodes: Array, path: list[int], first: int) -> Array:
    """A path as nodes of the token kernel, numbered from `first` on."""
    own = nodes[path]
    chain = np.full((len(path), token.NODE_WIDTH), -1, np.int64)
    numbers = first + np.arange(len(path))
    chain[:, token.PARENT] = np.concatenate([[0], numbers[:-1]])
    for column, taken in (
        (token.REF, heap.REF),
        (token.ROLE, heap.ROLE),
        (token.TIME, heap.TIME),
        (token.BEGIN, heap.BEGIN),
    ):
        chain[:, column] = own[:, taken]
    chain[:, token.START] = np.minimum.accumulate(own[:, heap.BEGIN])
    chain[:, token.DEPTH] = 1 + np.arange(len(path))
    chain[:, token.CANON] = numbers
    chain[:, token.EMITTED] = 0
    return chain
