"""Worker entry point: counts how the events of a pipeline's Parquet files are used, without detecting anything in them.

The counts are returned as rows, not through an accumulator, which would count a retried task twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.read.parquet_columns import OpenFiles
from tocsin.runtime.read.parquet_events import ReadJob, relevant
from tocsin.runtime.read.pipeline_events import Normal, normalised, read_rows

COUNTED = pa.schema(
    [
        pa.field("source", pa.string()),
        *(pa.field(name, pa.int64()) for name in ("used", "irrelevant", "dead")),
    ]
)


class CountJob(NamedTuple):
    """The input of a worker: the row groups of each task, their sources, and what each job reads from events."""

    tasks: tuple[tuple[tuple[str, int], ...], ...]
    sources: Mapping[str, Normal]  # by files
    jobs: tuple[ReadJob, ...]


def count_uses(job: CountJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many events of each row group have each use, for the tasks whose numbers are the rows of the batches."""
    with OpenFiles() as files:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file, group in job.tasks[number]:
                    normal = job.sources[file]
                    rows = read_rows(normal, files, file, group)
                    used, irrelevant = _uses(job.jobs, normalised(normal, rows))
                    counts = (used, irrelevant, rows.num_rows - used - irrelevant)
                    yield pa.record_batch([[normal.source], *([count] for count in counts)], schema=COUNTED)


def _uses(jobs: tuple[ReadJob, ...], events: pa.Table) -> tuple[int, int]:
    """How many events are used, and how many are irrelevant to every job; an event without its job's key is neither."""
    used, dead = np.zeros((2, events.num_rows), np.bool_)
    for job in jobs:
        own = relevant(job, events)
        keyless = np.zeros(events.num_rows, np.bool_)
        for recipe in job.keys:
            column = events.column(recipe.operand[1])
            if column.null_count:
                keyless |= column.is_null().to_numpy()
        used |= own & ~keyless
        dead |= own & keyless
    used &= ~dead
    return int(used.sum()), int((~used & ~dead).sum())
