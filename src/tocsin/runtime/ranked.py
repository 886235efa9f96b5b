"""What is known between batches where only the first n matches, or the last, are reported (see `ranking`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime import ranking as kernel
from tocsin.runtime import tokens
from tocsin.runtime.chains import LINK_WIDTH
from tocsin.runtime.forks import LOG_LETTER, LOG_PLACE, LOG_WIDTH
from tocsin.runtime.found import Matches
from tocsin.runtime.grouped import Events
from tocsin.runtime.groups import Rows
from tocsin.runtime.keys import Keys
from tocsin.runtime.limits import too_many_partial_matches
from tocsin.runtime.listing import matches_of
from tocsin.runtime.machine import Known, Tables
from tocsin.runtime.program import Array, Choice


class Ranks(NamedTuple):
    """The partial matches of one detector that may be reported, by key: as chains, or as what has happened in the window."""

    keys: Array  # int64 (K,)
    begun: Array  # int64 (K,): which of the start sets
    link_at: Array  # int64 (K+1,): which links a key has; they know each other by their place among those of the key
    links: Array  # int64 (L, LINK_WIDTH)
    root_at: Array  # int64 (K+1,)
    roots: Array  # int64 (R, 2): place, and the last link of a chain that waits there; the chains of a place in order
    log_at: Array  # int64 (K+1,)
    log: Array  # int64 (E, LOG_WIDTH)
    known: Known
    fed: int  # when the last event ended


def no_ranks() -> Ranks:
    """Before the first event."""
    empty, zero = np.empty(0, np.int64), np.zeros(1, np.int64)
    links, roots, log = (np.empty((0, width), np.int64) for width in (LINK_WIDTH, 2, LOG_WIDTH))
    return Ranks(empty, empty, zero, links, zero, roots, zero, log, Known(), int(tokens.LONG_AGO))


def rank(
    choice: Choice,
    before: Ranks,
    tables: Tables,
    letters: Array,
    events: Events,
    until: int,
    keep: bool,
    limit: int,
    keys: Keys,
) -> tuple[Matches, Ranks]:
    """Feed events, and report what is wanted of what each completes. More than `limit` links or events of a key: an error."""
    found, after, _ = counted(choice, before, tables, letters, events, until, keep)
    matches = matches_of(*found)
    if not keep:
        return matches, no_ranks()
    begun, (link_at, links, root_at, roots, log_at, log) = after
    sizes = np.diff(link_at) + np.diff(log_at)
    if sizes.max(initial=0) > limit:
        raise too_many_partial_matches(limit, keys.value(int(sizes.argmax())))
    alive = np.flatnonzero((sizes > 0) | (begun != 0))

    def of_alive(offsets: Array) -> Array:
        return np.concatenate([[0], np.cumsum(np.diff(offsets)[alive])]).astype(np.int64)

    fed = max(before.fed, int(events.end.max(initial=tokens.LONG_AGO)))
    return matches, Ranks(
        alive,
        begun[alive],
        of_alive(link_at),
        links,
        of_alive(root_at),
        roots,
        of_alive(log_at),
        log,
        tables.known,
        fed,
    )


def counted(
    choice: Choice, before: Ranks, tables: Tables, letters: Array, events: Events, until: int, keep: bool
) -> tuple[tuple[Array, Array], tuple[Array, tuple[Array, ...]], int]:
    """What the kernel found, what follows, and how many steps that took."""
    keys = len(events.offsets) - 1
    places, start_sets = tables.numbers_of(before.known)
    begun = np.zeros(keys, np.int64)
    roots, log = before.roots.copy(), before.log.copy()
    if len(before.keys):
        begun[before.keys] = start_sets[before.begun]
        roots[:, 0] = places[roots[:, 0]]
        waits = log[:, LOG_PLACE] >= 0
        log[waits, LOG_PLACE] = places[log[waits, LOG_PLACE]]
        same = np.array([0, *(tables.letters[mask] for mask in before.known.masks), tables.tick], np.int64)
        log[:, LOG_LETTER] = same[log[:, LOG_LETTER]]

    def of_all(offsets: Array) -> Array:
        sizes = np.zeros(keys, np.int64)
        sizes[before.keys] = np.diff(offsets)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    found, after, steps = kernel.run(
        Rows(events.offsets, letters, events.signature, events.start, events.end, events.ref),
        tables.transfers,
        tables.transfer_at,
        tables.leaving,
        tables.leaving_at,
        tables.starts,
        tables.window,
        tables.tick,
        len(tables.places),
        1 if choice.take == "last" else choice.limit,
        choice.take == "last",
        begun,
        of_all(before.link_at),
        before.links,
        of_all(before.root_at),
        roots,
        of_all(before.log_at),
        log,
        keep,
        until,
    )
    return found, (begun, after), int(steps)
