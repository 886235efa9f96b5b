"""The interface of a kernel: a folder whose module `memory` has the functions of `Kernel`.

A kernel runs the detectors it serves. Between two batches it keeps a value of its own, its *memory*, which is opaque to all
other code: `feed`, `state`, `next_state` and the shards of streams call these functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from tocsin.runtime.encoding import damaged
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.program import Array, Detector
from tocsin.runtime.rows.keys import Keys
from tocsin.runtime.rows.value_numbers import Interned

_Record = TypeVar("_Record")


class Events(NamedTuple):
    """Rows of all keys, sorted by key and then in the total order; signature `s` has the bits of `bits[s]`."""

    offsets: Array  # int64 (keys+1,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ref: Array  # int64 (R,): the reference by which a match remembers the row
    signature: Array  # int32 (R,)
    bits: Array  # uint64 (signatures, words)


class Input(NamedTuple):
    """Composite events as rows for another detector, sorted by key and in the total order."""

    key: Array  # int64 (R,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    bits: Array  # uint64 (R, words)
    values: Array  # int32 (R, compared columns)
    ref: Array  # int64 (R,)
    first_end: Array  # int64 (R,): the end of the first of its events


class Work(NamedTuple):
    """A batch, for one detector."""

    detector: Detector
    events: Events
    values: Array  # int32 (R, compared columns): numbers of values, -1 for a missing one
    inputs: Sequence[Input]  # the composites of the detectors it reads
    composites: Array  # int64: for each composite a number that orders those of equal time
    interned: Interned
    keys: Keys
    until: int  # the time up to which timers run out after the events
    keep: bool  # whether a memory has to be returned; false for the last batch
    limit: int  # partial matches of a key


class Memory(NamedTuple):
    """The memory of one detector, with the name of the kernel that understands it."""

    kind: str
    content: Any


class Fed(NamedTuple):
    """The result of a batch: matches, and the memory after it."""

    matches: Matches
    content: Any


class Held(NamedTuple):
    """The numbers of the keys, values and events that a memory refers to; negative: none, or a composite (see `state`)."""

    keys: Array
    refs: Array
    values: Array


class PartialMatch(NamedTuple):
    """A partial match that waits: its key, the state of the program, its events, and its timers.

    An event is its ref, the number of its role (-1 if it has none), its start and its end; a timer is its number and when it
    runs out.
    """

    key: int
    state: int
    events: tuple[tuple[int, int, int, int], ...]
    timers: tuple[tuple[int, int], ...] = ()


class Numbers(NamedTuple):
    """The new number of everything that a state numbers; -1 stands for nothing, or for a timer, and stays."""

    key_places: Array
    value_places: Array
    row_places: Array
    composite_places: Array

    def keys(self, numbers: Array) -> Array:
        """The new numbers of keys."""
        return self.key_places[numbers]

    def values(self, numbers: Array) -> Array:
        """The new numbers of values."""
        return self.value_places[numbers]

    def refs(self, numbers: Array) -> Array:
        """The new refs of events and composites."""
        if not len(self.composite_places):
            return self.row_places[numbers]
        composite = self.composite_places[np.where(numbers <= -2, -2 - numbers, -1)]
        return np.where(numbers <= -2, composite, self.row_places[np.maximum(numbers, -1)])


class Kernel(Protocol):
    """The functions that the module `memory` of a kernel's folder has."""

    def serves(self, detector: Detector, in_order: bool) -> bool:
        """Whether the kernel can run a detector; `in_order`: no event will lie before one that was fed earlier."""

    def initial(self, detector: Detector) -> Any:
        """The memory before the first event."""

    def feed(self, memory: Any, work: Work) -> Fed | Memory:
        """Feed a batch; or, if this kernel cannot handle these events, return a memory for another kernel to continue with."""

    def size(self, memory: Any) -> int:
        """The number of partial matches that are waiting, or of the entries that stand for them."""

    def partial(self, detector: Detector, memory: Any) -> list[PartialMatch] | None:
        """The partial matches that wait, one by one; None if the memory holds only sums of them."""

    def due(self, detector: Detector, memory: Any) -> int:
        """The earliest time at which it acts or forgets something without an event; NEVER if there is none."""

    def held(self, detector: Detector, memory: Any) -> Held:
        """The keys, values and events that a memory refers to."""

    def renumber(self, detector: Detector, memory: Any, new: Numbers) -> Any:
        """The memory with new numbers for everything it refers to; the memory passed in must not be used again."""

    def restrict(self, memory: Any, keep: Array) -> Any:
        """A copy with some keys only; `keep` holds for each key whether it stays."""

    def fields(self, memory: Any) -> dict[str, Any]:
        """The memory as plain values by name, as `encoding` writes them."""

    def from_fields(self, fields: Mapping[str, Any]) -> Any:
        """The memory that `fields` was called on."""


def record(made: type[_Record], fields: Mapping[str, Any]) -> _Record:
    """Build a NamedTuple from plain values of a checkpoint."""
    names: tuple[str, ...] = made._fields  # type: ignore[attr-defined]  # what NamedTuples have
    if not isinstance(fields, dict) or set(fields) != set(names):
        raise damaged(f"{made.__name__} has other fields: {', '.join(map(str, fields))}")
    return made(**fields)


def rows_of(offsets: Array, rows: Array, keep: Array) -> tuple[Array, Array]:
    """The rows of the keys that stay, and their offsets, given rows that belong to keys from offset to offset."""
    sizes = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64), rows[np.repeat(keep, sizes)]
