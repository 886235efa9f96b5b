"""Rows of Parquet files as the events of a pipeline: the same columns for all sources, without the rows that are no events.

It does for Arrow columns what `spark.pipeline.sources.open.normalise` does for Spark columns, for sources in which nothing
has to be parsed from text. It does not report why a row is not an event: where there are such rows, Spark reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.program import Array
from tocsin.runtime.read.parquet_columns import Moment, OpenFiles, fitted
from tocsin.runtime.rows.field_path import column_at
from tocsin.runtime.rows.microseconds import as_micros

HASHED = "tocsin_hashed"  # the columns of a row that its hash is made of, as one struct
_BEYOND = 2**63  # beyond the range of microseconds


class Made(NamedTuple):
    """A column of events: where it is in the file, and the default for a missing value."""

    name: str
    type: pa.DataType
    path: str | None  # None if the file does not have it
    owners: tuple[str, ...] | None = None  # the types of events that have it; None for all
    default: str | None = None


class Normal(NamedTuple):
    """The input of a worker for one source of a pipeline: what to read, and how events are made from it."""

    source: str
    columns: tuple[str, ...]  # of the files, that are read
    coded: tuple[str, ...]  # those of them that come as dictionaries
    start: Moment
    end: Moment
    named: tuple[str, str, str]  # the names that the type, the start and the end get
    type: str | None  # the column; None if all are of the constant type
    constant_type: str
    known_types: tuple[str, ...] | None  # None if an event may have any type
    made: tuple[Made, ...]
    hashed: tuple[tuple[str, pa.DataType], ...]  # empty if no id has to be made


def read_normalised(normal: Normal, files: OpenFiles, file: str, group: int) -> pa.Table:
    """The events of a row group."""
    return normalised(normal, read_rows(normal, files, file, group))


def read_rows(normal: Normal, files: OpenFiles, file: str, group: int) -> pa.Table:
    """The rows of a row group, with the needed columns, each in one piece."""
    opened = files(file, normal.coded)
    return opened.read_row_group(group, columns=list(normal.columns), use_threads=False).combine_chunks()


def normalised(normal: Normal, rows: pa.Table) -> pa.Table:
    """The events among the rows of a file."""
    found = _found(normal, rows)
    readable = _readable(normal, found)
    if not readable.all():
        rows = rows.filter(pa.array(readable)).combine_chunks()
        found = _found(normal, rows)
    type, start, end = normal.named
    columns = {type: found.type, end: found.end, start: found.start}
    for one in normal.made:
        columns[one.name] = _made(one, rows, found.type, normal)
    if normal.hashed:
        parts = [_as(_column(rows, name), type) for name, type in normal.hashed]
        columns[HASHED] = pa.StructArray.from_arrays(parts, names=[name for name, _ in normal.hashed])
    return pa.table(columns)


class _Found(NamedTuple):
    type: pa.Array
    start: pa.Array
    end: pa.Array


def _found(normal: Normal, rows: pa.Table) -> _Found:
    end = _micros(rows, normal.end)
    start = end if normal.start == normal.end else _micros(rows, normal.start)
    if normal.type is None:
        return _Found(_constant(normal.constant_type, rows.num_rows), start, end)
    return _Found(_column(rows, normal.type), start, end)


def _readable(normal: Normal, found: _Found) -> Array:
    """Which rows are events: those with a known type, and a start that is not after the end."""
    readable = np.ones(len(found.end), np.bool_)
    for column in found:
        if column.null_count:
            readable &= column.is_valid().to_numpy(zero_copy_only=False)
    if normal.start != normal.end:
        readable &= _truth(pc.less_equal(found.start, found.end))
    if normal.known_types is not None:
        readable &= _among(found.type, normal.known_types)
    return readable


def _truth(column: pa.Array) -> Array:
    return column.fill_null(False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _among(texts: pa.Array, wanted: Sequence[str]) -> Array:
    """Which texts are among those wanted."""
    values = pa.array(wanted, pa.string())
    if not pa.types.is_dictionary(texts.type):
        return _truth(pc.is_in(texts.cast(pa.string()), value_set=values))
    known = _truth(pc.is_in(texts.dictionary.cast(pa.string()), value_set=values))
    return _truth(pa.array(known).take(texts.indices))


def _made(one: Made, rows: pa.Table, types: pa.Array, normal: Normal) -> pa.Array:
    if one.path is None:
        missing = one.default is None
        return pa.nulls(rows.num_rows, one.type) if missing else _constant(one.default, rows.num_rows)
    column = _as(_column(rows, one.path), one.type)
    if one.default is not None and column.null_count:
        column = pc.fill_null(column.cast(one.type), one.default)
    if one.owners is not None:
        owned = _among(types, one.owners)
        if not owned.all():
            column = column.take(pa.array(np.arange(len(column)), mask=~owned))
    return column


def _column(rows: pa.Table, path: str) -> pa.Array:
    column = column_at(rows, path)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _constant(text: str | None, count: int) -> pa.Array:
    """A column of `count` copies of a text."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int16)), pa.array([text], pa.string()))


def _as(column: pa.Array, type: pa.DataType) -> pa.Array:
    """A column in another type, as Spark would convert it; texts may stay a dictionary."""
    if pa.types.is_dictionary(column.type) and column.type.value_type == type:
        return column
    if pa.types.is_floating(type):
        return column.cast(type, safe=False)  # large numbers become the nearest
    return fitted(column, type)


def _micros(rows: pa.Table, moment: Moment) -> pa.Array:
    """A time column in microseconds; a time out of their range is missing, as in Spark."""
    column = _column(rows, moment.column)
    if moment.form == "time":
        return as_micros(column)
    numbers = column.cast(pa.int64())
    if moment.form == "nanoseconds":
        whole = numbers.fill_null(0).to_numpy(zero_copy_only=False) // 1000
        return pa.array(whole, mask=numbers.is_null().to_numpy(zero_copy_only=False))
    if moment.factor == 1:
        return numbers
    first, last = -(_BEYOND // moment.factor), (_BEYOND - 1) // moment.factor
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is not None and (ends["min"] < first or ends["max"] > last):
        fits = pc.and_(pc.greater_equal(numbers, first), pc.less_equal(numbers, last))
        numbers = pc.if_else(fits, numbers, pa.scalar(None, pa.int64()))
    return pc.multiply(numbers, moment.factor)
