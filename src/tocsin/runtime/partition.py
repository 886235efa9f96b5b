"""What Spark calls in its workers: a partition of events in, matches out.

The columns that travel: `start` and `end` (microseconds), `bits0`, `bits1`, … , `key0`, … , `id`, `type`, `value:NAME` for
attributes that kernels compare, `field:NAME` for what conditions and outputs take from events, and `attributes`, a struct that
is only carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.feed import FOREVER, Batch, Result, feed
from tocsin.runtime.matches import to_arrow
from tocsin.runtime.ordering import encode_keys, total_order
from tocsin.runtime.program import Array, Plan, from_bytes, travelling
from tocsin.runtime.state import initial

SLICE = 250_000  # rows per call of a kernel, which bounds what one call allocates
OUTPUT_ROWS = 50_000
_REPORTED = ("id", "copy", "type", "start", "end", "attributes")


class Job(NamedTuple):
    """What a worker is told: the plan as bytes, the schema of the matches, and the limit on partial matches per key."""

    plan: bytes
    schema: bytes
    keys: int
    limit: int


def detect_partition(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The matches in a partition, which holds every event of each of its keys."""
    plan = from_bytes(job.plan)
    schema = pa.ipc.read_schema(pa.py_buffer(job.schema))
    collected = [batch for batch in batches if batch.num_rows]
    if not collected:
        return
    table = pa.Table.from_batches(collected)
    for result in _results(plan, table, job):
        for number in range(len(plan.outputs)):
            found = to_arrow(plan, result, number, schema)
            yield from found.to_batches(max_chunksize=OUTPUT_ROWS)


def _results(plan: Plan, table: pa.Table, job: Job) -> Iterator[Result]:
    """Feed the partition slice by slice: whole keys together, a key of many events in several slices."""
    start, end = numbers(table, "start"), numbers(table, "end")
    keys = [table.column(f"key{i}").combine_chunks() for i in range(job.keys)]
    codes, count = (np.zeros(len(end), np.int64), 1)
    if keys:
        codes, distinct = encode_keys(keys)
        count = len(distinct)
    ids = table.column("id").combine_chunks()
    order, offsets = total_order(codes, count, start, end, ids)
    table = with_copies(table, order, codes, end)
    state = initial(plan)
    for rows, whole in _slices(order, offsets, end):
        until = FOREVER if whole else int(end[rows[-1]])
        result = feed(
            plan, state, batch_of(plan, table, rows, job.keys), until, keep=not whole, limit=job.limit
        )
        state = initial(plan) if result.state is None else result.state
        yield result


def _slices(order: Array, offsets: Array, end: Array) -> Iterator[tuple[Array, bool]]:
    """Rows to feed at once, and whether nothing more comes for their keys. No moment is cut in two."""
    first = 0
    for key in range(len(offsets) - 1):
        stop = int(offsets[key + 1])
        next_stop = int(offsets[key + 2]) if key + 2 < len(offsets) else None
        if next_stop is not None and next_stop - first <= SLICE:
            continue
        while stop - first > SLICE:
            cut = first + SLICE
            while cut < stop and end[order[cut]] == end[order[cut - 1]]:
                cut += 1
            if cut == stop:
                break
            yield order[first:cut], False
            first = cut
        yield order[first:stop], True
        first = stop


def numbers(table: pa.Table, name: str) -> Array:
    """A column of whole numbers."""
    return table.column(name).combine_chunks().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def batch_of(plan: Plan, table: pa.Table, rows: Array, keys: int) -> Batch:
    """Some rows of a partition, in this order, as the kernels take them."""
    part = table.take(pa.array(rows))
    bits = [numbers(part, f"bits{word}").view(np.uint64) for word in range(plan.words)]
    reported = [name for name in part.column_names if name in _REPORTED or name.startswith("field:")]
    return Batch(
        part.select(reported),
        [part.column(f"key{i}").combine_chunks() for i in range(keys)],
        numbers(part, "start"),
        numbers(part, "end"),
        None,
        np.stack(bits, axis=1),
        [part.column(travelling("value", name)).combine_chunks() for name in plan.columns],
        ordered=True,
    )


def with_copies(table: pa.Table, order: Array, codes: Array, end: Array) -> pa.Table:
    """A column `copy` that tells rows apart that are equal in every column: 0 for the first, 1 for the next, …

    Such rows share an id, and are neighbours in the order. Usually there are none, and no column.
    """
    ids = table.column("id").combine_chunks().take(pa.array(order))
    same = np.asarray(pc.equal(ids[1:], ids[:-1]).fill_null(False)).astype(bool)
    same &= (end[order[1:]] == end[order[:-1]]) & (codes[order[1:]] == codes[order[:-1]])
    if not same.any():
        return table
    place = np.arange(len(order))
    first = np.maximum.accumulate(np.where(np.concatenate([[True], ~same]), place, 0))
    copies = np.empty(len(order), np.int64)
    copies[order] = place - first
    return table.append_column("copy", pa.array(copies))
