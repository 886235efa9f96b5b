"""The memory between batches where only the first n matches, or the last, are reported, and how a batch is fed to it.

A memory in a checkpoint:

| field | type | meaning |
|---|---|---|
| `keys` | int64 (K,) | the keys that have any state |
| `begun` | int64 (K,) | which of the start sets a key has |
| `link_at`, `links` | int64 (K+1,), (L, LINK_WIDTH) | the links of each key; columns as in `prefixes` |
| `root_at`, `roots` | int64 (K+1,), (R, 2) | place, and the last link of a chain that waits there; those of a place in order |
| `log_at`, `log` | int64 (K+1,), (E, LOG_WIDTH) | the events in the window; columns as in `suffixes` |
| `known` | tuple | masks, places and start sets that the machine has met, which say what the numbers mean |
| `fed` | int | when the last event ended |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.kernels.protocol import Fed, Held, Memory, Numbers, Work, record, rows_of
from tocsin.runtime.kernels.tokens.first_last import kernel
from tocsin.runtime.kernels.tokens.first_last.prefixes import FIRST, LINK_WIDTH
from tocsin.runtime.kernels.tokens.first_last.suffixes import LOG_LETTER, LOG_PLACE, LOG_WIDTH
from tocsin.runtime.kernels.tokens.groups import memory as groups
from tocsin.runtime.kernels.tokens.groups.eligible import over_at
from tocsin.runtime.kernels.tokens.groups.enumerate import PART_REF, PART_TIME, matches_of
from tocsin.runtime.kernels.tokens.groups.letter_tables import Known, Rows, Tables, Unsuitable, known_of
from tocsin.runtime.kernels.tokens.groups.machine import goes_on
from tocsin.runtime.kernels.tokens.single import memory as single
from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.program import Array, Detector, Program
from tocsin.runtime.too_much import cannot_go_back, too_many_partial_matches


class Ranks(NamedTuple):
    """The partial matches of one detector that may be reported, by key: as chains, or as a log of the events in the window."""

    keys: Array  # int64 (K,)
    begun: Array  # int64 (K,): which of the start sets
    link_at: Array  # int64 (K+1,): which links a key has; links refer to each other by their index among those of the key
    links: Array  # int64 (L, LINK_WIDTH)
    root_at: Array  # int64 (K+1,)
    roots: Array  # int64 (R, 2): place, and the last link of a chain that waits there; the chains of a place in order
    log_at: Array  # int64 (K+1,)
    log: Array  # int64 (E, LOG_WIDTH)
    known: Known
    fed: int  # when the last event ended


class Ranked(NamedTuple):
    """The result of the kernel."""

    found: Array  # matches and their events, as in `groups.enumerate`
    parts: Array
    begun: Array  # int64 (keys,)
    after: kernel.Known
    steps: int  # a count of the work done


def serves(detector: Detector, in_order: bool) -> bool:
    """Whether only some matches are taken and groups can handle any event: there is no way back to tokens."""
    return in_order and detector.choice.take in ("first", "last") and goes_on(detector)


def initial(detector: Detector) -> Ranks:
    """The memory before the first event."""
    empty, zero = np.empty(0, np.int64), np.zeros(1, np.int64)
    links, roots, log = (np.empty((0, width), np.int64) for width in (LINK_WIDTH, 2, LOG_WIDTH))
    return Ranks(empty, empty, zero, links, zero, roots, zero, log, Known(), LONG_AGO)


def feed(memory: Ranks, work: Work) -> Fed | Memory:
    """Report the first n or the last match that each event completes; raise if a key's links or events exceed the limit."""
    try:
        tables, rows = groups.prepared(work, memory.known, memory.fed)
    except Unsuitable:
        if len(memory.keys):
            raise cannot_go_back(work.detector.choice.take) from None
        return Memory("single", single.initial(work.detector))
    done = ranked(memory, work, tables, rows)
    matches = matches_of(done.found, done.parts)
    if not work.keep:
        return Fed(matches, initial(work.detector))
    after = done.after
    sizes = np.diff(after.link_at) + np.diff(after.log_at)
    if sizes.max(initial=0) > work.limit:
        raise too_many_partial_matches(work.limit, work.keys.value(int(sizes.argmax())))
    alive = np.flatnonzero((sizes > 0) | (done.begun != 0))

    def of_alive(offsets: Array) -> Array:
        return np.concatenate([[0], np.cumsum(np.diff(offsets)[alive])]).astype(np.int64)

    fed = max(memory.fed, int(work.events.end.max(initial=LONG_AGO)))
    return Fed(
        matches,
        Ranks(
            alive,
            done.begun[alive],
            of_alive(after.link_at),
            after.links,
            of_alive(after.root_at),
            after.roots,
            of_alive(after.log_at),
            after.log,
            tables.known,
            fed,
        ),
    )


def ranked(memory: Ranks, work: Work, tables: Tables, rows: Rows) -> Ranked:
    """Run the kernel over the rows, with the memory renumbered for these tables."""
    keys, choice = len(rows.offsets) - 1, work.detector.choice
    places, start_sets = tables.numbers_of(memory.known)
    begun = np.zeros(keys, np.int64)
    roots, log = memory.roots.copy(), memory.log.copy()
    if len(memory.keys):
        begun[memory.keys] = start_sets[memory.begun]
        roots[:, 0] = places[roots[:, 0]]
        waits = log[:, LOG_PLACE] >= 0
        log[waits, LOG_PLACE] = places[log[waits, LOG_PLACE]]
        same = np.array([0, *(tables.letters[mask] for mask in memory.known.masks), tables.tick], np.int64)
        log[:, LOG_LETTER] = same[log[:, LOG_LETTER]]

    def of_all(offsets: Array) -> Array:
        sizes = np.zeros(keys, np.int64)
        sizes[memory.keys] = np.diff(offsets)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    last = choice.take == "last"
    found, after, steps = kernel.run(
        rows,
        tables.moves,
        kernel.Wants(len(tables.places), 1 if last else choice.limit, last, work.keep, work.until),
        begun,
        kernel.Known(
            of_all(memory.link_at), memory.links, of_all(memory.root_at), roots, of_all(memory.log_at), log
        ),
    )
    matches, parts = found
    return Ranked(matches, parts, begun, after, int(steps))


def size(memory: Ranks) -> int:
    """The number of links and events remembered."""
    return len(memory.links) + len(memory.log)


def partial(detector: Detector, memory: Ranks) -> None:
    """Return None: partial matches are not kept one by one."""


def due(detector: Detector, memory: Ranks) -> int:
    """The time at which the last partial match expires."""
    assert isinstance(detector.program, Program)
    return over_at(detector.program, np.concatenate([memory.links[:, FIRST], memory.log[:, PART_TIME]]))


def held(detector: Detector, memory: Ranks) -> Held:
    """The keys, and the events of links and of the log."""
    refs = np.concatenate([memory.links[:, PART_REF], memory.log[:, PART_REF]])
    return Held(memory.keys, refs, np.empty(0, np.int64))


def renumber(detector: Detector, memory: Ranks, new: Numbers) -> Ranks:
    """The memory with new numbers for keys and events."""
    for table in (memory.links, memory.log):
        table[:, PART_REF] = new.refs(table[:, PART_REF])
    return memory._replace(keys=new.keys(memory.keys))


def restrict(memory: Ranks, keep: Array) -> Ranks:
    """The memory of some keys alone."""
    own = keep[memory.keys]
    link_at, links = rows_of(memory.link_at, memory.links, own)
    root_at, roots = rows_of(memory.root_at, memory.roots, own)
    log_at, log = rows_of(memory.log_at, memory.log, own)
    return Ranks(
        memory.keys[own],
        memory.begun[own],
        link_at,
        links,
        root_at,
        roots,
        log_at,
        log,
        memory.known,
        memory.fed,
    )


def fields(memory: Ranks) -> dict[str, Any]:
    """The fields in the table above."""
    return {**memory._asdict(), "known": tuple(memory.known)}


def from_fields(fields: Mapping[str, Any]) -> Ranks:
    """The memory with these fields."""
    memory = record(Ranks, fields)
    return memory._replace(known=known_of(memory.known))
