"""Parquet that Spark would only scan, read by Arrow inside the Python tasks: rows never pass through Java.

The driver looks at the footers of the files, and deals their row groups to tasks; the rest is `runtime.reading`. Whatever
Arrow might read otherwise than Spark does is left to Spark: then there is a reason, and the answers are the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type

from tocsin.automata.compile import Compiled
from tocsin.automata.span import overlap
from tocsin.errors import InputError
from tocsin.events import Catalog
from tocsin.runtime.direct import detect_laid_out
from tocsin.runtime.file_columns import OpenFiles
from tocsin.runtime.pack import PACKED
from tocsin.runtime.partition import Job
from tocsin.runtime.program import travelling
from tocsin.runtime.reading import BIT_WORDS, ReadJob, Recipe, read_events, read_group
from tocsin.runtime.xxhash import is_hashable
from tocsin.spark.columns import EventColumns, HasSchema
from tocsin.spark.job import detect_packed, job_of, overlap_by_time, prepare, taken_fields
from tocsin.spark.layout import even_cuts, lay_out, moment_of
from tocsin.spark.parquet_files import (
    CannotReadError,
    RowGroup,
    deal,
    footers,
    local_files,
    row_groups,
)
from tocsin.spark.parquet_path import ParquetPath
from tocsin.spark.questions import Asked, NoArrowForm, arrow_questions, type_at
from tocsin.spark.sent import sends
from tocsin.spark.session import is_remote

_SKEWED = 2  # times the events of a task, if all had as many


def cannot_cut(reason: str) -> InputError:
    """The error that a pattern cannot be looked for in pieces of time."""
    return InputError(
        "cannot-cut",
        f"the pattern cannot be looked for in pieces of time: {reason}",
        hint="bound it by a timer, as in ([A], [B])_{T1=1h}, without matches = leftmost; or leave cut out",
    )


def detect_parquet(
    files: ParquetPath,
    columns: EventColumns,
    compiled: Compiled,
    catalog: Catalog,
    carried: Sequence[str],
    unreadable: str,
    limit: int,
    cut: str | None = None,
    wanted: Sequence[str] | None = None,
) -> DataFrame | NoArrowForm:
    """The matches in Parquet files that Arrow can read, or why it cannot."""
    reading = plan_reading(files, columns, compiled, catalog, carried, unreadable, cut)
    if isinstance(reading, NoArrowForm):
        return reading
    prepared: HasSchema = files
    if carried or sends(compiled):
        # Only the types of its columns are looked at, so Spark need not answer questions.
        prepared = prepare(files.frame, columns, compiled, catalog, carried, asked=())
    job, schema = job_of(prepared, files, columns, compiled, carried, limit, wanted)
    return detect_read(files.sparkSession, reading, job, schema)


def detect_read(spark: SparkSession, reading: ReadJob, job: Job, schema: pa.Schema) -> DataFrame:
    """The matches in what tasks read. `schema` is that of the matches."""
    if reading.questions.words > BIT_WORDS:
        job = job._replace(questions=pickle.dumps(reading.questions, protocol=5))
    count = len(reading.tasks if reading.layout is None else reading.layout.chunks)
    tasks = spark.range(0, count, 1, max(1, count))
    if reading.layout is not None:
        return tasks.mapInArrow(partial(detect_laid_out, reading, job), from_arrow_schema(schema))
    packed = tasks.mapInArrow(partial(read_events, reading), from_arrow_schema(PACKED))
    return detect_packed(packed, job, schema, reading.shards, chunks=reading.overlap is not None)


def plan_reading(
    files: ParquetPath,
    columns: EventColumns,
    compiled: Compiled,
    catalog: Catalog,
    carried: Sequence[str],
    unreadable: str,
    cut: str | None = None,
) -> ReadJob | NoArrowForm:
    """What the tasks have to do to read the events of Parquet files with Arrow, or why they cannot."""
    spark, schema = files.sparkSession, files.schema
    time_zone = str(spark.conf.get("spark.sql.session.timeZone"))
    asked = arrow_questions(compiled, catalog, schema, columns, time_zone)
    if isinstance(asked, NoArrowForm):
        return asked
    try:
        reading = unplaced(schema, columns, compiled, asked, carried, unreadable == "fail", time_zone)
        return placed(
            reading, groups_of(reading, local_files(files), schema), compiled, cut, cluster_of(spark)
        )
    except CannotReadError as problem:
        return NoArrowForm(str(problem))


class Cluster(NamedTuple):
    """What there is to run on: how many tasks at once, and into how many partitions Spark shuffles."""

    cores: int
    partitions: int


def cluster_of(spark: SparkSession) -> Cluster:
    """What a session runs on; raises `CannotReadError` if its tasks may not reach the files that this process sees."""
    if is_remote(spark):
        raise CannotReadError("a client of Spark Connect may not reach the files")
    return Cluster(
        spark.sparkContext.defaultParallelism, int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    )


def groups_of(reading: ReadJob, files: Sequence[str], schema: T.StructType) -> list[RowGroup]:
    """The row groups of files on this machine; raises `CannotReadError` if Arrow cannot read from them what is needed."""
    return row_groups(footers(files), schema, reading.columns, reading.end.column)


def unplaced(
    schema: T.StructType,
    columns: EventColumns,
    compiled: Compiled,
    asked: Asked,
    carried: Sequence[str],
    fail: bool,
    time_zone: str,
) -> ReadJob:
    """How tasks make what travels of rows with this schema, whatever they are to read."""
    hashed = [f.name for f in schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
    taken = [
        *(_value(name, schema, time_zone) for name in compiled.plan.columns),
        *(_field(name, schema, columns, time_zone) for name in sorted(taken_fields(compiled))),
    ]
    needed = [
        *dict.fromkeys(columns.time),
        *([columns.type] if columns.type else []),
        *columns.key,
        *(recipe.operand[1] for recipe in taken if recipe.operand[0] == "attribute"),
        *(operand[1] for operand in asked.columns.values() if operand[0] == "attribute"),
        *([columns.source] if columns.source else []),
    ]
    bare = _outermost(needed)
    read = _outermost([*needed, *([columns.id] if columns.id else hashed), *carried])
    texts = (axis.column.name.removeprefix("ask:") for axis in asked.index.axes if axis.column.kind == "text")
    start, end = (moment_of(name, schema, columns.time_unit) for name in columns.time)
    id = columns.id
    return ReadJob(
        tasks=(),
        columns=read,
        bare=bare,
        coded=tuple(name for name in texts if name in read),
        start=start,
        end=end,
        type=columns.type,
        constant_type=columns.constant_type,
        source=_source(schema, columns),
        asked=dict(asked.columns),
        questions=asked.index,
        keys=tuple(
            Recipe(f"key{number}", ("attribute", name), arrow_type(schema[name].dataType, time_zone))
            for number, name in enumerate(columns.key)
        ),
        id=None
        if id is None
        else Recipe("id", ("attribute", id), arrow_type(schema[id].dataType, time_zone)),
        hashed=() if id else tuple((name, hashable_type(schema[name])) for name in hashed),
        taken=tuple(taken),
        carried=_struct(schema, carried, time_zone) if carried else None,
        required=tuple(_required(columns)),
        fail=fail,
        shards=1,
    )


def placed(
    reading: ReadJob, groups: Sequence[RowGroup], compiled: Compiled, cut: str | None, cluster: Cluster
) -> ReadJob:
    """The same with what each task reads of the row groups, and where the events go from there."""
    cores, partitions = cluster
    alone, longest = overlap(compiled), overlap(compiled, chains=True)
    layout = None
    if longest is not None and cut != "key":
        layout = lay_out(groups, reading.end, longest, chains=alone is None, cores=cores)
    apart = overlap_by_time(compiled, reading.keys)
    if cut == "time" and apart is None and layout is None:
        raise cannot_cut("the files do not tell of the order of time")
    by_key = cut != "time" and bool(reading.keys)
    if layout is not None or (by_key and (cut == "key" or not _is_skewed(reading, groups, partitions))):
        apart = None
    bounds = () if apart is None else even_cuts(groups, reading.end, partitions, apart)
    apart = apart if bounds or not reading.keys else None
    return reading._replace(
        tasks=deal(groups, cores) if layout is None else (),
        shards=partitions if reading.keys and apart is None else len(bounds) + 1,
        overlap=apart,
        bounds=bounds,
        layout=layout,
    )


def _is_skewed(reading: ReadJob, groups: Sequence[RowGroup], partitions: int) -> bool:
    """Whether one key has so many events that its task would be the last to end by far, as two row groups have it."""
    names = [str(recipe.operand[1]) for recipe in reading.keys]
    keys_only = reading._replace(columns=tuple(names), coded=())
    for group in {groups[0], groups[len(groups) // 2]} if groups else ():
        with OpenFiles() as files:
            keys = read_group(keys_only, files, group.file, group.number).select(names)
        counts = keys.group_by(names).aggregate([([], "count_all")])
        if (pc.max(counts.column("count_all")).as_py() or 0) * partitions <= _SKEWED * group.rows:
            return False
    return len(groups) > 0


def _outermost(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a file in which these columns and fields are."""
    return tuple(dict.fromkeys(name.split(".")[0] for name in names))


def _required(columns: EventColumns) -> Iterator[tuple[str, str]]:
    """The columns without which a row is no event, and what to say; as `job.prepare` does."""
    for name in dict.fromkeys(columns.time):
        yield name, f"no time in column {name!r}"
    if columns.type is not None:
        yield columns.type, f"no type in column {columns.type!r}"
    for name in columns.key:
        yield name, f"no key in column {name!r}"


def _source(schema: T.StructType, columns: EventColumns) -> str | None:
    if columns.source is None:
        return None
    type = schema[columns.source].dataType
    if not isinstance(type, T.IntegralType) and type != T.StringType():
        raise CannotReadError(f"the source {columns.source!r} is {type.simpleString()}")
    return columns.source


def _value(name: str, schema: T.StructType, time_zone: str) -> Recipe:
    return _attribute(travelling("value", name), name, schema, time_zone)


def _field(name: str, schema: T.StructType, columns: EventColumns, time_zone: str) -> Recipe:
    """What `fields.field_column` gives."""
    own = travelling("field", name)
    if name == "timestamp":
        return Recipe(own, ("end",))
    if name == "source":
        return Recipe(own, ("source",) if columns.source else ("nothing",))
    if name == "type":
        return Recipe(own, ("type",))
    return _attribute(own, name, schema, time_zone)


def _attribute(own: str, name: str, schema: T.StructType, time_zone: str) -> Recipe:
    type = type_at(schema, name)
    if type is None or isinstance(type, T.StructType):
        return Recipe(own, ("nothing",))
    return Recipe(own, ("attribute", name), arrow_type(type, time_zone))


def arrow_type(type: T.DataType, time_zone: str) -> pa.DataType:
    """The Arrow type in which Spark hands values to Python; raises `CannotReadError` if there is none."""
    try:
        return to_arrow_type(type, timezone=time_zone)
    except PySparkTypeError:
        raise CannotReadError(f"Python has no values of the type {type.simpleString()}") from None


def hashable_type(field: T.StructField) -> pa.DataType:
    """The Arrow type in which a column is hashed; raises `CannotReadError` if it has no hash here."""
    if isinstance(field.dataType, T.StringType) and field.dataType != T.StringType():
        raise CannotReadError(f"the texts in {field.name!r} are compared in another way than by their bytes")
    type = arrow_type(field.dataType, "UTC")
    if not is_hashable(type):
        raise CannotReadError(f"{field.name!r} is {field.dataType.simpleString()}, which has no hash")
    return type


def _struct(schema: T.StructType, names: Sequence[str], time_zone: str) -> pa.StructType:
    return pa.struct([pa.field(name, arrow_type(schema[name].dataType, time_zone)) for name in names])
