"""The memory of a table-walking detector between batches, and how a batch is fed to it.

A memory in a checkpoint:

| field | type | meaning |
|---|---|---|
| `keys` | int64 (K,) | the keys that have left their initial state, sorted |
| `configurations` | tuple | for each key the stepper's configuration: plain values, nested |
| `registers` | int64 (K, registers, 2) | the events a key remembers: event, or -1; its start |
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.kernels.completion import kernel, table
from tocsin.runtime.kernels.completion.kernel import (
    AT_KEY,
    AT_ROW,
    DONE,
    EMISSION,
    EVENT,
    EVENT_END,
    EVENT_START,
    FOUND,
    FOUND_KEY,
    FOUND_WIDTH,
    FULL,
    PLACES,
    ROLE,
    Position,
    Rows,
)
from tocsin.runtime.kernels.completion.table import Cells
from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.protocol import Events, Fed, Held, Numbers, PartialMatch, Work, record
from tocsin.runtime.moments import NEVER
from tocsin.runtime.program import Array, Detector, Walk

_MOST_TABLES = 64
_tables: OrderedDict[bytes, Cells] = OrderedDict()


class Walks(NamedTuple):
    """The position of the keys of one detector: a configuration and the remembered events of each key that has any."""

    keys: Array  # int64 (keys,), sorted
    configurations: tuple[Hashable, ...]
    registers: Array  # int64 (keys, registers, 2): event, or -1; its start


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether the detector walks a table."""
    return isinstance(detector.program, Walk)


def initial(detector: Detector) -> Walks:
    """The memory before any key has seen an event."""
    return Walks(np.empty(0, np.int64), (), np.empty((0, _program(detector).registers, 2), np.int64))


def feed(memory: Walks, work: Work) -> Fed:
    """Advance every key through the table."""
    found, after = walk(_program(work.detector), memory, work.events)
    return Fed(_matches(work.detector, found), after)


def size(memory: Walks) -> int:
    """The number of keys that have left their initial state."""
    return len(memory.keys)


def partial(detector: Detector, memory: Walks) -> list[PartialMatch]:
    """The keys that have left their initial state, with the events that they remember."""
    found = []
    for number, key in enumerate(memory.keys.tolist()):
        events = [
            (int(ref), -1, int(start), int(start)) for ref, start in memory.registers[number] if ref >= 0
        ]
        found.append(PartialMatch(key, -1, tuple(events)))
    return found


def due(detector: Detector, memory: Walks) -> int:
    """NEVER: nothing happens without an event."""
    return NEVER


def held(detector: Detector, memory: Walks) -> Held:
    """The keys, and the events in registers."""
    return Held(memory.keys, memory.registers[:, :, 0].ravel(), np.empty(0, np.int64))


def renumber(detector: Detector, memory: Walks, new: Numbers) -> Walks:
    """The memory with new numbers for keys and events."""
    registers = memory.registers.copy()
    registers[:, :, 0] = new.refs(registers[:, :, 0])
    return memory._replace(keys=new.keys(memory.keys), registers=registers)


def restrict(memory: Walks, keep: Array) -> Walks:
    """The memory of some keys alone."""
    own = keep[memory.keys]
    chosen = np.flatnonzero(own).tolist()
    return Walks(memory.keys[own], tuple(memory.configurations[n] for n in chosen), memory.registers[own])


def fields(memory: Walks) -> dict[str, Any]:
    """The fields in the table above."""
    return memory._asdict()


def from_fields(fields: Mapping[str, Any]) -> Walks:
    """The memory with these fields."""
    return record(Walks, fields)


def walk(program: Walk, before: Walks, events: Events) -> tuple[Array, Walks]:
    """The emissions of a program for the events, and the position of its keys afterwards."""
    cells = _cells(program)
    kinds = _kinds(program, events.bits, cells)
    keys = len(events.offsets) - 1
    states = np.zeros(keys, np.int64)
    states[before.keys] = [cells.state(configuration) for configuration in before.configurations]
    registers = np.full((keys, program.registers, 2), -1, np.int64)
    registers[before.keys] = before.registers
    found = np.empty((max(64, len(events.end) // 16), FOUND_WIDTH + 2 * program.uses.shape[1]), np.int64)
    places = np.zeros(PLACES, np.int64)
    room = table.MAX_CELLS
    while True:
        rows = Rows(events.offsets, kinds, events.signature, events.ref, events.start, events.end)
        known = kernel.Table(cells.plain, cells.next, cells.lists, *cells.action_lists(), program.uses)
        reached = kernel.run(known, rows, Position(states, registers, found, places))
        if reached == DONE:
            break
        if reached == FULL:
            found = grown(found, 2 * len(found) + len(cells.actions))
        elif cells.size > room:
            cells, states = _from_scratch(program, cells, states)
            kinds = _kinds(program, events.bits, cells)
            room = max(table.MAX_CELLS, 2 * cells.size)  # the states in use may themselves be many
        else:
            kind = kinds[events.signature[places[AT_ROW]]]
            cells.cell(int(states[places[AT_KEY]]), int(kind))
    moved = np.flatnonzero((states != 0) | (registers[:, :, 0] >= 0).any(axis=1))
    after = Walks(moved, tuple(cells.states[state] for state in states[moved].tolist()), registers[moved])
    return found[: places[FOUND]], after


def _program(detector: Detector) -> Walk:
    assert isinstance(detector.program, Walk)
    return detector.program


def _cells(program: Walk) -> Cells:
    """The table of a program, shared by all tasks of this process: later tasks reuse the cells of earlier ones."""
    if program.stepper not in _tables:
        _tables[program.stepper] = pickle.loads(program.table)
        if len(_tables) > _MOST_TABLES:
            _tables.popitem(last=False)
    _tables.move_to_end(program.stepper)
    return _tables[program.stepper]


def _kinds(program: Walk, bits: Array, cells: Cells) -> Array:
    """The kind of the events of each signature; -1 for irrelevant ones."""
    kinds = np.full(len(bits), -1, np.int64)
    for at in np.flatnonzero((bits & program.domain[0]).any(axis=1)).tolist():
        row = bits[at].tolist()
        kinds[at] = cells.kind(
            sum(1 << i for i, bit in enumerate(program.bits) if row[bit >> 6] >> (bit & 63) & 1)
        )
    return kinds


def _from_scratch(program: Walk, cells: Cells, states: Array) -> tuple[Cells, Array]:
    """A new table with nothing but the states in use."""
    empty = Cells(program.stepper)
    _tables[program.stepper] = empty
    distinct, inverse = np.unique(states, return_inverse=True)
    numbers = np.array([empty.state(cells.states[state]) for state in distinct.tolist()], np.int64)
    return empty, numbers[inverse]


def _matches(detector: Detector, found: Array) -> Matches:
    """The emissions as matches: the events in registers first, each in its place, then the event itself."""
    event = found[:, EVENT]
    used, starts = found[:, FOUND_WIDTH::2], found[:, FOUND_WIDTH + 1 :: 2]
    named = np.full((len(detector.emissions), used.shape[1]), -1, np.int64)
    for number, emission in enumerate(detector.emissions):
        named[number, : len(emission.roles)] = [detector.roles.index(role) for role in emission.roles]
    # The event itself is listed once, even if a register holds it, too.
    refs = np.concatenate([np.where(used == event[:, None], -1, used), event[:, None]], axis=1)
    names = np.concatenate([named[found[:, EMISSION]], found[:, [ROLE]]], axis=1)
    there = refs >= 0
    earliest = np.where(used >= 0, starts, NEVER).min(axis=1, initial=NEVER)
    return Matches(
        found[:, FOUND_KEY].copy(),
        np.minimum(earliest, found[:, EVENT_START]),
        found[:, EVENT_END].copy(),
        np.empty((len(found), 0), np.int64),
        np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64),
        refs[there],
        names[there],
        np.repeat(found[:, EVENT_END], there.sum(axis=1)),
        np.repeat(found[:, EVENT_START], there.sum(axis=1)),
        found[:, EMISSION].copy(),
    )
