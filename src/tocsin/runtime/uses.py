"""What Spark calls to count what becomes of the events of a pipeline's Parquet files, without detecting anything in them.

The counts leave as rows, and not through an accumulator, which would count a task again that is run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.file_columns import OpenFiles
from tocsin.runtime.normalise import Normal, normalised, read_rows
from tocsin.runtime.reading import ReadJob, looked_at

COUNTED = pa.schema(
    [
        pa.field("source", pa.string()),
        *(pa.field(name, pa.int64()) for name in ("used", "irrelevant", "dead")),
    ]
)


class CountJob(NamedTuple):
    """What a worker is told: the row groups of each task, the sources they are of, and what each job asks of events."""

    tasks: tuple[tuple[tuple[str, int], ...], ...]
    sources: Mapping[str, Normal]  # by files
    jobs: tuple[ReadJob, ...]


def count_uses(job: CountJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Of some tasks, which the rows of a batch number, how many events of each row group have each use."""
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
    """How many events are used, and how many no job looks at; one without the key of a job that looks at it is neither."""
    used, dead = np.zeros((2, events.num_rows), np.bool_)
    for job in jobs:
        own = looked_at(job, events)
        keyless = np.zeros(events.num_rows, np.bool_)
        for recipe in job.keys:
            column = events.column(recipe.operand[1])
            if column.null_count:
                keyless |= column.is_null().to_numpy()
        used |= own & ~keyless
        dead |= own & keyless
    used &= ~dead
    return int(used.sum()), int((~used & ~dead).sum())
