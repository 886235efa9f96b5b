"""Reports from tasks to the driver about the types of events, through Spark's accumulators. Light: workers load it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import Accumulator, AccumulatorParam, TaskContext

from tocsin.runtime.read.parquet_events import ReadJob

Reports = dict[tuple[int, int], frozenset[object]]  # what was seen, by stage and partition
Work = Callable[..., Iterator[pa.RecordBatch]]
_WORD = (1 << 64) - 1


class JoinReports(AccumulatorParam[Reports]):
    """Joins the reports of tasks; on the driver, `conclude` gets all of them each time one comes."""

    def __init__(self, conclude: Callable[[Reports], None] | None = None) -> None:
        self.conclude = conclude

    def zero(self, value: Reports) -> Reports:
        """Return no reports."""
        return {}

    def addInPlace(self, value1: Reports, value2: Reports) -> Reports:  # noqa: N802  (as Spark calls it)
        """Return the reports of both."""
        value1.update(value2)
        if self.conclude is not None:
            self.conclude(value1)
        return value1

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinReports, ()  # a worker concludes nothing


def read_reporting(
    reports: Accumulator[Reports],
    work: Work,
    reading: ReadJob,
    others: tuple[Any, ...],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Do work over files, and report the types of events that are in them."""
    seen: set[object] = set()
    yield from work(reading._replace(note=seen.update), *others, batches)
    _report(reports, seen)


def pack_reporting(
    reports: Accumulator[Reports], work: Work, words: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Do work over prepared rows, and report which of their bits are set in any of them."""
    found = [0] * words

    def noted() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for word in range(words):
                # Null in rows that are no events, such as those that carry wall-clock time in a stream.
                bits = batch.column(f"bits{word}").drop_null().to_numpy(zero_copy_only=False)
                found[word] |= int(np.bitwise_or.reduce(bits, initial=0)) & _WORD
            yield batch

    yield from work(noted())
    _report(
        reports, (64 * word + bit for word in range(words) for bit in range(64) if found[word] >> bit & 1)
    )


def _report(reports: Accumulator[Reports], seen: Iterable[object]) -> None:
    task = TaskContext.get()
    if task is not None:
        reports.add({(task.stageId(), task.partitionId()): frozenset(seen)})
