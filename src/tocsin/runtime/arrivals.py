"""What Spark calls where a stream is read: events on their way to their shards, and what the piece says of time to all shards.

A *mark* says of one source how many events came and when the latest of them ended, whether any pattern looks at them or not.
Every shard hears every mark in the same micro-batch as the events, so that all of them decide the same, and decide at once.
Events that lie too far ahead of the clock on the wall go to their shards apart, and say nothing of time (decision 13).
Changes of rules (see `rules`) travel in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.pack import pack_table, to_ipc, units
from tocsin.runtime.partition import bits_of, numbers
from tocsin.runtime.program import Array

EVENTS, MARKS, AHEAD, CHANGES = range(4)  # what a packed value holds
ARRIVALS = pa.schema(
    [pa.field("shard", pa.int32()), pa.field("kind", pa.int32()), pa.field("packed", pa.binary())]
)
# `clock` is the time on the wall, of a heartbeat; `some` are ends of some of the events.
MARK_COLUMNS = pa.schema(
    [
        pa.field("source", pa.string()),
        pa.field("events", pa.int64()),
        pa.field("latest", pa.int64()),
        pa.field("some", pa.list_(pa.int64())),
        pa.field("clock", pa.int64()),
    ]
)
_SAMPLED = 32  # ends that a unit of rows tells of a source


class ArrivalJob(NamedTuple):
    """What a worker is told. Rows have the columns of `partition`; `source`, `clock`, `ahead` and `change` go no further."""

    shards: int
    keys: int
    domain: Array | None  # uint64 (words,): the bits that some pattern looks at; None if patterns change
    by_source: bool  # whether it matters which source an event is from


def pack_arrivals(job: ArrivalJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows in pieces of any size become rows `shard, kind, packed`: events for their shard, marks and changes for each."""
    marks: list[pa.RecordBatch] = []
    for table in units(batches):
        events = table
        if "change" in table.column_names:
            changes = table.column("change")
            if changes.null_count < len(changes):
                told = to_ipc(pa.table({"change": changes.drop_null()}))
                yield _to_all(CHANGES, told, job.shards)
            events = table = table.filter(changes.is_null()).drop_columns(["change"])
        if "clock" in table.column_names:
            beats = table.column("clock").is_valid()
            if clock := pc.max(table.column("clock")).as_py():
                marks.append(_mark(None, np.empty(0, np.int64), False, clock))
            events = table.filter(pc.invert(beats)).drop_columns(["clock"])
        if "ahead" in table.column_names:
            far = pc.fill_null(events.column("ahead"), False)
            events = events.drop_columns(["ahead"])
            if pc.any(far).as_py():
                # All of them, also those that no pattern looks at: somebody has to be told.
                yield from _sent(job, AHEAD, events.filter(far))
                events = events.filter(pc.invert(far))
        marks += _marks(events, job.by_source)
        if job.domain is not None:
            wanted = (bits_of(events, len(job.domain)) & job.domain).any(axis=1)
            events = events if wanted.all() else events.filter(pa.array(wanted))
        yield from _sent(job, EVENTS, events)
    if marks:
        yield _to_all(MARKS, to_ipc(pa.Table.from_batches(marks, MARK_COLUMNS)), job.shards)


def _to_all(kind: int, packed: bytes, shards: int) -> pa.RecordBatch:
    return _of_kind(kind, pa.array(range(shards), pa.int32()), pa.array([packed] * shards))


def _sent(job: ArrivalJob, kind: int, events: pa.Table) -> Iterator[pa.RecordBatch]:
    """Events on their way to their shards."""
    if job.by_source:
        events = events.drop_columns(["source"])
    if events.num_rows:
        for packed in pack_table(events, job.shards, job.keys):
            yield _of_kind(kind, packed.column("shard"), packed.column("packed"))


def _of_kind(kind: int, shards: pa.Array, packed: pa.Array) -> pa.RecordBatch:
    kinds = pa.repeat(pa.scalar(kind, pa.int32()), len(shards))
    return pa.record_batch([shards, kinds, packed.cast(pa.binary())], schema=ARRIVALS)


def _marks(events: pa.Table, by_source: bool) -> Iterator[pa.RecordBatch]:
    if not events.num_rows:
        return
    ends = numbers(events, "end")
    if not by_source:
        yield _mark(None, ends, False)
        return
    sources = (
        events.column("source").combine_chunks().cast(pa.string()).dictionary_encode(null_encoding="encode")
    )
    codes = sources.indices.to_numpy(zero_copy_only=False)
    for code, name in enumerate(sources.dictionary.to_pylist()):
        yield _mark(name, ends[codes == code], True)


def _mark(source: str | None, ends: Array, sampled: bool, clock: int | None = None) -> pa.RecordBatch:
    some = ends[:: max(1, len(ends) // _SAMPLED)] if sampled else ends[:0]
    latest = int(ends.max()) if len(ends) else None
    row = {"source": source, "events": len(ends), "latest": latest, "some": some.tolist(), "clock": clock}
    return pa.RecordBatch.from_pylist([row], MARK_COLUMNS)
