"""Detection over groups: from rows to letters, the state between batches, and the way back to single tokens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.errors import LimitError
from tocsin.runtime import groups as kernel
from tocsin.runtime import heap, tokens
from tocsin.runtime.found import Matches
from tocsin.runtime.keys import Keys
from tocsin.runtime.limits import shown_key, too_many_partial_matches
from tocsin.runtime.listing import matches_of
from tocsin.runtime.machine import ESCAPED, MOST_QUESTIONS, Known, Machine, Tables, Unsuitable
from tocsin.runtime.program import NOTHING, Array, Choice, Program
from tocsin.runtime.window import timer_of


class Groups(NamedTuple):
    """The partial matches of one detector, in groups by key and place (see `groups`)."""

    keys: Array  # int64 (K,)
    roots: Array  # int64 (K, places): -1 for an empty group
    begun: Array  # int64 (K,): which of the start sets
    nodes: Array  # int64 (N, NODE_WIDTH)
    known: Known
    fed: int  # when the last event ended


class Events(NamedTuple):
    """Rows of all keys, sorted by key and then in the total order; signature `s` has the bits of `bits[s]`."""

    offsets: Array  # int64 (keys+1,)
    start: Array
    end: Array
    ref: Array
    signature: Array  # int32
    bits: Array  # uint64 (signatures, words)


def no_groups() -> Groups:
    """Before the first event."""
    empty = np.empty(0, np.int64)
    nodes = np.empty((0, heap.NODE_WIDTH), np.int64)
    return Groups(empty, np.empty((0, 0), np.int64), empty, nodes, Known(), int(tokens.LONG_AGO))


def behind(fed: int, events: Events) -> bool:
    """Whether an event comes before one that was fed, which happens only when events are taken as they arrive.

    Then it depends on each partial match whether it can still use the event.
    """
    return fed > int(tokens.LONG_AGO) and int(events.end.min(initial=tokens.NEVER)) <= fed


def tables_for(
    machine: Machine, program: Program, choice: Choice, known: Known, events: Events
) -> tuple[Tables, Array]:
    """The tables of a machine for a state and these events, and the letter of each signature."""
    masks = _masks(program, events.bits)
    distinct = np.unique(masks)
    wanted = [int(mask) for mask in distinct if mask or program.leaves_out == NOTHING]
    tables = machine.with_masks([*known.masks, *wanted])
    if choice.matches == "leftmost" and not tables.monotone:
        raise Unsuitable
    own = np.array([tables.letters.get(int(mask), 0) for mask in distinct], np.int64)
    return tables, own[np.searchsorted(distinct, masks)]


def _masks(program: Program, bits: Array) -> Array:
    if len(program.specs) > MOST_QUESTIONS:
        raise Unsuitable
    masks = np.zeros(len(bits), np.int64)
    for number, bit in enumerate(program.specs[:, 0].tolist()):
        masks |= ((bits[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)).astype(np.int64) << number
    return masks


def run(
    choice: Choice,
    before: Groups,
    tables: Tables,
    letters: Array,
    events: Events,
    until: int,
    keep: bool,
    limit: int,
    keys: Keys,
) -> tuple[Matches, Groups]:
    """Feed events to the groups. More than `limit` matches of one event, or nodes to keep of one key, are an error."""
    roots = np.full((keys.size, len(tables.places)), -1, np.int64)
    begun = np.zeros(keys.size, np.int64)
    if len(before.keys):
        places, starts = tables.numbers_of(before.known)
        roots[before.keys[:, None], places] = before.roots
        begun[before.keys] = starts[before.begun]
    found, parts, nodes, overflow = kernel.run(
        kernel.Rows(events.offsets, letters, events.signature, events.start, events.end, events.ref),
        tables.transfers,
        tables.transfer_at,
        tables.leaving,
        tables.leaving_at,
        tables.starts,
        tables.window,
        tables.tick,
        tables.escapes,
        choice.matches == "leftmost",
        roots,
        begun,
        before.nodes,
        _firsts(before) if len(tables.escapes) else np.empty(0, np.int64),
        keep,
        limit,
    )
    if overflow:
        raise LimitError(
            "too-many-matches",
            f"one event completes more than {limit:,} matches (key: {shown_key(keys.value(overflow - 1))})",
            hint="take = count or first n, bound the pattern by a timer, as in ([A], [B])_{T1=1h}, or choose a finer key",
        )
    matches = matches_of(found, parts)
    if not keep:
        return matches, no_groups()
    kept, sizes = heap.compacted(nodes, roots, until - tables.window + 1)
    if sizes.max(initial=0) > limit:
        raise too_many_partial_matches(limit, keys.value(int(sizes.argmax())))
    alive = np.flatnonzero((roots >= 0).any(axis=1) | (begun != 0))
    fed = max(before.fed, int(events.end.max(initial=tokens.LONG_AGO)))
    return matches, Groups(alive, roots[alive], begun[alive], kept, tables.known, fed)


def _firsts(before: Groups) -> Array:
    """When the first events of partial matches ended, sorted."""
    return np.sort(before.nodes[before.nodes[:, heap.BEFORE] < 0, heap.TIME])


def as_tokens(program: Program, groups: Groups) -> tuple[Array, Array, dict[int, int]]:
    """The same partial matches one by one: tokens, nodes and start states that are left, as `tokens` has them."""
    where = tokens.layout(program)
    timers = timer_of(program) or {}
    nodes = [tokens.root()]
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
                    row = np.full(where[tokens.WIDTH], -1, np.int64)
                    row[[tokens.STATE, tokens.KEY, tokens.NODE]] = state, key, count - 1
                    row[tokens.LAST_START] = chain[-1, tokens.BEGIN]
                    row[tokens.LAST_END] = chain[-1, tokens.TIME]
                    # Events have no length and lie after all that came before, so no strong link holds any of them back.
                    row[where[tokens.LINK_AT] : where[tokens.TIMER_AT]] = tokens.LONG_AGO
                    row[where[tokens.TIMER_AT] : where[tokens.NEXT_AT]] = tokens.NEVER
                    if state in timers and not how & ESCAPED:
                        deadline = chain[0, tokens.TIME] + program.timers[timers[state], 0]
                        row[where[tokens.TIMER_AT] + timers[state]] = deadline
                    rows.append(row)
    starts = program.starts.tolist()
    alive = {
        key: sum(1 << n for n, start in enumerate(starts) if start in groups.known.start_sets[begun])
        for key, begun in zip(groups.keys.tolist(), groups.begun.tolist(), strict=True)
        if len(groups.known.start_sets[begun]) < len(set(starts))
    }
    width = int(where[tokens.WIDTH])
    return np.array(rows, np.int64).reshape(-1, width), np.concatenate(nodes), alive


def _paths(nodes: Array, root: int) -> list[list[int]]:
    """The nodes of each partial match of a group, the first event first."""
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
    """A path as nodes of the token kernel, the first of which gets the number `first`."""
    own = nodes[path]
    chain = np.full((len(path), tokens.NODE_WIDTH), -1, np.int64)
    numbers = first + np.arange(len(path))
    chain[:, tokens.PARENT] = np.concatenate([[0], numbers[:-1]])
    for column, taken in (
        (tokens.REF, heap.REF),
        (tokens.ROLE, heap.ROLE),
        (tokens.TIME, heap.TIME),
        (tokens.BEGIN, heap.BEGIN),
    ):
        chain[:, column] = own[:, taken]
    chain[:, tokens.START] = np.minimum.accumulate(own[:, heap.BEGIN])
    chain[:, tokens.DEPTH] = 1 + np.arange(len(path))
    chain[:, tokens.CANON] = numbers
    chain[:, tokens.EMITTED] = 0
    return chain
