"""The walking kernel: runs one detector of the completion family over the events of many keys.

A key has one state and some registers, which hold events that may have to be sent on. The kernel stops where the table has
a gap; the shell fills it and lets the kernel go on.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from tocsin.runtime import table
from tocsin.runtime.compiling import kernel
from tocsin.runtime.grouped import Events
from tocsin.runtime.program import Array, Walk
from tocsin.runtime.table import CLEAR, EMIT, FIRST, KEEP, Cells

# Columns of what was found; the registers that an emission needs follow, as pairs of an event and its start.
FOUND_KEY, EMISSION, EVENT, ROLE, EVENT_START, EVENT_END, FOUND_WIDTH = range(7)
# Where the kernel is, and how much it has found.
AT_KEY, AT_ROW, FOUND, PLACES = range(4)
DONE, GAP, FULL = range(3)


class Walks(NamedTuple):
    """Where the keys of one detector are: a configuration and the remembered events of each key that has any."""

    keys: Array  # int64 (keys,), sorted
    configurations: tuple[Hashable, ...]
    registers: Array  # int64 (keys, registers, 2): event, or -1; its start


def start(program: Walk) -> Walks:
    """No key has seen an event yet."""
    return Walks(np.empty(0, np.int64), (), np.empty((0, program.registers, 2), np.int64))


@kernel
def _run(  # type: ignore[no-untyped-def]
    plain,
    next,
    lists,
    offsets,
    actions,
    uses,
    key_rows,
    kinds,
    signature,
    refs,
    starts,
    ends,
    states,
    registers,
    found,
    places,
):
    """Feed rows to their keys from where `places` says; stops at a gap of the table or when `found` is full."""
    for key in range(places[AT_KEY], len(key_rows) - 1):
        state = states[key]
        for row in range(max(places[AT_ROW], key_rows[key]), key_rows[key + 1]):
            kind = kinds[signature[row]]
            # For most events this is all; those that are not looked at have the last column, which kind -1 leads to.
            then = plain[state, kind]
            if then >= 0:
                state = np.int64(then)
                continue
            then = next[state, kind]
            if then < 0:
                states[key], places[AT_KEY], places[AT_ROW] = state, key, row
                return GAP
            first, last = offsets[lists[state, kind]], offsets[lists[state, kind] + 1]
            if first < last:
                if places[FOUND] + last - first > len(found):
                    states[key], places[AT_KEY], places[AT_ROW] = state, key, row
                    return FULL
                for at in range(first, last):
                    what, number = actions[at, 0], actions[at, 1]
                    if what == KEEP or (what == FIRST and registers[key, number, 0] < 0):
                        registers[key, number, 0], registers[key, number, 1] = refs[row], starts[row]
                    elif what == CLEAR:
                        registers[key, number, 0] = -1
                    elif what == EMIT:
                        new = places[FOUND]
                        places[FOUND] += 1
                        found[new, FOUND_KEY], found[new, EMISSION], found[new, EVENT] = (
                            key,
                            number,
                            refs[row],
                        )
                        found[new, ROLE], found[new, EVENT_START] = actions[at, 2], starts[row]
                        found[new, EVENT_END] = ends[row]
                        for use in range(uses.shape[1]):
                            register = uses[number, use]
                            column = FOUND_WIDTH + 2 * use
                            found[new, column] = registers[key, register, 0] if register >= 0 else -1
                            found[new, column + 1] = registers[key, register, 1] if register >= 0 else 0
            state = np.int64(then)
        states[key] = state
    return DONE


_tables: OrderedDict[bytes, Cells] = OrderedDict()
_MOST_TABLES = 64


def _cells(program: Walk) -> Cells:
    """The table of a program in this process; what one task worked out, the next one has."""
    if program.stepper not in _tables:
        _tables[program.stepper] = pickle.loads(program.table)
        if len(_tables) > _MOST_TABLES:
            _tables.popitem(last=False)
    _tables.move_to_end(program.stepper)
    return _tables[program.stepper]


def walk(program: Walk, before: Walks, events: Events) -> tuple[Array, Walks]:
    """What a program sends for events, and where its keys are then."""
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
        reached = _run(
            cells.plain, cells.next, cells.lists, *cells.action_lists(), program.uses, events.offsets, kinds, events.signature,
            events.ref, events.start, events.end, states, registers, found, places,
        )  # fmt: skip
        if reached == DONE:
            break
        if reached == FULL:
            grown = np.empty((2 * len(found) + len(cells.actions), found.shape[1]), np.int64)
            grown[: len(found)] = found
            found = grown
        elif cells.size > room:
            cells, states = _afresh(program, cells, states)
            kinds = _kinds(program, events.bits, cells)
            room = max(table.MAX_CELLS, 2 * cells.size)  # the states in use may be many themselves
        else:
            kind = kinds[events.signature[places[AT_ROW]]]
            cells.cell(int(states[places[AT_KEY]]), int(kind))
    moved = np.flatnonzero((states != 0) | (registers[:, :, 0] >= 0).any(axis=1))
    after = Walks(moved, tuple(cells.states[state] for state in states[moved].tolist()), registers[moved])
    return found[: places[FOUND]], after


def _kinds(program: Walk, bits: Array, cells: Cells) -> Array:
    """The kind of the events of each signature; -1 for those the program does not look at."""
    kinds = np.full(len(bits), -1, np.int64)
    for at in np.flatnonzero((bits & program.domain[0]).any(axis=1)).tolist():
        row = bits[at].tolist()
        kinds[at] = cells.kind(
            sum(1 << i for i, bit in enumerate(program.bits) if row[bit >> 6] >> (bit & 63) & 1)
        )
    return kinds


def _afresh(program: Walk, cells: Cells, states: Array) -> tuple[Cells, Array]:
    """A table that knows nothing but the states that are in use."""
    empty = Cells(program.stepper)
    _tables[program.stepper] = empty
    distinct, inverse = np.unique(states, return_inverse=True)
    numbers = np.array([empty.state(cells.states[state]) for state in distinct.tolist()], np.int64)
    return empty, numbers[inverse]
