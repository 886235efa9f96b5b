"""The tables of a machine over groups of partial matches, as kernels read them (see `machine`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.encoding import damaged
from tocsin.runtime.program import Array

EMIT = -2  # in place of a place: the match is complete
NOWHERE = -1
# Columns of a transfer from place to place.
FROM, TO, TAKES, ROLE = range(4)
# Columns of the table of starts.
NEXT_START, BEGUN, COMPLETE, FIRST_ROLE = range(4)

States = tuple[int, ...]  # states of the program, sorted
Way = tuple[int, States]  # its condition, and the states it waits in
FRESH, ESCAPED = 1, 2  # conditions of a way
Ways = tuple[Way, ...]  # of one first event, in the order of their events
Place = tuple[Ways, int]  # all ways, and which of them waits here


class Unsuitable(Exception):  # noqa: N818  (not an error: another kernel takes over)
    """Groups cannot run the program over these events."""


class Known(NamedTuple):
    """The masks, places and start sets that the numbers in a state refer to; a machine elsewhere must learn them first."""

    masks: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()
    start_sets: tuple[States, ...] = ()


class Moves(NamedTuple):
    """The tables as input of kernels; `Tables` describes each."""

    transfers: Array
    transfer_at: Array
    leaving: Array
    leaving_at: Array
    starts: Array
    window: int
    tick: int


class Rows(NamedTuple):
    """Events of many keys as input of kernels, sorted by key and then in the total order."""

    offsets: Array  # int64 (keys+1,)
    letter: Array  # int64 by signature
    signature: Array  # int32 (R,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ref: Array  # int64 (R,)


class Groups(NamedTuple):
    """The partial matches of one detector, in groups by key and place (see `kernel`), between batches."""

    keys: Array  # int64 (K,)
    roots: Array  # int64 (K, places): -1 for an empty group
    begun: Array  # int64 (K,): which of the start sets
    nodes: Array  # int64 (N, NODE_WIDTH)
    known: Known
    fed: int  # when the last event ended


class Tables(NamedTuple):
    """The tables of a machine. L letters (letter 0 is irrelevant), P places; starts are the known sets of start states."""

    letters: dict[int, int]  # mask -> letter
    transfers: Array  # int64 (transfers, 4)
    transfer_at: Array  # int64 (L+1,)
    leaving: Array  # int64: places that a letter empties before anything arrives
    leaving_at: Array  # int64 (L+1,)
    starts: Array  # int64 (start sets, L, 4)
    places: tuple[Place, ...]
    start_sets: tuple[States, ...]
    window: int
    tick: int  # the letter for the advance of time; 0 where it makes no difference
    escapes: Array  # int64 (escapes, 2): from place to place, at the end of the window when time advances
    monotone: bool  # no later start is ever complete before an earlier one that is still incomplete

    @property
    def moves(self) -> Moves:
        """The tables that a kernel needs."""
        return Moves(
            self.transfers,
            self.transfer_at,
            self.leaving,
            self.leaving_at,
            self.starts,
            self.window,
            self.tick,
        )

    @property
    def known(self) -> Known:
        """The tables' own `Known`, by which another process understands a state."""
        return Known(tuple(self.letters), self.places, self.start_sets)

    def numbers_of(self, known: Known) -> tuple[Array, Array]:
        """The numbers that the places and start sets of another machine of the program have here."""
        places = {place: number for number, place in enumerate(self.places)}
        starts = {states: number for number, states in enumerate(self.start_sets)}
        return (
            np.array([places[one] for one in known.places], np.int64),
            np.array([starts[one] for one in known.start_sets], np.int64),
        )


def known_of(fields: Any) -> Known:
    """Read `Known` from the fields of a checkpoint."""
    if not isinstance(fields, tuple) or len(fields) != len(Known._fields):
        raise damaged("what a machine has met has other fields")
    return Known(*fields)
