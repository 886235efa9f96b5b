"""Worker entry point: whole Parquet files as a table for Spark, where Spark itself refuses to read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from tocsin.runtime.read.parquet_columns import OpenFiles, fitted


class WholeFiles(NamedTuple):
    """The row groups of files, by task, and the schema that Spark expects."""

    tasks: tuple[tuple[tuple[str, int], ...], ...]  # for each task, its row groups: file and number
    schema: bytes  # an Arrow schema, serialized


def read_tables(job: WholeFiles, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of the tasks whose numbers are the rows of the batches."""
    schema = pa.ipc.read_schema(pa.py_buffer(job.schema))
    with OpenFiles() as files:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file, group in job.tasks[number]:
                    rows = files(file, ()).read_row_group(group, columns=schema.names, use_threads=False)
                    # One piece per column, because the pieces of different columns need not be of the same lengths.
                    rows = rows.combine_chunks()
                    columns = [fitted(rows.column(field.name), field.type) for field in schema]
                    yield from pa.table(columns, schema=schema).to_batches()
