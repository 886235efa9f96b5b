"""The memory of operators between batches, and how a batch is fed to them.

A memory in a checkpoint has, for each key that keeps anything, its rows of all arrays one behind the other:

| field | type | meaning |
|---|---|---|
| `keys` | int64 (K, 5) | the keys, sorted; how far their items, instances and leaves go; when each is due |
| `now` | int64 (K, …) | what nodes know: their columns, node by node; the key's own last. See `running` |
| `sizes` | int64 (K, L) | how many entries each list has. See `operators` |
| `items` | int64 | the entries of the lists, list by list; an instance is a number among those of the key |
| `insts` | int64 (I, 6) | instances: see `instance_heap` |
| `leaves` | int64 (V, 7) | the events they are made of: see `instance_heap` |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.pairs import kernel
from tocsin.runtime.kernels.pairs.choices import LEVEL_COLUMNS
from tocsin.runtime.kernels.pairs.instance_heap import (
    COUNTERS,
    INST_COLUMNS,
    L_BEGIN,
    L_REF,
    L_ROLE,
    L_TIME,
    LEAF_COLUMNS,
    LIST_COLUMNS,
    SOLUTIONS,
    Heap,
)
from tocsin.runtime.kernels.pairs.kept import (
    AT_KEY,
    KEPT_INSTS,
    KEPT_ITEMS,
    KEPT_KEYS,
    KEPT_LEAVES,
    MATCHES,
    PARTS,
    PLACES,
    Kept,
)
from tocsin.runtime.kernels.pairs.kernel import (
    DONE,
    F_END,
    F_FIRST,
    F_KEY,
    F_START,
    FOUND_COLUMNS,
    P_BEGIN,
    P_REF,
    P_ROLE,
    P_TIME,
    PART_COLUMNS,
    TOO_MANY,
    Output,
    Rows,
)
from tocsin.runtime.kernels.pairs.running import MOMENT_COLUMNS, NOW_COLUMNS, Running
from tocsin.runtime.kernels.protocol import Fed, Held, Numbers, PartialMatch, Work, record
from tocsin.runtime.moments import NEVER
from tocsin.runtime.operators import CHILD, CHILD_STOP, Operators
from tocsin.runtime.program import Array, Detector
from tocsin.runtime.too_much import out_of_memory, too_many_partial_matches

_DUE = 4  # the column of keys


class Clock(NamedTuple):
    """What drives the operators beside events."""

    clock: Array
    reach: int


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether the detector is a tree of operators."""
    return isinstance(detector.program, Operators)


def initial(detector: Detector) -> Kept:
    """The memory before any key has seen an event."""
    return _empty(_program(detector), 0, 0)


def feed(memory: Kept, work: Work) -> Fed:
    """Advance the operators of every key."""
    program = _program(work.detector)
    rows = _rows(program, work)
    running = _running(program, work)
    after = _empty(program, max(16, len(memory.keys) + 64), 1024)
    output = Output(
        np.empty((1024, FOUND_COLUMNS), np.int64),
        np.empty((4096, PART_COLUMNS), np.int64),
        np.zeros(PLACES, np.int64),
    )
    asks = np.array([work.until, work.keep], np.int64)
    try:
        while True:
            done = kernel.run(Clock(program.clock, program.reach), running, rows, memory, after, output, asks)
            if done == DONE:
                break
            if done == TOO_MANY:
                raise too_many_partial_matches(work.limit, work.keys.value(int(output.places[AT_KEY])))
            running, after, output = _larger(running, after, output, work)
    except MemoryError:
        raise out_of_memory(len(work.events.ref)) from None
    return Fed(_matches(output), _trimmed(after, output.places))


def size(memory: Kept) -> int:
    """The number of instances that are kept."""
    return len(memory.insts)


def partial(detector: Detector, memory: Kept) -> list[PartialMatch]:
    """The keys that keep something, each with the events it keeps: one may be part of many matches to come."""
    found = []
    first = 0
    for row in memory.keys:
        leaves = memory.leaves[first : row[3]]
        first = int(row[3])
        own = {int(leaf[L_REF]): leaf for leaf in leaves if leaf[L_REF] >= 0}
        events = tuple(
            (ref, int(one[L_ROLE]), int(one[L_BEGIN]), int(one[L_TIME])) for ref, one in own.items()
        )
        found.append(PartialMatch(int(row[0]), -1, events))
    return found


def due(detector: Detector, memory: Kept) -> int:
    """The earliest time at which a key acts or forgets something."""
    return int(memory.keys[:, _DUE].min(initial=NEVER))


def held(detector: Detector, memory: Kept) -> Held:
    """The keys, and the events in instances."""
    return Held(memory.keys[:, 0], memory.leaves[:, L_REF], np.empty(0, np.int64))


def renumber(detector: Detector, memory: Kept, new: Numbers) -> Kept:
    """The memory with new numbers for keys and events."""
    keys, leaves = memory.keys.copy(), memory.leaves.copy()
    keys[:, 0] = new.keys(keys[:, 0])
    leaves[:, L_REF] = new.refs(leaves[:, L_REF])
    return memory._replace(keys=keys, leaves=leaves)


def restrict(memory: Kept, keep: Array) -> Kept:
    """The memory of some keys alone."""
    own = keep[memory.keys[:, 0]]
    keys = memory.keys[own].copy()
    parts = {}
    for column, name in enumerate(("items", "insts", "leaves"), 1):
        counts = np.diff(memory.keys[:, column], prepend=0)
        parts[name] = getattr(memory, name)[np.repeat(own, counts)]
        keys[:, column] = np.cumsum(counts[own])
    return Kept(keys, memory.now[own], memory.sizes[own], **parts)


def fields(memory: Kept) -> dict[str, Any]:
    """The fields in the table above."""
    return memory._asdict()


def from_fields(fields: Mapping[str, Any]) -> Kept:
    """The memory with these fields."""
    return record(Kept, fields)


def _program(detector: Detector) -> Operators:
    assert isinstance(detector.program, Operators)
    return detector.program


def _rows(program: Operators, work: Work) -> Rows:
    """The events of the domain, and where each key begins among them."""
    events = work.events
    relevant = (events.bits & program.domain[0]).any(axis=1)
    mask = relevant[events.signature]
    counts = np.concatenate([[0], np.cumsum(mask)])
    return Rows(
        counts[events.offsets].astype(np.int64),
        events.end[mask],
        events.start[mask],
        events.ref[mask],
        events.signature[mask].astype(np.int64),
        _has_bit(events.bits, program.tick),
    )


def _has_bit(bits: Array, bit: int) -> Array:
    """Which signatures have a bit; none if there is no such bit."""
    if bit < 0:
        return np.zeros(len(bits), np.bool_)
    return (bits[:, bit >> 6] >> np.uint64(bit & 63) & np.uint64(1)).astype(np.bool_)


def _running(program: Operators, work: Work) -> Running:
    bits = work.events.bits
    hits = np.zeros((len(bits), len(program.nodes)), np.bool_)
    for node, bit in enumerate(program.bits):
        hits[:, node] = _has_bit(bits, bit)
    operands = int((program.nodes[:, CHILD_STOP] - program.nodes[:, CHILD]).max(initial=1))
    counts = np.zeros(COUNTERS, np.int64)
    counts[SOLUTIONS] = work.limit
    return Running(
        program.nodes,
        program.children,
        program.modes,
        hits,
        np.zeros((len(program.nodes) + 1, NOW_COLUMNS), np.int64),
        np.zeros(MOMENT_COLUMNS, np.int64),
        np.zeros((operands, LEVEL_COLUMNS), np.int64),
        Heap(
            np.zeros((len(program.widths), LIST_COLUMNS), np.int64),
            program.widths,
            np.empty(max(4096, 64 * len(program.widths)), np.int64),
            np.empty((1024, INST_COLUMNS), np.int64),
            np.empty((4096, LEAF_COLUMNS), np.int64),
            np.zeros(1024, np.int64),
            counts,
        ),
    )


def _empty(program: Operators, keys: int, rows: int) -> Kept:
    return Kept(
        np.empty((keys, 5), np.int64),
        np.empty((keys, (len(program.nodes) + 1) * NOW_COLUMNS), np.int64),
        np.empty((keys, len(program.widths)), np.int64),
        np.empty(rows, np.int64),
        np.empty((rows, INST_COLUMNS), np.int64),
        np.empty((rows, LEAF_COLUMNS), np.int64),
    )


def _larger(running: Running, after: Kept, output: Output, work: Work) -> tuple[Running, Kept, Output]:
    """Larger arrays, where the ones at hand may have been too small; the key at which they were is run from its start."""
    heap, places = running.heap, output.places
    if len(heap.insts) > 4 * work.limit:
        raise too_many_partial_matches(work.limit, work.keys.value(int(places[AT_KEY])))
    insts = np.empty((2 * len(heap.insts), INST_COLUMNS), np.int64)
    heap = heap._replace(
        items=np.empty(2 * len(heap.items), np.int64),
        insts=insts,
        leaves=np.empty((2 * len(heap.leaves), LEAF_COLUMNS), np.int64),
        marks=np.zeros(len(insts), np.int64),
    )
    after = Kept(*(_grown(array) for array in after))
    return running._replace(heap=heap), after, Output(_grown(output.found), _grown(output.parts), places)


def _grown(array: Array) -> Array:
    if array.ndim == 2:
        larger: Array = grown(array, 2 * len(array) + 16)
        return larger
    return np.concatenate([array, np.empty(len(array) + 16, array.dtype)])


def _trimmed(after: Kept, places: Array) -> Kept:
    keys, rows = places[KEPT_KEYS], (places[KEPT_ITEMS], places[KEPT_INSTS], places[KEPT_LEAVES])
    return Kept(
        after.keys[:keys].copy(),
        after.now[:keys].copy(),
        after.sizes[:keys].copy(),
        *(array[:count].copy() for array, count in zip(after[3:], rows, strict=True)),
    )


def _matches(output: Output) -> Matches:
    found, parts = output.found[: output.places[MATCHES]], output.parts[: output.places[PARTS]]
    return Matches(
        found[:, F_KEY].copy(),
        found[:, F_START].copy(),
        found[:, F_END].copy(),
        np.empty((len(found), 0), np.int64),
        np.append(found[:, F_FIRST], len(parts)),
        parts[:, P_REF].copy(),
        parts[:, P_ROLE].copy(),
        parts[:, P_TIME].copy(),
        parts[:, P_BEGIN].copy(),
    )
