"""What Spark calls in its workers to answer questions itself: events in, those that some pattern looks at out, packed by shard.

The events come from Spark, with the columns that questions ask for, or from row groups of Parquet files that are read here. Of
those the columns that travel are made as `spark.job.prepare` makes them of a DataFrame: see `partition` for what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.errors import InputError
from tocsin.runtime import questions as rq
from tocsin.runtime.chunks import Layout, pack_chunks
from tocsin.runtime.file_columns import Moment, OpenFiles, as_micros, column_at, fitted
from tocsin.runtime.normalise import Normal, read_normalised
from tocsin.runtime.pack import pack_table, units
from tocsin.runtime.program import Array
from tocsin.runtime.xxhash import row_hash

BIT_WORDS = 4  # so many words of answers travel as they are; of more, the codes they follow from


class Recipe(NamedTuple):
    """What a travelling column is made of: an operand as in `spark.questions`, `("text", COLUMN)`, or `("nothing",)`."""

    name: str
    operand: rq.Operand
    type: pa.DataType | None = None  # that of an attribute, as Spark would hand it over


class ReadJob(NamedTuple):
    """What a worker is told of the files: where everything is found that travels."""

    tasks: tuple[tuple[tuple[str, int], ...], ...]  # for each task, its row groups: file and number
    columns: tuple[str, ...]  # of the files, that are read
    bare: tuple[str, ...]  # those of them that are read if nothing is reported of an event
    coded: tuple[str, ...]  # those of them that come as dictionaries
    start: Moment
    end: Moment
    type: str | None
    constant_type: str
    source: str | None
    asked: Mapping[str, rq.Operand]
    questions: rq.Index
    keys: tuple[Recipe, ...]
    id: Recipe | None  # None for a hash of `hashed`; with both, the hash where an id is missing
    hashed: tuple[tuple[str, pa.DataType | None], ...]
    taken: tuple[Recipe, ...]  # values and fields
    carried: pa.StructType | None
    required: tuple[tuple[str, str], ...]  # columns in which nothing may be missing, and what to say then
    fail: bool  # whether a row that is no event is an error, or is left out
    shards: int
    overlap: int | None = None  # without keys, how long a match can last, if time is cut into chunks
    bounds: tuple[int, ...] = ()  # and where it is cut
    layout: Layout | None = None  # if tasks detect in what they read; `tasks` and `shards` say nothing then
    sources: Mapping[str, Normal] | None = (
        None  # by files, if they are a pipeline's; `columns` are then those of its events
    )
    reports: bool = True  # whether `id`, `type` and `attributes` of events are made

    def without_reports(self) -> ReadJob:
        """The same without what only tells one event from another."""
        return self._replace(columns=self.bare, reports=False)


def pack_asked(
    index: rq.Index, asked: Sequence[str], shards: int, keys: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Events of Spark, with the columns that questions ask for, become rows `shard, packed` with codes instead."""
    for table in units(batches):
        numbers, distinct = rq.numbered(index, table)
        rows = rq.rows_of(numbers, rq.looked_at(index, distinct))
        events = table.drop_columns(list(asked)).take(pa.array(rows))
        for name, column in rq.code_columns(index, distinct[numbers[rows]]).items():
            events = events.append_column(name, column)
        if events.num_rows:
            yield from pack_table(events, shards, keys)


def read_events(job: ReadJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The events of some tasks, which the rows of a batch number, as rows `shard, packed`."""
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
    return files(file, job.coded).read_row_group(group, columns=list(job.columns), use_threads=False)


def travelling_events(job: ReadJob, table: pa.Table) -> pa.Table:
    """The rows that some pattern looks at, with the columns that travel."""
    numbers, distinct = _numbered(job, table)
    wanted, unreadable = rq.looked_at(job.questions, distinct), _unreadable(job, table)
    rows = rq.rows_of(numbers, wanted)
    if unreadable is not None:
        rows = rows[~unreadable[rows]]
    # One piece a column, so that everything that follows is made of arrays.
    part = table.take(pa.array(rows)).combine_chunks()
    columns = {"end": _micros(part, job.end)}
    if job.start != job.end:
        columns["start"] = _micros(part, job.start)
    for recipe in job.keys:
        columns[recipe.name] = _made(job, part, recipe)
    if job.reports:
        columns["id"] = _ids(job, part)
        columns["type"] = _types(job, part)
    columns |= _answers(job.questions, numbers[rows], distinct)
    for recipe in job.taken:
        columns[recipe.name] = _made(job, part, recipe)
    if job.reports and job.carried is not None:
        fields = [fitted(column_at(part, field.name), field.type) for field in job.carried]
        columns["attributes"] = pa.StructArray.from_arrays(fields, fields=list(job.carried))
    return pa.table(columns)


def looked_at(job: ReadJob, table: pa.Table) -> Array:
    """Which rows some pattern looks at, whether they can be used or not."""
    numbers, distinct = _numbered(job, table)
    return rq.looked_at(job.questions, distinct)[numbers]


def _numbered(job: ReadJob, table: pa.Table) -> tuple[Array, Array]:
    """For each row a number, and the codes by that number."""
    asked = {name: _asked(job, table, operand) for name, operand in job.asked.items()}
    return rq.numbered(job.questions, pa.table(asked) if asked else _rows_only(table))


def _rows_only(table: pa.Table) -> pa.Table:
    """As many rows, for questions that ask for no column."""
    return pa.table({"": pa.nulls(table.num_rows)})


def _answers(index: rq.Index, numbers: Array, distinct: Array) -> dict[str, pa.Array]:
    """The answers of rows with these numbers as bits, in types no wider than needed; of many questions, the codes instead."""
    if index.words > BIT_WORDS:
        return rq.code_columns(index, distinct[numbers])
    bits = rq.answers(index, distinct).view(np.int64)
    columns = {}
    for word, asked in enumerate(index.asked.tolist()):
        # By what can be answered and not by what was, so that all pieces of a table have the same type.
        width = next(w for w in (8, 16, 32, 64) if w == 64 or asked < 1 << (w - 1))
        columns[f"bits{word}"] = pa.array(bits[:, word].astype(f"int{width}")[numbers])
    return columns


def _unreadable(job: ReadJob, table: pa.Table) -> Array | None:
    """Which rows are no events, if there may be any, unless the first of them is an error."""
    reasons = []
    for name, reason in job.required:
        if table.column(name).null_count:
            reasons.append((table.column(name).is_null().to_numpy(), reason))
    if job.start.column != job.end.column:
        backwards = pc.greater(_micros(table, job.start), _micros(table, job.end)).fill_null(False)
        reasons.append((np.asarray(backwards).astype(bool), "it ends before it starts"))
    if not reasons:
        return None
    found: Array = np.logical_or.reduce([missing for missing, _ in reasons])
    if job.fail and found.any():
        row = int(np.argmax(found))
        reason = next(reason for missing, reason in reasons if missing[row])
        raise InputError("unreadable-event", reason, hint="leave such rows out with unreadable='drop'")
    return found


def _asked(job: ReadJob, table: pa.Table, operand: rq.Operand) -> pa.Array | pa.ChunkedArray:
    """A column as questions take it: times as microseconds."""
    match operand:
        case ("attribute", name):
            column = column_at(table, name)
            if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
                return as_micros(column)
            unsigned = pa.types.is_unsigned_integer(column.type)
            return column.cast(pa.int64()) if unsigned else column
        case ("end",):
            return _micros(table, job.end)
        case ("source",):
            return column_at(table, str(job.source)).cast(pa.string())
        case _:
            return column_at(table, str(job.type))


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
    return column


def _ids(job: ReadJob, part: pa.Table) -> pa.Array:
    given = None if job.id is None else _made(job, part, job.id)
    if given is not None and not (job.hashed and given.null_count):
        return given
    columns = [fitted(column_at(part, name), type) for name, type in job.hashed]
    if given is None:
        return pa.array(row_hash(columns, part.num_rows))
    # As a pipeline makes them: a zero first, and without a sign, because ids of composites are negative.
    hashes = row_hash(columns, part.num_rows, 0).view(np.uint64) >> np.uint64(1)
    return pc.coalesce(given, pa.array(hashes.view(np.int64)).cast(given.type))


def _micros(table: pa.Table, moment: Moment) -> pa.Array | pa.ChunkedArray:
    """A time column in microseconds since 1970-01-01 UTC, as Spark would reckon them."""
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
