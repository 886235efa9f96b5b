"""Worker entry point: reads row groups of Parquet files, evaluates predicates, and packs the relevant events.

The columns that travel are made as `spark.events.prepare` makes them from a DataFrame; `partition` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.predicates import index as rq
from tocsin.runtime.predicates.derived import derived_column
from tocsin.runtime.program import Array
from tocsin.runtime.read.parquet_columns import Moment, OpenFiles, fitted
from tocsin.runtime.read.parquet_scan import Scan, read_scan
from tocsin.runtime.read.pipeline_events import Normal, read_normalised
from tocsin.runtime.read.unreadable import unreadable_event
from tocsin.runtime.rows.field_path import column_at
from tocsin.runtime.rows.keys import equal_alike
from tocsin.runtime.rows.microseconds import as_micros
from tocsin.runtime.rows.spark_hash import row_hash
from tocsin.runtime.transport.pack import pack_table
from tocsin.runtime.transport.time_chunks import Layout, pack_chunks

BIT_WORDS = 4  # up to this many words of bits travel as they are; beyond, the codes that they follow from


class Recipe(NamedTuple):
    """How a travelling column is made: from an operand as in `spark.events.arrow_predicates`, `("text", COLUMN)`, or
    `("nothing",)`."""

    name: str
    operand: rq.Operand
    type: pa.DataType | None = None  # the type of an attribute, as Spark would return it


class ReadJob(NamedTuple):
    """The input of a worker: the files, and where the travelling columns are in them."""

    tasks: tuple[tuple[tuple[str, int], ...], ...]  # for each task, its row groups: file and number
    columns: tuple[str, ...]  # of the files, that are read
    bare: tuple[str, ...]  # those of them that are read if matches report nothing of their events
    coded: tuple[str, ...]  # those of them that come as dictionaries
    start: Moment
    end: Moment
    type: str | None
    constant_type: str
    source: str | None
    asked: Mapping[str, rq.Operand]
    predicates: rq.Index
    keys: tuple[Recipe, ...]
    id: Recipe | None  # None for a hash of `hashed`; with both, the hash where an id is missing
    hashed: tuple[tuple[str, pa.DataType | None], ...]
    taken: tuple[Recipe, ...]  # values and fields
    carried: pa.StructType | None
    required: tuple[tuple[str, str], ...]  # columns that must not have nulls, and the message if they do
    fail: bool  # whether a row that is not an event is an error or is skipped
    shards: int
    overlap: int | None = None  # without keys, how long a match can last, if time is cut into chunks
    bounds: tuple[int, ...] = ()  # and where it is cut
    layout: Layout | None = None  # if tasks detect in what they read; then `tasks` and `shards` are unused
    sources: Mapping[str, Normal] | None = (
        None  # by files, if they are a pipeline's; `columns` are then those of its events
    )
    scan: Scan | None = None  # if the events are a table that Spark would make of the files
    reports: bool = True  # whether `id`, `type` and `attributes` of events are made
    note: Callable[[Iterable[object]], None] | None = None  # gets the types that occur; None if not needed

    def without_reports(self) -> ReadJob:
        """The job without the columns that only distinguish events from each other."""
        return self._replace(columns=self.bare, reports=False)


def read_events(job: ReadJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The events of the tasks whose numbers are the rows of the batches, as rows `shard, packed`."""
    with OpenFiles() as files:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file, group in job.tasks[number]:
                    events = travelling_events(job, read_group(job, files, file, group))
                    if not events.num_rows:
                        continue
                    if job.overlap is None:
                        yield from pack_table(events, job.shards, len(job.keys))
                    else:
                        yield from pack_chunks(events, np.array(job.bounds, np.int64), job.overlap)


def read_group(job: ReadJob, files: OpenFiles, file: str, group: int) -> pa.Table:
    """The columns of a row group that are needed."""
    if job.sources is not None:
        return read_normalised(job.sources[file], files, file, group)
    if job.scan is not None:
        return read_scan(job.scan, files, file, group, job.columns, job.coded)
    return files(file, job.coded).read_row_group(group, columns=list(job.columns), use_threads=False)


def travelling_events(job: ReadJob, table: pa.Table) -> pa.Table:
    """The relevant rows, with the columns that travel."""
    numbers, distinct = _numbered(job, table)
    if job.note is not None and job.type is not None:
        job.note(_distinct_types(column_at(table, job.type)))
    wanted = rq.relevant(job.predicates, distinct)
    rows, unreadable = rq.rows_of(numbers, wanted), _unreadable(job, table, wanted[numbers])
    if unreadable is not None:
        rows = rows[~unreadable[rows]]
    # One piece per column, so that everything that follows is made of arrays.
    part = table.take(pa.array(rows)).combine_chunks()
    columns = {"end": _micros(part, job.end)}
    if job.start != job.end:
        columns["start"] = _micros(part, job.start)
    for recipe in job.keys:
        columns[recipe.name] = equal_alike(_made(job, part, recipe))
    if job.reports:
        columns["id"] = _ids(job, part)
        columns["type"] = _types(job, part)
    columns |= _answers(job.predicates, numbers[rows], distinct)
    for recipe in job.taken:
        columns[recipe.name] = _made(job, part, recipe)
    if job.reports and job.carried is not None:
        fields = [fitted(column_at(part, field.name), field.type) for field in job.carried]
        columns["attributes"] = pa.StructArray.from_arrays(fields, fields=list(job.carried))
    return pa.table(columns)


def relevant(job: ReadJob, table: pa.Table) -> Array:
    """Which rows are relevant, whether they can be used or not."""
    numbers, distinct = _numbered(job, table)
    return rq.relevant(job.predicates, distinct)[numbers]


def _numbered(job: ReadJob, table: pa.Table) -> tuple[Array, Array]:
    """For each row a number, and the codes by that number."""
    asked = {name: _asked(job, table, operand) for name, operand in job.asked.items()}
    return rq.numbered(job.predicates, pa.table(asked) if asked else _rows_only(table))


def _rows_only(table: pa.Table) -> pa.Table:
    """A table with the same number of rows, for predicates that use no column."""
    return pa.table({"": pa.nulls(table.num_rows)})


def _answers(index: rq.Index, numbers: Array, distinct: Array) -> dict[str, pa.Array]:
    """The bits of rows with these numbers, in types no wider than needed; for many predicates, the codes instead."""
    if index.words > BIT_WORDS:
        return rq.code_columns(index, distinct[numbers])
    bits = rq.answers(index, distinct).view(np.int64)
    columns = {}
    for word, asked in enumerate(index.asked.tolist()):
        # By the possible bits and not the actual ones, so that all pieces of a table have the same type.
        width = next(w for w in (8, 16, 32, 64) if w == 64 or asked < 1 << (w - 1))
        columns[f"bits{word}"] = pa.array(bits[:, word].astype(f"int{width}")[numbers])
    return columns


def _unreadable(job: ReadJob, table: pa.Table, used: Array) -> Array | None:
    """Which rows are no events, or None if there can be none.

    With `job.fail` the first of them that a pattern looks at raises an error, as does the first without a type.
    """
    reasons = []
    for name, reason in job.required:
        column = column_at(table, name)
        if column.null_count:
            missing = np.asarray(column.is_null()).astype(bool)
            reasons.append((missing, reason))
            used = used | missing if name == job.type else used
    if job.start.column != job.end.column:
        backwards = pc.greater(_micros(table, job.start), _micros(table, job.end)).fill_null(False)
        reasons.append((np.asarray(backwards).astype(bool), "it ends before it starts"))
    if not reasons:
        return None
    found: Array = np.logical_or.reduce([missing for missing, _ in reasons])
    if job.fail and (found & used).any():
        row = int(np.argmax(found & used))
        raise unreadable_event(next(reason for missing, reason in reasons if missing[row]))
    return found


def _asked(job: ReadJob, table: pa.Table, operand: rq.Operand) -> pa.Array | pa.ChunkedArray:
    """A column as predicates use it: times as microseconds."""

    def attribute(name: str) -> pa.ChunkedArray:
        column = column_at(table, name)
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            return as_micros(column)
        unsigned = pa.types.is_unsigned_integer(column.type)
        return column.cast(pa.int64()) if unsigned else column

    if (derived := derived_column(operand, attribute)) is not None:
        return derived
    match operand:
        case ("attribute", name):
            return attribute(name)
        case ("end",):
            return _micros(table, job.end)
        case ("source",):
            return column_at(table, str(job.source)).cast(pa.string())
        case _:
            return _as_text(column_at(table, str(job.type)))


def _made(job: ReadJob, part: pa.Table, recipe: Recipe) -> pa.Array:
    match recipe.operand:
        case ("attribute", name):
            return fitted(column_at(part, name), recipe.type)
        case ("end",):
            return _micros(part, job.end)
        case ("source",):
            return column_at(part, str(job.source)).cast(pa.string())
        case ("type",):
            return _types(job, part)
        case _:
            return pa.nulls(part.num_rows, pa.string())


def _types(job: ReadJob, part: pa.Table) -> pa.Array:
    """The type of each event; the first one where it has several."""
    if job.type is None:
        constant = pa.array([job.constant_type], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(part.num_rows, np.int16)), constant)
    column = column_at(part, job.type)
    if pa.types.is_list(column.type):
        lengths = pc.list_value_length(column).fill_null(0)
        first = pc.if_else(pc.greater(lengths, 0), column, pa.scalar([None], column.type))
        column = pc.list_element(first, 0)
    return _as_text(column)


def _distinct_types(column: pa.Array | pa.ChunkedArray) -> set[object]:
    """The types that occur in a column; cheap for dictionaries, in which texts are read."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    found: set[object] = set()
    for chunk in chunks:
        if pa.types.is_dictionary(chunk.type):
            values = chunk.dictionary
        else:
            values = _as_text(pc.unique(chunk.flatten() if pa.types.is_list(chunk.type) else chunk))
        found.update(values.drop_null().to_pylist())
    return found


def _as_text(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The types of events, which may be whole numbers."""
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else column


def _ids(job: ReadJob, part: pa.Table) -> pa.Array:
    given = None if job.id is None else _made(job, part, job.id)
    if given is not None and not (job.hashed and given.null_count):
        return given
    columns = [fitted(column_at(part, name), type) for name, type in job.hashed]
    if given is None:
        return pa.array(row_hash(columns, part.num_rows))
    # As a pipeline makes them: a zero is hashed first, and the sign is dropped, because ids of composites are negative.
    hashes = row_hash(columns, part.num_rows, 0).view(np.uint64) >> np.uint64(1)
    return pc.coalesce(given, pa.array(hashes.view(np.int64)).cast(given.type))


def _micros(table: pa.Table, moment: Moment) -> pa.Array | pa.ChunkedArray:
    """A time column in microseconds since 1970-01-01 UTC, as Spark would compute them."""
    column = column_at(table, moment.column)
    if moment.form == "time":
        return as_micros(column)
    if moment.form == "whole":
        return pc.multiply_checked(column.cast(pa.int64()), moment.factor)
    numbers = column.cast(pa.float64(), safe=False)
    if moment.form == "nanoseconds":
        return pc.floor(pc.divide(numbers, 1000.0)).cast(pa.int64())
    return pc.round(pc.multiply(numbers, float(moment.factor)), round_mode="half_towards_infinity").cast(
        pa.int64()
    )
