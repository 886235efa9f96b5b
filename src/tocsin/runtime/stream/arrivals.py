"""Worker entry point where a stream is read: packs events for their shards, and marks of time for all shards.

A *mark* reports for one source how many events came and when the latest of them ended, whether they are relevant or not.
Every shard gets every mark in the same micro-batch as the events, so that all of them reach the same watermark at once.
Events that lie too far ahead of wall-clock time go to their shards apart, and do not advance the watermark (decision 13).
Changes of rules (see `rule_book`) travel in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.batch.partition import bits_of, numbers
from tocsin.runtime.predicates.lookup import WorkerLookup, with_bits, without_compared
from tocsin.runtime.program import Array
from tocsin.runtime.read.unreadable import unreadable_event
from tocsin.runtime.transport.pack import pack_table, to_ipc, units

EVENTS, MARKS, AHEAD, CHANGES = range(4)  # kinds of packed values
FOR_JOB = "for_job"  # the column that flags events that are for the job at all; without it, every event is
ARRIVALS = pa.schema(
    [pa.field("shard", pa.int32()), pa.field("kind", pa.int32()), pa.field("packed", pa.binary())]
)
# `clock` is the wall-clock time of a heartbeat; `some` are ends of some of the events.
MARK_COLUMNS = pa.schema(
    [
        pa.field("source", pa.string()),
        pa.field("events", pa.int64()),
        pa.field("latest", pa.int64()),
        pa.field("some", pa.list_(pa.int64())),
        pa.field("clock", pa.int64()),
    ]
)
_SAMPLED = 32  # ends of events sampled for the mark of a source, per unit of rows


class ArrivalJob(NamedTuple):
    """How the events of a job travel.

    Rows have the columns of `partition`; `source`, `clock`, `ahead`, `change` and `for_job` go no further.
    """

    shards: int
    keys: int
    domain: Array | None  # uint64 (words,): the bits that make an event relevant; None if patterns change
    by_source: bool  # whether the watermark depends on which source an event is from
    lookup: WorkerLookup | None = None  # evaluates predicates here, if Spark has not


def pack_arrivals(job: ArrivalJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack rows into rows `shard, kind, packed`: events for their own shard, marks and changes for every shard."""
    marks: list[pa.RecordBatch] = []
    for table in units(batches):
        events = table
        if "change" in table.column_names:
            changes = table.column("change")
            if changes.null_count < len(changes):
                packed = to_ipc(pa.table({"change": changes.drop_null()}))
                yield _to_all(CHANGES, packed, job.shards)
            events = table = table.filter(changes.is_null()).drop_columns(["change"])
        if "clock" in table.column_names:
            beats = table.column("clock").is_valid()
            if clock := pc.max(table.column("clock")).as_py():
                marks.append(_mark(None, np.empty(0, np.int64), False, clock))
            events = table.filter(pc.invert(beats)).drop_columns(["clock"])
        if "unreadable" in events.column_names:
            events = _readable(job, events)
        if "ahead" in table.column_names:
            far = pc.fill_null(events.column("ahead"), False)
            events = events.drop_columns(["ahead"])
            if pc.any(far).as_py():
                # All of them, relevant or not: a wrong clock has to be reported.
                ahead = events.filter(far)
                yield from _sent(
                    job, AHEAD, ahead if job.lookup is None else without_compared(job.lookup, ahead)
                )
                events = events.filter(pc.invert(far))
        marks += _marks(events, job.by_source)
        yield from _sent(job, EVENTS, _relevant(job, events))
    if marks:
        yield _to_all(MARKS, to_ipc(pa.Table.from_batches(marks, MARK_COLUMNS)), job.shards)


def _readable(job: ArrivalJob, rows: pa.Table) -> pa.Table:
    """The rows that are events; one that is not and that a pattern looks at, or that has no type, raises an error."""
    reasons = rows.column("unreadable")
    if reasons.null_count == len(reasons):
        return rows.drop_columns(["unreadable"])
    bad = rows.filter(reasons.is_valid())
    typeless = bad.filter(bad.column("type").is_null())
    others = bad.drop_columns([name for name in ("ahead", "source") if name in bad.column_names])
    for found in (typeless, _relevant(job, others)):
        if found.num_rows:
            raise unreadable_event(found.column("unreadable")[0].as_py())
    return rows.filter(reasons.is_null()).drop_columns(["unreadable"])


def _relevant(job: ArrivalJob, events: pa.Table) -> pa.Table:
    """The events that are for the job and relevant, with the bits of its predicates."""
    if FOR_JOB in events.column_names:
        events = events.filter(events.column(FOR_JOB)).drop_columns([FOR_JOB])
    if job.lookup is not None:
        return with_bits(job.lookup, events)
    if job.domain is None:
        return events
    found = (bits_of(events, len(job.domain)) & job.domain).any(axis=1)
    return events if found.all() else events.filter(pa.array(found))


def _to_all(kind: int, packed: bytes, shards: int) -> pa.RecordBatch:
    return _of_kind(kind, pa.array(range(shards), pa.int32()), pa.array([packed] * shards))


def _sent(job: ArrivalJob, kind: int, events: pa.Table) -> Iterator[pa.RecordBatch]:
    """Events packed for their shards."""
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
