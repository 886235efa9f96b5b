"""The memory of groups of partial matches between batches, and how a batch is fed to it.

A memory in a checkpoint:

| field | type | meaning |
|---|---|---|
| `keys` | int64 (K,) | the keys that have any state |
| `roots` | int64 (K, places) | the group at each place, as a node; -1 for an empty one |
| `begun` | int64 (K,) | which of the start sets a key has |
| `nodes` | int64 (N, NODE_WIDTH) | the nodes of all groups; columns as in `heap` |
| `known` | tuple | masks, places and start sets that the machine has met, which say what the numbers mean |
| `fed` | int | when the last event ended |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tocsin.errors import LimitError
from tocsin.runtime.kernels.protocol import Events, Fed, Held, Memory, Numbers, PartialMatch, Work, record
from tocsin.runtime.kernels.tokens.groups import heap, kernel, leftmost
from tocsin.runtime.kernels.tokens.groups.as_tokens import as_tokens
from tocsin.runtime.kernels.tokens.groups.eligible import over_at
from tocsin.runtime.kernels.tokens.groups.enumerate import matches_of
from tocsin.runtime.kernels.tokens.groups.letter_tables import (
    Groups,
    Known,
    Rows,
    Tables,
    Unsuitable,
    known_of,
)
from tocsin.runtime.kernels.tokens.groups.machine import MOST_PREDICATES, machine_of
from tocsin.runtime.kernels.tokens.select import take
from tocsin.runtime.kernels.tokens.single import memory as single
from tocsin.runtime.moments import LONG_AGO, NEVER
from tocsin.runtime.program import NOTHING, SPEC_BIT, Array, Detector, Program
from tocsin.runtime.too_much import shown_key, too_many_partial_matches


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether a detector reads no composites, compares no events and has no timer but a window."""
    program = detector.program
    return (
        isinstance(program, Program)
        and not detector.inputs
        and machine_of(program, detector.choice) is not None
    )


def initial(detector: Detector) -> Groups:
    """The memory before the first event."""
    empty = np.empty(0, np.int64)
    nodes = np.empty((0, heap.NODE_WIDTH), np.int64)
    return Groups(empty, np.empty((0, 0), np.int64), empty, nodes, Known(), LONG_AGO)


def feed(memory: Groups, work: Work) -> Fed | Memory:
    """Advance groups of partial matches; or hand them over as single tokens, where each may behave differently."""
    detector, choice = work.detector, work.detector.choice
    try:
        tables, rows = prepared(work, memory.known, memory.fed)
    except Unsuitable:
        return Memory("single", as_tokens(detector, memory))
    if choice.matches == "leftmost" and not work.keep and not len(memory.keys):
        stages = leftmost.stages_of(tables)
        matches = None if stages is None else leftmost.find(tables, stages, rows)
        if matches is not None:
            return Fed(take(detector, matches, work.interned), initial(detector))
    before = _for_all_keys(memory, tables, work.keys.size)
    task = kernel.Task(choice.matches == "leftmost", work.keep, work.limit)
    escapes = tables.escapes if len(tables.escapes) else None
    found, parts, nodes, overflow = kernel.run(rows, tables.moves, before, task, escapes)
    if overflow:
        raise LimitError(
            "too-many-matches",
            f"one event completes more than {work.limit:,} matches, or matches of more than {2 * work.limit:,} events in all"
            f" (key: {shown_key(work.keys.value(overflow - 1))})",
            hint="take = count or first n, bound the pattern by a timer, as in ([A], [B])_{T1=1h}, or choose a finer key",
        )
    matches = take(detector, matches_of(found, parts), work.interned)
    if not work.keep:
        return Fed(matches, initial(detector))
    roots, begun = before.roots, before.begun
    # Partial matches that began a window ago have expired: time has advanced to `until`.
    kept, sizes = heap.compacted(nodes, roots, work.until - tables.window + 1)
    if sizes.max(initial=0) > work.limit:
        raise too_many_partial_matches(work.limit, work.keys.value(int(sizes.argmax())))
    alive = np.flatnonzero((roots >= 0).any(axis=1) | (begun != 0))
    fed = max(memory.fed, int(work.events.end.max(initial=LONG_AGO)))
    return Fed(matches, Groups(alive, roots[alive], begun[alive], kept, tables.known, fed))


def prepared(work: Work, known: Known, fed: int) -> tuple[Tables, Rows]:
    """The tables of a detector's machine that cover `known` and these events, and the events as its letters."""
    program, choice, events = work.detector.program, work.detector.choice, work.events
    assert isinstance(program, Program)
    machine = machine_of(program, choice)
    if machine is None or _behind(fed, events):
        raise Unsuitable
    masks = _masks(program, events.bits)
    distinct = np.unique(masks)
    wanted = [int(mask) for mask in distinct if mask or program.leaves_out == NOTHING]
    tables = machine.with_masks([*known.masks, *wanted])
    if choice.matches == "leftmost" and not tables.monotone:
        raise Unsuitable
    own = np.array([tables.letters.get(int(mask), 0) for mask in distinct], np.int64)
    letters = own[np.searchsorted(distinct, masks)]
    return tables, Rows(events.offsets, letters, events.signature, events.start, events.end, events.ref)


def size(memory: Groups) -> int:
    """The number of nodes."""
    return len(memory.nodes)


def partial(detector: Detector, memory: Groups) -> list[PartialMatch]:
    """The partial matches that wait, one by one."""
    return single.partial(detector, as_tokens(detector, memory))


def due(detector: Detector, memory: Groups) -> int:
    """The time at which the last group expires."""
    assert isinstance(detector.program, Program)
    return over_at(detector.program, memory.nodes[:, heap.LATEST])


def held(detector: Detector, memory: Groups) -> Held:
    """The keys, and the events of nodes."""
    return Held(memory.keys, memory.nodes[:, heap.REF], np.empty(0, np.int64))


def renumber(detector: Detector, memory: Groups, new: Numbers) -> Groups:
    """The memory with new numbers for keys and events."""
    memory.nodes[:, heap.REF] = new.refs(memory.nodes[:, heap.REF])
    return memory._replace(keys=new.keys(memory.keys))


def restrict(memory: Groups, keep: Array) -> Groups:
    """The groups of some keys, with only the nodes they need."""
    own = keep[memory.keys]
    roots = memory.roots[own]
    nodes, _ = heap.compacted(memory.nodes, roots, LONG_AGO)
    return memory._replace(keys=memory.keys[own], roots=roots, begun=memory.begun[own], nodes=nodes)


def fields(memory: Groups) -> dict[str, Any]:
    """The fields in the table above."""
    return {**memory._asdict(), "known": tuple(memory.known)}


def from_fields(fields: Mapping[str, Any]) -> Groups:
    """The memory with these fields."""
    memory = record(Groups, fields)
    return memory._replace(known=known_of(memory.known))


def _behind(fed: int, events: Events) -> bool:
    """Whether an event precedes one that was fed already, which happens only when events are used as they arrive.

    Then it depends on each partial match whether it can still use the event.
    """
    return fed > LONG_AGO and int(events.end.min(initial=NEVER)) <= fed


def _masks(program: Program, bits: Array) -> Array:
    if len(program.specs) > MOST_PREDICATES:
        raise Unsuitable
    masks = np.zeros(len(bits), np.int64)
    for number, bit in enumerate(program.specs[:, SPEC_BIT].tolist()):
        masks |= ((bits[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)).astype(np.int64) << number
    return masks


def _for_all_keys(memory: Groups, tables: Tables, keys: int) -> kernel.Heaps:
    """The groups as input of the kernel: a row for every key, and places by their numbers in these tables."""
    roots = np.full((keys, len(tables.places)), -1, np.int64)
    begun = np.zeros(keys, np.int64)
    if len(memory.keys):
        places, starts = tables.numbers_of(memory.known)
        roots[memory.keys[:, None], places] = memory.roots
        begun[memory.keys] = starts[memory.begun]
    firsts = np.empty(0, np.int64)
    if len(tables.escapes):
        firsts = np.sort(memory.nodes[memory.nodes[:, heap.BEFORE] < 0, heap.TIME])
    return kernel.Heaps(roots, begun, memory.nodes, firsts)
