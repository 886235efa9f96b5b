"""Hold back repeated events: of those that agree, one is kept, and the next only after some time.

Paper: 003, "Composite Event Detection": repeat notifications of PersonEvents are limited to one a minute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array
from tocsin.runtime.rows.total_order import total_order

OUTPUT_ROWS = 50_000


class LimitJob(NamedTuple):
    """The input of a worker: the microseconds of each limit, and the names of the columns."""

    every: tuple[int, ...]
    number: str  # the limit that an event falls under; null for none
    group: str  # events of one limit and one group agree
    start: str
    end: str
    id: str
    flag: str  # the new column: whether the event is held back


def limit_partition(job: LimitJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: the rows of a partition, which holds every event of each of its groups, with `flag` added."""
    collected = [batch for batch in batches if batch.num_rows]
    if not collected:
        return
    table = pa.Table.from_batches(collected)
    flags = np.zeros(table.num_rows, np.bool_)
    numbers = table.column(job.number).combine_chunks()
    rows = np.flatnonzero(numbers.is_valid().to_numpy(zero_copy_only=False))
    if len(rows):
        some = table.select([job.number, job.group, job.start, job.end, job.id]).take(pa.array(rows))
        flags[rows] = _held_back(job, some.combine_chunks())
    marked = table.drop_columns([job.number, job.group]).append_column(job.flag, pa.array(flags))
    yield from marked.to_batches(max_chunksize=OUTPUT_ROWS)


def _held_back(job: LimitJob, table: pa.Table) -> Array:
    """Which rows are held back; all groups in one call of the kernel."""
    groups = table.column(job.group).combine_chunks().dictionary_encode()
    codes = groups.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    numbers = table.column(job.number).combine_chunks().to_numpy(zero_copy_only=False)
    start, end = (
        table.column(name).combine_chunks().to_numpy(zero_copy_only=False) for name in (job.start, job.end)
    )
    every = np.zeros(len(groups.dictionary), np.int64)
    every[codes] = np.array(job.every, np.int64)[numbers]
    order, offsets, _ = total_order(codes, len(every), start, end, table.column(job.id).combine_chunks())
    return repeated(order, offsets, end, every)  # type: ignore[no-any-return]


@kernel
def repeated(order, offsets, end, every):  # type: ignore[no-untyped-def]
    """Which rows come too soon after the last kept row of their group.

    order: int64 (R,) rows by group and time; offsets: int64 (G+1,); end: int64 (R,); every: int64 (G,).
    """
    flags = np.zeros(len(order), np.bool_)
    for group in range(len(offsets) - 1):
        first = offsets[group]
        kept = end[order[first]] if first < offsets[group + 1] else 0
        for at in range(first + 1, offsets[group + 1]):
            row = order[at]
            if end[row] - kept < every[group]:
                flags[row] = True
            else:
                kept = end[row]
    return flags
