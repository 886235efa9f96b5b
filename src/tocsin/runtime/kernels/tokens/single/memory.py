"""The memory of single partial matches between batches, and how a batch is fed to it.

A memory in a checkpoint:

| field | type | meaning |
|---|---|---|
| `rows` | int64 (tokens, width) | the partial matches, sorted by key; columns as in `token` |
| `nodes` | int64 (nodes, NODE_WIDTH) | the tree of events they share, the root first |
| `alive` | dict of int to int | by key a mask of the start states it still has, where not all |
| `held` | tuple | the arrays of `match_arrays.Matches`: complete, but one that begins earlier may still become complete |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.encoding import damaged
from tocsin.runtime.kernels.match_arrays import Matches, none, some
from tocsin.runtime.kernels.protocol import Fed, Held, Input, Numbers, PartialMatch, Work, record
from tocsin.runtime.kernels.tokens.select import Waiting, choose
from tocsin.runtime.kernels.tokens.single import kernel
from tocsin.runtime.kernels.tokens.single.paths import compacted, first_of, root, unroll
from tocsin.runtime.kernels.tokens.single.token import (
    BEGIN,
    COUNTERS,
    FREE,
    KEY,
    LIVE,
    MATCH_KEY,
    MATCH_NODE,
    MATCH_WIDTH,
    MATCHES,
    NODE,
    NODE_WIDTH,
    NODES,
    OVERFLOW,
    PARENT,
    REF,
    ROLE,
    START,
    STATE,
    TIME,
    TOKEN_WIDTH,
    FromBefore,
    Layout,
    Pool,
    Rows,
    layout,
)
from tocsin.runtime.moments import FOREVER, NEVER
from tocsin.runtime.program import Array, Choice, Detector, Program
from tocsin.runtime.too_much import out_of_memory, too_many_partial_matches


class Tokens(NamedTuple):
    """The partial matches of one detector."""

    rows: Array  # int64 (tokens, width), sorted by key
    nodes: Array  # int64 (nodes, NODE_WIDTH), the root first
    alive: dict[int, int]  # key -> mask of the start states it still has, where not all
    held: Matches  # complete, but one that begins earlier may still become complete


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether a detector is of the token family."""
    return isinstance(detector.program, Program)


def initial(detector: Detector) -> Tokens:
    """The memory without any partial match."""
    program = _program(detector)
    return Tokens(np.empty((0, layout(program).width), np.int64), root(), {}, none(program.variables))


def feed(memory: Tokens, work: Work) -> Fed:
    """Advance every partial match on its own."""
    detector, program = work.detector, _program(work.detector)
    rows = _rows_for(work)
    numbers = np.arange(work.keys.size + 1)
    events = Rows(np.searchsorted(rows.key, numbers), *rows[1:])
    alive = np.full(work.keys.size, -1, np.int64)
    for key, mask in memory.alive.items():
        alive[key] = mask
    where = layout(program)
    pool = _pool(program, where, memory)
    counts = pool.counts
    offsets = np.searchsorted(memory.rows[:, KEY], numbers)
    values = work.interned.arrays()
    try:
        pool = kernel.run(
            program, events, values, where, pool, FromBefore(offsets, alive), work.until, work.limit
        )
    except MemoryError:
        raise out_of_memory(len(work.events.ref), int(counts[MATCHES]), int(counts[LIVE])) from None
    if counts[OVERFLOW]:
        raise too_many_partial_matches(work.limit, work.keys.value(int(counts[OVERFLOW]) - 1))
    matches = _matches(pool.nodes, pool.found[: counts[MATCHES]])
    waiting, held = pool.tokens[pool.tokens[:, STATE] >= 0], memory.held
    if detector.choice != Choice():
        ended = work.until >= FOREVER
        beginnings = _beginnings(waiting, pool.nodes)
        chosen = choose(detector, matches, held, beginnings, work.composites, work.interned, ended)
        matches, held, waiting = chosen.matches, chosen.held, waiting[chosen.alive]
    left, nodes = compacted(waiting, pool.nodes, int(counts[NODES]))
    masks = {int(key): int(alive[key]) for key in np.flatnonzero(alive != -1)}
    return Fed(matches, Tokens(left, nodes, masks, held))


def size(memory: Tokens) -> int:
    """The number of waiting partial matches."""
    return len(memory.rows)


def partial(detector: Detector, memory: Tokens) -> list[PartialMatch]:
    """The partial matches that wait, one by one."""
    where = layout(_program(detector))
    found = []
    for row in memory.rows:
        events = []
        node = int(row[NODE])
        while node > 0:
            taken = memory.nodes[node]
            events.append((int(taken[REF]), int(taken[ROLE]), int(taken[BEGIN]), int(taken[TIME])))
            node = int(taken[PARENT])
        moments = row[where.timer_at : where.next_at]
        timers = tuple((number, int(at)) for number, at in enumerate(moments) if at != NEVER)
        found.append(PartialMatch(int(row[KEY]), int(row[STATE]), tuple(reversed(events)), timers))
    return found


def due(detector: Detector, memory: Tokens) -> int:
    """The time at which the next timer runs out."""
    where = layout(_program(detector))
    return int(memory.rows[:, where.timer_at : where.next_at].min(initial=NEVER))


def held(detector: Detector, memory: Tokens) -> Held:
    """The keys of partial matches, of start states and of matches held back; their events and variables."""
    return Held(
        np.concatenate([memory.rows[:, KEY], np.array([*memory.alive], np.int64), memory.held.key]),
        np.concatenate([memory.nodes[:, REF], memory.held.refs]),
        np.concatenate([memory.rows[:, _variables(detector)].ravel(), memory.held.variables.ravel()]),
    )


def renumber(detector: Detector, memory: Tokens, new: Numbers) -> Tokens:
    """The memory with new numbers for keys, events and variables."""
    own = _variables(detector)
    memory.rows[:, KEY] = new.keys(memory.rows[:, KEY])
    memory.rows[:, own] = new.values(memory.rows[:, own])
    memory.nodes[:, REF] = new.refs(memory.nodes[:, REF])
    complete = memory.held._replace(
        key=new.keys(memory.held.key),
        variables=new.values(memory.held.variables),
        refs=new.refs(memory.held.refs),
    )
    alive = {int(new.key_places[key]): mask for key, mask in memory.alive.items()}
    return memory._replace(alive=alive, held=complete)


def restrict(memory: Tokens, keep: Array) -> Tokens:
    """The partial matches of some keys, with only the nodes they need."""
    rows, nodes = compacted(memory.rows[keep[memory.rows[:, KEY]]], memory.nodes, len(memory.nodes))
    alive = {key: mask for key, mask in memory.alive.items() if keep[key]}
    return Tokens(rows, nodes, alive, some(memory.held, np.flatnonzero(keep[memory.held.key])))


def fields(memory: Tokens) -> dict[str, Any]:
    """The fields in the table above."""
    return {**memory._asdict(), "held": tuple(memory.held)}


def from_fields(fields: Mapping[str, Any]) -> Tokens:
    """The memory with these fields."""
    memory = record(Tokens, fields)
    if not isinstance(memory.held, tuple) or len(memory.held) != len(Matches._fields):
        raise damaged("the matches that are held back have other fields")
    return memory._replace(held=Matches(*memory.held))


def _program(detector: Detector) -> Program:
    assert isinstance(detector.program, Program)
    return detector.program


def _variables(detector: Detector) -> slice:
    return slice(TOKEN_WIDTH, TOKEN_WIDTH + _program(detector).variables)


def _rows_for(work: Work) -> Input:
    """The rows a detector can use: primitive events of its domain, and the composites it reads, in the total order."""
    events = work.events
    domain = np.bitwise_or.reduce(work.detector.program.domain, axis=0)
    chosen = np.flatnonzero((events.bits & domain).any(axis=1)[events.signature])
    end = events.end[chosen]
    own = Input(
        _keys_of(chosen, events.offsets),
        events.start[chosen],
        end,
        events.bits[events.signature[chosen]],
        work.values[chosen],
        events.ref[chosen],
        end,
    )
    if not work.inputs:
        return own
    # A composite with a name is an event like any other, and only its end counts.
    inner = (number in work.detector.parts for number in work.detector.inputs)
    inputs = (i if part else i._replace(first_end=i.end) for i, part in zip(work.inputs, inner, strict=True))
    parts = [*inputs, own]
    joined = Input(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    # Composites come before primitive events of equal time, those of the first input first.
    rank = np.repeat(np.arange(len(parts)), [len(part.key) for part in parts])
    order = np.lexsort((np.arange(len(rank)), rank, joined.start, joined.end, joined.key))
    return Input(*(column[order] for column in joined))


def _keys_of(rows: Array, offsets: Array) -> Array:
    """The number of the key of each row; one of many detectors looks at few of them."""
    if 8 * len(rows) < offsets[-1]:
        return np.searchsorted(offsets, rows, "right") - 1
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[rows]


def _pool(program: Program, where: Layout, memory: Tokens) -> Pool:
    """The tables of the kernel, filled from the memory."""
    waiting = len(memory.rows)
    tokens = np.full((max(64, 2 * waiting), where.width), -1, np.int64)
    tokens[:waiting] = memory.rows
    nodes = np.zeros((max(64, 2 * len(memory.nodes)), NODE_WIDTH), np.int64)
    nodes[: len(memory.nodes)] = memory.nodes
    counts = np.zeros(COUNTERS, np.int64)
    counts[FREE] = len(tokens) - waiting
    counts[NODES] = len(memory.nodes)
    return Pool(
        tokens,
        np.arange(len(tokens) - 1, -1, -1, dtype=np.int64),
        np.empty(len(tokens), np.int64),
        nodes,
        np.empty((64, MATCH_WIDTH + program.variables), np.int64),
        counts,
        np.empty((3, len(program.states)), np.int64),
        np.empty((2, len(program.timers)), np.int64),
    )


def _matches(nodes: Array, found: Array) -> Matches:
    ends = np.ascontiguousarray(found[:, MATCH_NODE])
    offsets, refs, roles, times, begins = unroll(nodes, ends)
    return Matches(
        found[:, MATCH_KEY].copy(),
        nodes[ends, START],
        nodes[ends, TIME],
        found[:, MATCH_WIDTH:].copy(),
        offsets,
        refs,
        roles,
        times,
        begins,
    )


def _beginnings(rows: Array, nodes: Array) -> Waiting:
    """The first events of the waiting partial matches."""
    first = nodes[first_of(nodes, np.ascontiguousarray(rows[:, NODE]))]
    return Waiting(rows[:, KEY], *(first[:, column] for column in (REF, ROLE, TIME, BEGIN)))
