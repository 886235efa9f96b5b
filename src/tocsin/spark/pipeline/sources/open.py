"""Open the sources of a pipeline as one table of events, with a reason for each row that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.errors import did_you_mean
from tocsin.spark.events.predicates import attribute_column
from tocsin.spark.parquet.path import ParquetPath
from tocsin.spark.pipeline.added_columns import (
    BLOCK,
    END,
    FILE,
    ID,
    ORIGIN,
    PROBLEM,
    ROW,
    SOURCE,
    START,
    TEXT,
    TYPE,
)
from tocsin.spark.pipeline.file.model import Pipeline, Source
from tocsin.spark.pipeline.plan.schema import Roles, Schema, Types, roles
from tocsin.spark.pipeline.sources import text_files as text_lines
from tocsin.spark.pipeline.sources.cells import Cells, TableCells
from tocsin.spark.pipeline.sources.text_files import Lines, Split


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that Spark can read, with its number of events, counted before any processing."""

    source: Source
    frame: DataFrame
    columns: Types | None  # by their names after renaming; None if only the rows show them
    paths: Mapping[str, str]  # the names the columns have in the source
    roles: Roles
    read: int
    whole_ids: bool
    splits: tuple[Split, ...] = ()
    lines: Lines | None = None


def open_source(session: SparkSession, pipeline: Pipeline, source: Source) -> Opened:
    """Find the columns of a source, and count its events."""
    with readable(pipeline, source):
        if source.format in ("jsonl", "csv"):
            return _open_lines(session, pipeline, source)
        return _open_table(session, pipeline, source)


@contextmanager
def readable(pipeline: Pipeline, source: Source) -> Iterator[None]:
    """Convert Spark's error about an unreadable source to an error in the file."""
    try:
        yield
    except AnalysisException as problem:
        said = (problem.getMessage() or str(problem)).splitlines()[0]
        message = f"the source {source.name} cannot be read: {said}"
        key = "table" if source.format == "table" else "path"
        raise pipeline.error("unreadable-source", message, (*source.place, key)) from None


def _open_table(session: SparkSession, pipeline: Pipeline, source: Source) -> Opened:
    frame = session.table(source.location) if source.format == "table" else _parquet(session, source)
    opened = with_columns(pipeline, source, frame)
    return replace(opened, read=frame.count())


def with_columns(pipeline: Pipeline, source: Source, frame: DataFrame) -> Opened:
    """Return a table of typed columns as a source, without counting it."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    columns, paths = _renamed(pipeline, source, types)
    known = columns if types else None
    own = roles(pipeline, source, known)
    whole = own.id is None or isinstance(columns.get(own.id), T.IntegralType)
    return Opened(source, frame, known, paths, own, 0, whole)


def _parquet(session: SparkSession, source: Source) -> DataFrame:
    if "://" not in source.location and Path(source.location).exists():
        files = ParquetPath(session, source.location)
        if files.has_nanos:
            return files.frame
    try:
        return session.read.parquet(source.location)
    except AnalysisException as problem:
        if problem.getCondition() != "UNABLE_TO_INFER_SCHEMA":
            raise
        # A folder without a file in it is a source without an event in it.
        return session.createDataFrame([], T.StructType())


def _open_lines(session: SparkSession, pipeline: Pipeline, source: Source) -> Opened:
    lines = text_lines.read_lines(session, source)
    types: Types | None = None
    if not pipeline.declarations.strict:
        types = text_lines.inferred_types(session, source, lines) or None
    opened = with_lines(pipeline, source, lines, types)
    own = opened.roles.id
    id = None if own is None else text_lines.cells(source, opened.paths).value(own, None, T.StringType())
    read, whole, splits = text_lines.measure(lines, id)
    return replace(opened, read=read, whole_ids=whole, splits=splits)


def with_lines(pipeline: Pipeline, source: Source, lines: Lines, types: Types | None) -> Opened:
    """Return lines whose fields have these types as a source, without counting them."""
    if types is None and lines.names:
        types = {name: T.StringType() for name in lines.names}
    if lines.names and len(set(lines.names)) < len(lines.names):
        message = f"the first line of {source.name} has a name twice"
        raise pipeline.error("bad-column", message, (*source.place, "path"))
    columns, paths = _renamed(pipeline, source, types or {})
    known = columns if types else None
    own = roles(pipeline, source, known)
    return Opened(source, lines.frame, known, paths, own, 0, own.id is None, (), lines)


def _renamed(
    pipeline: Pipeline, source: Source, types: Types
) -> tuple[dict[str, T.DataType], dict[str, str]]:
    """Return the columns by their new names, and the path of each; `rename` may take a field out of a struct."""
    paths = {name: name for name in types if name not in source.rename}
    columns = {name: types[name] for name in paths}
    for path, name in source.rename.items():
        type = _type_at(types, path)
        paths[name] = path
        if type is not None:
            columns[name] = type
        elif types:
            message = f"the source {source.name} has no column {path!r}"
            place = (*source.place, "rename", path)
            raise pipeline.error("unknown-column", message, place, did_you_mean(path, types))
    return columns, paths


def _type_at(types: Types, path: str) -> T.DataType | None:
    if path in types:
        return types[path]
    first, _, rest = path.partition(".")
    struct = types.get(first)
    return (
        _type_at({f.name: f.dataType for f in struct.fields}, rest)
        if isinstance(struct, T.StructType)
        else None
    )


def quoted(name: str) -> str:
    """Quote the name of a column for Spark."""
    return "`" + name.replace("`", "``") + "`"


def normalise(opened: Opened, schema: Schema, whole_ids: bool) -> DataFrame:
    """Return the events of a source with the columns of `layout` and the attributes of the pipeline."""
    source, own = opened.source, opened.roles
    cells = _cells(opened)
    start, end = (cells.moment(name, source.time_unit) for name in own.time)
    type = F.lit(own.constant_type) if own.type is None else cells.value(own.type, "string", T.StringType())
    values = {
        name: cells.value(name, schema.kinds.get(name), kind)
        for name, kind in schema.attributes.items()
        if name != ORIGIN
    }
    problem = F.coalesce(
        text_lines.malformed(source, opened.lines) if opened.lines else F.lit(None),
        *_time_problems(cells, own, start, end),
        *_type_problems(cells, own, type, schema),
        *_misfits(cells, type, values, schema),
        *(_too_large(values, schema) if opened.lines else ()),
        *_other_ids(opened, cells, whole_ids),
    )
    frame, position = _positioned(opened, problem)
    origin = F.lit(None) if own.origin is None else cells.value(own.origin, None, T.StringType())
    named = frame.select(
        F.lit(source.name).alias(SOURCE),
        *position,
        problem.alias(PROBLEM),
        type.alias(TYPE),
        start.alias(START),
        end.alias(END),
        _id(opened, cells, whole_ids).alias(ID),
        F.coalesce(origin, F.lit(source.name)).alias(ORIGIN),
        *(_owned(value, name, type, schema).alias(name) for name, value in values.items()),
    )
    ordered = [SOURCE, FILE, BLOCK, ROW, TEXT, PROBLEM, TYPE, START, END, ID, *schema.attributes]
    return named.select(*map(quoted, ordered))


def _cells(opened: Opened) -> Cells:
    if opened.lines is not None:
        return text_lines.cells(opened.source, opened.paths)
    types = opened.columns or {}
    return TableCells({name: _column(opened, opened.paths[name]) for name in types}, types)


def _column(opened: Opened, path: str) -> Column:
    """Return a column of a table, or a field inside one; the name of a column may contain dots."""
    return F.col(quoted(path)) if path in opened.frame.columns else attribute_column(path)


def _positioned(opened: Opened, problem: Column) -> tuple[DataFrame, list[Column]]:
    """Return the rows that are events, and the columns that hold where each was read."""
    if opened.lines is not None:
        return opened.frame.where(opened.lines.is_event), [F.col(name) for name in (FILE, BLOCK, ROW, TEXT)]
    nothing = F.lit(None)
    file, row = nothing, nothing
    if opened.source.format == "parquet" and opened.columns is not None:
        file, row = F.col("_metadata.file_path"), F.col("_metadata.row_index") + 1
    text = nothing
    if opened.columns is not None:
        # Only of rows that cannot be read: as text a row is large, and slow to make.
        whole = F.struct(*(F.col(quoted(name)) for name in opened.frame.columns))
        text = F.when(problem.isNotNull(), F.to_json(whole))
    return opened.frame, [
        file.cast("string").alias(FILE),
        nothing.cast("long").alias(BLOCK),
        row.cast("long").alias(ROW),
        text.cast("string").alias(TEXT),
    ]


def _time_problems(cells: Cells, own: Roles, start: Column, end: Column) -> list[Column]:
    reasons = []
    for name, moment in dict(zip(own.time, (start, end), strict=True)).items():
        reasons.append(F.when(~cells.given(name), F.lit(f"no time in {name!r}")))
        reasons.append(F.when(moment.isNull(), F.lit(f"the time in {name!r} cannot be read")))
    if own.time[0] != own.time[1]:
        reasons.append(F.when(start > end, F.lit("it ends before it starts")))
    return reasons


def _type_problems(cells: Cells, own: Roles, type: Column, schema: Schema) -> list[Column]:
    reasons = []
    if own.type is not None:
        reasons.append(F.when(~cells.given(own.type), F.lit(f"no type in {own.type!r}")))
        reasons.append(F.when(type.isNull(), F.lit(f"the type in {own.type!r} is not a text")))
    if schema.known_types is not None:
        unknown = F.concat(F.lit("there is no event type '"), type, F.lit("'"))
        reasons.append(F.when(~type.isin(*schema.known_types), unknown))
    return reasons


def _misfits(cells: Cells, type: Column, values: Mapping[str, Column], schema: Schema) -> list[Column]:
    """Return reasons against values that are not of the type declared for them, or of their column."""
    reasons = []
    for name, kind in schema.kinds.items():
        if name != ORIGIN and cells.may_misfit(name, kind):
            reason = f"{name!r} is not {'an' if kind == 'int' else 'a'} {kind}"
            misfit = cells.given(name) & values[name].isNull()
            if name in schema.owners:
                misfit &= type.isin(*schema.owners[name])
            reasons.append(F.when(misfit, F.lit(reason)))
    return reasons


def _too_large(values: Mapping[str, Column], schema: Schema) -> list[Column]:
    """Return reasons against numbers out of the range of a double, where no type is declared."""
    return [
        F.when(
            F.abs(values[name]) == F.lit(float("inf")), F.lit(f"the number in {name!r} does not fit a double")
        )
        for name, type in schema.attributes.items()
        if name in values and name not in schema.kinds and isinstance(type, T.DoubleType)
    ]


def _other_ids(opened: Opened, cells: Cells, whole: bool) -> list[Column]:
    """Return reasons against ids that are not whole numbers where others are; in a stream, the first files decide."""
    name = opened.roles.id
    if name is None or not whole or opened.lines is None:
        return []
    misfit = cells.given(name) & cells.value(name, None, T.LongType()).isNull()
    return [F.when(misfit, F.lit(f"the id in {name!r} is not a whole number, as the first ones were"))]


def _owned(value: Column, name: str, type: Column, schema: Schema) -> Column:
    """Return the value of an attribute; where types are declared, null for events whose type lacks it."""
    if schema.known_types is None or name not in schema.owners:
        return value
    return F.when(type.isin(*schema.owners[name]), value)


def _id(opened: Opened, cells: Cells, whole: bool) -> Column:
    """Return the id of an event; without one, a hash that is not negative, because ids of composites are."""
    read = [TEXT] if opened.lines is not None else opened.frame.columns
    hashable = [
        name for name in read if not isinstance(opened.frame.schema[name].dataType, T.MapType | T.VariantType)
    ]
    hashed = F.shiftrightunsigned(F.xxhash64(F.lit(0), *(F.col(quoted(name)) for name in hashable)), 1)
    type: T.DataType = T.LongType() if whole else T.StringType()
    if opened.roles.id is None:
        return hashed.cast(type)
    return F.coalesce(cells.value(opened.roles.id, None, type), hashed.cast(type))
