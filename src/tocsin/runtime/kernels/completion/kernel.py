"""The walking kernel: runs one detector of the completion family over the events of many keys.

Each key has one state and some registers, which hold events that may have to be sent on. The kernel stops where the table has
a gap; the shell fills the gap and resumes the kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.completion.table import CLEAR, EMIT, FIRST, KEEP
from tocsin.runtime.program import Array

# Columns of `found`; the registers that an emission needs follow, as pairs of an event and its start.
FOUND_KEY, EMISSION, EVENT, ROLE, EVENT_START, EVENT_END, FOUND_WIDTH = range(7)
# The kernel's position, and the number of rows in `found`.
AT_KEY, AT_ROW, FOUND, PLACES = range(4)
DONE, GAP, FULL = range(3)


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order."""

    offsets: Array  # int64 (keys+1,)
    kind: Array  # int64 by signature: -1 for irrelevant events
    signature: Array  # int32 (R,)
    ref: Array  # int64 (R,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)


class Table(NamedTuple):
    """The part of a table that has been computed (see `table.Cells`)."""

    plain: Array  # int32 (states, kinds+1): the next state where nothing else happens, -1 elsewhere
    next: Array  # int32 (states, kinds): the next state, -1 for a gap
    lists: Array  # int32 (states, kinds): the list of actions
    offsets: Array  # int64: where each list begins
    actions: Array  # int64 (actions, 3)
    uses: Array  # int64 (emissions, U): the registers an emission needs


class Position(NamedTuple):
    """The states and registers of the keys, and what they have sent."""

    states: Array  # int64 (keys,)
    registers: Array  # int64 (keys, registers, 2): event, or -1; its start
    found: Array  # int64 (room, FOUND_WIDTH + 2 * U)
    places: Array  # int64 (PLACES,)


@kernel
def run(table, rows, position):  # type: ignore[no-untyped-def]
    """Feed rows to their keys from the position in `places` on; stops at a gap of the table or when `found` is full."""
    plain, next, lists, offsets, actions, uses = table
    key_rows, kinds, signature, refs, starts, ends = rows
    states, registers, found, places = position
    for key in range(places[AT_KEY], len(key_rows) - 1):
        state = states[key]
        for row in range(max(places[AT_ROW], key_rows[key]), key_rows[key + 1]):
            kind = kinds[signature[row]]
            # For most events this is all; irrelevant ones have the last column, which kind -1 indexes.
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
