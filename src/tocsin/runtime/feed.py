"""Feed events to a plan: the shell around the kernels.

The law: `feed(a + b)` finds the same matches as `feed(a)` followed by `feed(b)`, for every cut of a stream in which no event of
`b` lies before the time up to which `a` was fed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.composites import Composite, as_input, numbers_of
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.protocol import Events, Fed, Input, Memory, Work
from tocsin.runtime.kernels.registry import kernel_named
from tocsin.runtime.next_state import state_after
from tocsin.runtime.program import Array, Plan
from tocsin.runtime.rows.keys import Keys, numbered
from tocsin.runtime.rows.signatures import signatures
from tocsin.runtime.rows.total_order import ascend, total_order
from tocsin.runtime.rows.value_numbers import Column, Interned
from tocsin.runtime.state import State
from tocsin.runtime.too_much import out_of_memory

MAX_TOKENS = 5_000_000  # some 250 bytes each


class ByKey(NamedTuple):
    """Where the rows of each key begin, and the keys; those of the state come first."""

    offsets: Array  # int64 (keys+1,)
    keys: Keys


class Batch(NamedTuple):
    """Events to feed, in any order. `events` holds the columns that matches report; detection reads the others."""

    events: pa.Table  # any columns
    keys: list[Column]  # key columns, none for one stream of all events
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ids: pa.Array | Array | None  # break ties in time; None for the order of the rows
    bits: Array  # uint64 (R, words), or (signatures, words) if there are any
    values: list[Column]  # one column for each of the plan's `columns`
    ordered: bool = False  # the rows are sorted by key and in the total order already
    signatures: Array | None = None  # int32 (R,): the row of `bits` that an event has
    by_key: ByKey | None = None  # if known; then the rows are sorted
    begins: Mapping[int, Array] | None = None  # by detector, the first row of each key it is fed


class Result(NamedTuple):
    """The result of a batch. `matches` has an entry for each detector, in the order of the plan."""

    matches: tuple[Matches, ...]
    events: pa.Table  # the rows that refs of primitive events point to
    composites: tuple[Composite, ...]
    keys: Keys
    values: list[Any]
    state: State | None


class _Primitive(NamedTuple):
    """The primitive events of a batch."""

    events: Events
    values: Array


def feed(
    plan: Plan, state: State, batch: Batch, until: int, *, keep: bool = True, limit: int = MAX_TOKENS
) -> Result:
    """Feed a batch and advance time to `until`; every event up to then must have been fed.

    `keep=False` skips building the next state, for a last batch.
    """
    batch, (offsets, keys) = _by_key(batch, state.keys)
    kept = 0 if state.events is None else state.events.num_rows
    interned = Interned()
    for value in state.values:
        interned.number(value)
    columns = [interned.column(column) for column in batch.values]
    values = np.stack(columns, axis=1) if columns else np.empty((len(batch.end), 0), np.int32)
    primitive = _Primitive(_events(batch, offsets, kept), values)
    events = batch.events
    if state.events is not None:
        events = pa.concat_tables([fitting(state.events, events.schema), events])
    composites = list(state.composites)
    found: list[Matches] = []
    after: list[Memory] = []
    produced: dict[int, Input] = {}
    read_by_others = {number for detector in plan.detectors for number in detector.inputs}
    for number, detector in enumerate(plan.detectors):
        own = _own(primitive, batch.begins, number)
        work = Work(
            detector,
            own.events,
            own.values,
            [produced[one] for one in detector.inputs],
            numbers_of(detector, composites),
            interned,
            keys,
            until,
            keep,
            limit,
        )
        matches, then = _step(state.detectors[number], work)
        found.append(matches)
        after.append(then)
        if number in read_by_others:
            produced[number] = as_input(plan, number, matches, composites, interned)
    following = state_after(plan, keys, interned.values, events, composites, after) if keep else None
    return Result(tuple(found), events, tuple(composites), keys, interned.values, following)


def _step(memory: Memory, work: Work) -> tuple[Matches, Memory]:
    """The matches and the new memory of a detector, from the kernel of its memory or the one that it hands over to."""
    while True:
        try:
            done = kernel_named(memory.kind).feed(memory.content, work)
        except MemoryError:
            raise out_of_memory(len(work.events.ref)) from None
        if isinstance(done, Fed):
            return done.matches, Memory(memory.kind, done.content)
        memory = done


def fitting(kept: pa.Table, schema: pa.Schema) -> pa.Table:
    """Kept events in the schema of the incoming ones; patterns that changed may need other columns."""
    if kept.schema == schema:
        return kept
    there = set(kept.column_names)
    columns = [
        kept.column(field.name).cast(field.type)
        if field.name in there
        else pa.nulls(kept.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _sorted(batch: Batch, order: Array) -> Batch:
    def column(values: Column) -> Column:
        return (
            [values[row] for row in order.tolist()]
            if isinstance(values, list)
            else values.take(pa.array(order))
        )

    return batch._replace(
        events=batch.events.take(pa.array(order)),
        start=batch.start[order],
        end=batch.end[order],
        bits=batch.bits[order] if batch.signatures is None else batch.bits,
        signatures=None if batch.signatures is None else batch.signatures[order],
        values=[column(values) for values in batch.values],
    )


def _by_key(batch: Batch, known: Keys) -> tuple[Batch, ByKey]:
    """Sort the batch by key and in the total order, and find where each key begins; known keys keep their numbers."""
    if batch.by_key is not None:
        return batch, batch.by_key
    if batch.ordered and not known.size and (found := _runs(batch.keys)) is not None:
        return batch, found
    codes, keys = np.zeros(len(batch.end), np.int64), Keys((), 1)
    if batch.keys:
        codes, keys = numbered(known, batch.keys)
    elif batch.ordered:
        return batch, ByKey(np.array([0, len(codes)]), keys)
    if batch.ordered and ascend(codes):
        return batch, ByKey(np.searchsorted(codes, np.arange(keys.size + 1)), keys)
    order, offsets, _ = total_order(codes, keys.size, batch.start, batch.end, batch.ids)
    return _sorted(batch, order), ByKey(offsets, keys)


def _runs(columns: list[Column]) -> ByKey | None:
    """Where each key begins in rows that are sorted by a key of whole numbers, without numbering each row; else None."""
    column = columns[0] if columns else None
    if len(columns) != 1 or not isinstance(column, pa.Array) or not len(column):
        return None
    if not pa.types.is_integer(column.type) or column.null_count:
        return None
    values = column.to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    distinct = values[starts]
    if len(np.unique(distinct)) < len(distinct):
        return None
    return ByKey(np.append(starts, len(values)), Keys((pa.array(distinct, column.type),), len(distinct)))


def _events(batch: Batch, offsets: Array, kept: int) -> Events:
    which, bits = signatures(batch.bits) if batch.signatures is None else (batch.signatures, batch.bits)
    refs = np.arange(kept, kept + len(which))
    return Events(offsets, batch.start, batch.end, refs, which, bits)


def _own(primitive: _Primitive, begins: Mapping[int, Array] | None, detector: int) -> _Primitive:
    """The events that a detector is fed."""
    if begins is None or detector not in begins:
        return primitive
    events, first = primitive.events, begins[detector]
    key = np.repeat(np.arange(len(first)), np.diff(events.offsets))
    inside = np.arange(len(key)) >= first[key]
    lengths = events.offsets[1:] - np.clip(first, events.offsets[:-1], events.offsets[1:])
    return _Primitive(
        events._replace(
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            start=events.start[inside],
            end=events.end[inside],
            ref=events.ref[inside],
            signature=events.signature[inside],
        ),
        primitive.values[inside],
    )
