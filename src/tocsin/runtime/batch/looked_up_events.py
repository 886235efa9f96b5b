"""Worker entry points that look up many predicates, which Spark would be slow to plan.

Events arrive from Spark with the columns that predicates compare. Irrelevant events are dropped, and the others get codes (see
`predicates.index`) in place of those columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from tocsin.runtime.batch.partition import Job, detect_partition
from tocsin.runtime.predicates import index as rq
from tocsin.runtime.predicates.lookup import WorkerLookup
from tocsin.runtime.program import Array
from tocsin.runtime.read.unreadable import unreadable_event
from tocsin.runtime.transport.pack import pack_table, units
from tocsin.runtime.transport.time_chunks import BOUNDS, far_apart, pack_chunks


def pack_found_by_key(
    asked: WorkerLookup, shards: int, keys: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The relevant events as rows `shard, packed`; a shard is a group of keys."""
    for events in _found(asked, units(batches)):
        yield from pack_table(events, shards, keys)


def pack_found_by_time(
    asked: WorkerLookup, overlap: int, known: Sequence[int] | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The relevant events as rows `shard, packed`; a shard is a chunk of time.

    Args:
        known: the moments to cut at, if they are known without a column of them.
    """
    bounds = None if known is None else far_apart(known, overlap)
    for table in units(batches):
        if bounds is None:
            # The first row of a partition carries them, whether it is relevant or not.
            bounds = far_apart(table.column(BOUNDS)[0].as_py() or [], overlap)
        own = table if known is not None else table.drop_columns([BOUNDS])
        for events in _found(asked, [own]):
            yield from pack_chunks(events, bounds, overlap)


def detect_found(
    job: Job, asked: WorkerLookup, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The matches in a partition, which holds every event of each of its keys."""
    events = (batch for table in _found(asked, units(batches)) for batch in table.to_batches())
    return detect_partition(job, events)


def is_relevant(index: rq.Index, names: Sequence[str], *columns: pa.Array) -> pa.Array:
    """Whether each row, given by the columns with these names, is relevant."""
    table = pa.table(list(columns), list(names)) if names else pa.table({"": columns[0]})
    numbers, distinct = rq.numbered(index, table)
    return pa.array(rq.relevant(index, distinct)[numbers])


def _readable(table: pa.Table, relevant: Array) -> pa.Table:
    """The table without its column `unreadable`; a relevant row that is not an event, or has no type, raises an error."""
    if "unreadable" not in table.column_names:
        return table
    reasons = table.column("unreadable")
    if reasons.null_count < len(reasons):
        typeless = reasons.filter(table.column("type").is_null())
        found = [*reasons.take(pa.array(relevant)).chunks, *typeless.chunks]
        for reason in pa.chunked_array(found, reasons.type).drop_null():
            raise unreadable_event(reason.as_py())
    return table.drop_columns(["unreadable"])


def _found(asked: WorkerLookup, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The relevant rows of each table that has any, with codes in place of the columns that predicates compare."""
    for table in tables:
        numbers, distinct = rq.numbered(asked.predicates, table)
        rows = rq.rows_of(numbers, rq.relevant(asked.predicates, distinct))
        table = _readable(table, rows)
        events = table.drop_columns(list(asked.columns)).take(pa.array(rows))
        for name, column in rq.code_columns(asked.predicates, distinct[numbers[rows]]).items():
            events = events.append_column(name, column)
        if events.num_rows:
            yield events
