"""The memory of two classes between batches, and how a batch is fed to them.

A memory in a checkpoint:

| field | type | meaning |
|---|---|---|
| `keys` | int64 (K, 4) | key; how many events of the first and of the second class it keeps; when the first is too old |
| `rows` | int64 (R, 4) | these events, key by key: time, number, event, start |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.pairs.two_classes import kernel
from tocsin.runtime.kernels.pairs.two_classes.kernel import (
    AT_KEY,
    BEGIN,
    COLUMNS,
    DONE,
    K_DUE,
    K_KEY,
    K_ONE,
    K_OTHER,
    KEPT_KEYS,
    KEPT_ROWS,
    KEY_COLUMNS,
    M_KEY,
    M_ONE,
    M_OTHER,
    MATCH_COLUMNS,
    MATCHES,
    PLACES,
    REF,
    TIME,
    TOO_MANY,
    Kept,
    Queues,
    Rows,
    Shape,
)
from tocsin.runtime.kernels.protocol import Fed, Held, Numbers, PartialMatch, Work, record
from tocsin.runtime.moments import NEVER
from tocsin.runtime.operators import (
    APART,
    CHILD,
    CHILD_STOP,
    CONJUNCTION,
    CONSUMES,
    CONTINUOUS,
    EVENTS,
    FIRST,
    KIND,
    LAST,
    LEAST,
    LENGTH,
    MODE,
    OPERATOR,
    PICK,
    PICK_HIGH,
    PICK_LOW,
    ROLE,
    SELECTION,
    SEQUENCE,
    TERMINATORS,
    UNTIL,
    WITHOUT,
    Operators,
)
from tocsin.runtime.program import Array, Detector
from tocsin.runtime.too_much import out_of_memory, too_many_partial_matches


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether the detector is an operator over two classes with one consumption, and no mode that is not about duplicates."""
    program = detector.program
    if not in_order or not isinstance(program, Operators) or len(program.nodes) != 3 or program.tick >= 0:
        return False
    root = program.nodes[2]
    if (
        root[KIND] != TERMINATORS
        or root[CHILD_STOP] - root[CHILD] != 2
        or (program.nodes[:2, KIND] != EVENTS).any()
        or (program.nodes[:2, UNTIL] >= 0).any()
    ):
        return False
    plain = (
        root[OPERATOR] in (SEQUENCE, CONJUNCTION)
        and root[WITHOUT] < 0
        and not root[APART]
        and not root[CONTINUOUS]
    )
    modes = program.modes[root[MODE] : root[MODE] + 2]
    single = np.isin(modes[:, SELECTION], (FIRST, LAST, PICK)).all() and (modes[:, LEAST] == 1).all()
    return bool(
        plain
        and single
        and modes[0, CONSUMES] == modes[1, CONSUMES]
        and program.bits[0] != program.bits[1]
        and not len(program.clock)
    )


def initial(detector: Detector) -> Kept:
    """The memory before any key has seen an event."""
    return Kept(np.empty((0, KEY_COLUMNS), np.int64), np.empty((0, COLUMNS), np.int64))


def feed(memory: Kept, work: Work) -> Fed:
    """Find the matches of every key."""
    program = _program(work.detector)
    shape, rows = _shape(program), _rows(program, work)
    queues = Queues(
        np.empty((256, COLUMNS), np.int64), np.empty((256, COLUMNS), np.int64), np.zeros((2, 2), np.int64)
    )
    after = Kept(
        np.empty((len(memory.keys) + 256, KEY_COLUMNS), np.int64),
        np.empty((len(memory.rows) + 1024, COLUMNS), np.int64),
    )
    found = np.empty((4096, MATCH_COLUMNS), np.int64)
    places = np.zeros(PLACES, np.int64)
    asks = np.array([work.until, work.keep, work.limit], np.int64)
    try:
        while True:
            done = kernel.run(shape, rows, memory, queues, after, found, places, asks)
            if done == DONE:
                break
            if done == TOO_MANY:
                raise too_many_partial_matches(work.limit, work.keys.value(int(places[AT_KEY])))
            queues = queues._replace(one=_larger(queues.one), other=_larger(queues.other))
            after, found = Kept(_larger(after.keys), _larger(after.rows)), _larger(found)
    except MemoryError:
        raise out_of_memory(len(work.events.ref)) from None
    kept = Kept(after.keys[: places[KEPT_KEYS]].copy(), after.rows[: places[KEPT_ROWS]].copy())
    return Fed(_matches(program, found[: places[MATCHES]]), kept)


def size(memory: Kept) -> int:
    """The number of events that are kept."""
    return len(memory.rows)


def partial(detector: Detector, memory: Kept) -> list[PartialMatch]:
    """The events that are available, one by one."""
    names = _program(detector).nodes[:2, ROLE].tolist()
    found, at = [], 0
    for row in memory.keys.tolist():
        for name, count in zip(names, (row[K_ONE], row[K_OTHER]), strict=True):
            for time, _, ref, begin in memory.rows[at : at + count].tolist():
                found.append(PartialMatch(row[K_KEY], -1, ((ref, name, begin, time),)))
            at += count
    return found


def due(detector: Detector, memory: Kept) -> int:
    """The earliest time at which a key forgets something."""
    return int(memory.keys[:, K_DUE].min(initial=NEVER))


def held(detector: Detector, memory: Kept) -> Held:
    """The keys, and the events that are available."""
    return Held(memory.keys[:, K_KEY], memory.rows[:, REF], np.empty(0, np.int64))


def renumber(detector: Detector, memory: Kept, new: Numbers) -> Kept:
    """The memory with new numbers for keys and events; its keys stay sorted."""
    keys, rows = memory.keys.copy(), memory.rows.copy()
    keys[:, K_KEY] = new.keys(keys[:, K_KEY])
    rows[:, REF] = new.refs(rows[:, REF])
    return Kept(keys, rows)


def restrict(memory: Kept, keep: Array) -> Kept:
    """The memory of some keys alone."""
    own = keep[memory.keys[:, K_KEY]]
    counts = memory.keys[:, K_ONE] + memory.keys[:, K_OTHER]
    return Kept(memory.keys[own], memory.rows[np.repeat(own, counts)])


def fields(memory: Kept) -> dict[str, Any]:
    """The fields in the table above."""
    return memory._asdict()


def from_fields(fields: Mapping[str, Any]) -> Kept:
    """The memory with these fields."""
    return record(Kept, fields)


def _program(detector: Detector) -> Operators:
    assert isinstance(detector.program, Operators)
    return detector.program


def _shape(program: Operators) -> Shape:
    root = program.nodes[2]
    modes = program.modes[root[MODE] : root[MODE] + 2]
    return Shape(
        bool(root[OPERATOR] == SEQUENCE),
        int(root[LENGTH]),
        int(modes[0, CONSUMES]),
        modes[:, SELECTION].copy(),
        modes[:, PICK_LOW].copy(),
        modes[:, PICK_HIGH].copy(),
    )


def _rows(program: Operators, work: Work) -> Rows:
    events = work.events
    classes = np.zeros(len(events.bits), np.uint8)
    for operand, bit in enumerate(program.bits[:2]):
        answer = events.bits[:, bit >> 6] >> np.uint64(bit & 63) & np.uint64(1)
        classes |= answer.astype(np.uint8) << np.uint8(operand)
    return Rows(events.offsets, events.end, events.start, events.ref, events.signature, classes)


def _larger(array: Array) -> Array:
    larger: Array = grown(array, 2 * len(array))
    return larger


def _matches(program: Operators, found: Array) -> Matches:
    """The matches, each with its event of the first class before that of the second."""
    one, other = found[:, M_ONE : M_ONE + COLUMNS], found[:, M_OTHER : M_OTHER + COLUMNS]

    def both(column: int) -> Array:
        return np.stack([one[:, column], other[:, column]], axis=1).ravel()

    return Matches(
        found[:, M_KEY].copy(),
        np.minimum(one[:, TIME], other[:, TIME]),
        np.maximum(one[:, TIME], other[:, TIME]),
        np.empty((len(found), 0), np.int64),
        2 * np.arange(len(found) + 1),
        both(REF),
        np.tile(program.nodes[:2, ROLE], len(found)),
        both(TIME),
        both(BEGIN),
    )
