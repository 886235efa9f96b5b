"""Columns of Parquet files read by Arrow, in the types that Spark would return."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.runtime.rows.microseconds import as_micros


class OpenFiles:
    """Parquet files, each opened on first use, and all closed together."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._files: dict[str, pq.ParquetFile] = {}

    def __enter__(self) -> OpenFiles:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def __call__(self, file: str, coded: Iterable[str]) -> pq.ParquetFile:
        """The open file; `coded` must be the same in every call for it."""
        if file not in self._files:
            self._files[file] = self._stack.enter_context(open_parquet(file, coded))
        return self._files[file]


class Moment(NamedTuple):
    """How a column represents time: `time`, `whole` or `float` numbers of `factor` microseconds, or `nanoseconds`."""

    column: str
    form: str
    factor: int = 1


def open_parquet(file: str, coded: Iterable[str] = ()) -> pq.ParquetFile:
    """Open a Parquet file; the texts in `coded` are read as dictionaries, and INT96 times in microseconds."""
    return pq.ParquetFile(
        file, read_dictionary=list(coded), memory_map=True, coerce_int96_timestamp_unit="us"
    )


def fitted(column: pa.Array, type: pa.DataType | None) -> pa.Array:
    """A column of a file in the type that Spark would return."""
    if type is None or column.type == type:
        return column
    if pa.types.is_timestamp(type):
        # By way of integers, so that no time zone shifts the times.
        return as_micros(column).cast(type)
    return column.cast(type)
