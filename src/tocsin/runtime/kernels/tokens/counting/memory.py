"""The memory between batches where matches are only counted, and how a batch is fed to it.

A memory in a checkpoint:

| field | type | meaning |
|---|---|---|
| `keys` | int64 (K,) | the keys that have any state |
| `offsets` | int64 (K+1,) | which starts a key has |
| `times` | int64 (starts,) | when the first event of a start ended |
| `waiting` | int64 (starts, places) | how many partial matches of this and all later starts of the key wait at each place |
| `begun` | int64 (K,) | which of the start sets a key has |
| `known` | tuple | masks, places and start sets that the machine has met, which say what the numbers mean |
| `fed` | int | when the last event ended |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.protocol import Fed, Held, Memory, Numbers, Work, record, rows_of
from tocsin.runtime.kernels.tokens.counting import kernel
from tocsin.runtime.kernels.tokens.counting.kernel import (
    FOUND_BEGIN,
    FOUND_COUNT,
    FOUND_KEY,
    FOUND_REF,
    FOUND_TIME,
)
from tocsin.runtime.kernels.tokens.groups import memory as groups
from tocsin.runtime.kernels.tokens.groups.eligible import over_at
from tocsin.runtime.kernels.tokens.groups.letter_tables import Known, Unsuitable, known_of
from tocsin.runtime.kernels.tokens.groups.machine import goes_on
from tocsin.runtime.kernels.tokens.single import memory as single
from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.program import Array, Detector, Program
from tocsin.runtime.rows.value_numbers import Interned
from tocsin.runtime.too_much import cannot_go_back


class Counts(NamedTuple):
    """How many partial matches of one detector wait, by key, start and place."""

    keys: Array  # int64 (K,)
    offsets: Array  # int64 (K+1,): which starts a key has
    times: Array  # int64 (starts,): the end of the first event
    waiting: Array  # int64 (starts, places): of this and all later starts of the key
    begun: Array  # int64 (K,)
    known: Known
    fed: int  # when the last event ended


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether matches are only counted and groups can handle any event: there is no way back to single tokens."""
    return in_order and detector.choice.take == "count" and goes_on(detector)


def initial(detector: Detector) -> Counts:
    """The memory before the first event."""
    empty = np.empty(0, np.int64)
    return Counts(empty, np.zeros(1, np.int64), empty, np.empty((0, 0), np.int64), empty, Known(), LONG_AGO)


def feed(memory: Counts, work: Work) -> Fed | Memory:
    """Count the matches that each event completes."""
    try:
        tables, rows = groups.prepared(work, memory.known, memory.fed)
    except Unsuitable:
        if len(memory.keys):
            raise cannot_go_back(work.detector.choice.take) from None
        return Memory("single", single.initial(work.detector))
    keys = len(rows.offsets) - 1
    places, starts = tables.numbers_of(memory.known)
    waiting = np.zeros((len(memory.times), len(tables.places)), np.int64)
    waiting[:, places] = memory.waiting
    sizes = np.zeros(keys, np.int64)
    sizes[memory.keys] = np.diff(memory.offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    begun = np.zeros(keys, np.int64)
    if len(memory.keys):
        begun[memory.keys] = starts[memory.begun]
    before = kernel.Waiting(offsets, memory.times, waiting)
    found, after = kernel.run(rows, tables.moves, before, begun, work.keep)
    matches = _matches(found, work.interned)
    if not work.keep:
        return Fed(matches, initial(work.detector))
    # Starts that the window has passed are dropped; the number of each later start includes all after it.
    live = after.times > work.until - tables.window
    owner = np.repeat(np.arange(keys), np.diff(after.offsets))[live]
    alive = np.flatnonzero((np.bincount(owner, minlength=keys) > 0) | (begun != 0))
    own = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=keys)[alive])]).astype(np.int64)
    fed = max(memory.fed, int(work.events.end.max(initial=LONG_AGO)))
    return Fed(
        matches,
        Counts(alive, own, after.times[live], after.numbers[live], begun[alive], tables.known, fed),
    )


def size(memory: Counts) -> int:
    """The number of starts remembered."""
    return len(memory.times)


def partial(detector: Detector, memory: Counts) -> None:
    """Return None: partial matches are not kept one by one."""


def due(detector: Detector, memory: Counts) -> int:
    """The time at which the last start expires."""
    assert isinstance(detector.program, Program)
    return over_at(detector.program, memory.times)


def held(detector: Detector, memory: Counts) -> Held:
    """The keys; no events."""
    nothing = np.empty(0, np.int64)
    return Held(memory.keys, nothing, nothing)


def renumber(detector: Detector, memory: Counts, new: Numbers) -> Counts:
    """The memory with new numbers for keys."""
    return memory._replace(keys=new.keys(memory.keys))


def restrict(memory: Counts, keep: Array) -> Counts:
    """The starts of some keys alone."""
    own = keep[memory.keys]
    offsets, times = rows_of(memory.offsets, memory.times, own)
    _, waiting = rows_of(memory.offsets, memory.waiting, own)
    return memory._replace(
        keys=memory.keys[own], offsets=offsets, times=times, waiting=waiting, begun=memory.begun[own]
    )


def fields(memory: Counts) -> dict[str, Any]:
    """The fields in the table above."""
    return {**memory._asdict(), "known": tuple(memory.known)}


def from_fields(fields: Mapping[str, Any]) -> Counts:
    """The memory with these fields."""
    memory = record(Counts, fields)
    return memory._replace(known=known_of(memory.known))


def _matches(found: Array, interned: Interned) -> Matches:
    """One match for each event that completes any: the event, and the count."""
    distinct, which = np.unique(found[:, FOUND_COUNT], return_inverse=True)
    numbers = np.array([interned.number(int(count)) for count in distinct], np.int64)
    begin, end = found[:, FOUND_BEGIN].copy(), found[:, FOUND_TIME].copy()
    return Matches(
        found[:, FOUND_KEY].copy(),
        begin,
        end,
        numbers[which].reshape(-1, 1),
        np.arange(len(found) + 1),
        found[:, FOUND_REF].copy(),
        np.zeros(len(found), np.int64),
        end,
        begin,
    )
