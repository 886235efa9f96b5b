"""Plan how Python tasks read Parquet with Arrow, where Spark would only scan it: rows never pass through Java.

The driver reads the footers of the files and assigns their row groups to tasks; `runtime.read.parquet_events` does the
rest. Whatever Arrow might read differently is left to Spark: then there is a `Refusal`, and the matches are the
same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tocsin.automata.tokens.span import overlap
from tocsin.runtime.predicates.derived import attributes_of
from tocsin.runtime.program import travelling
from tocsin.runtime.read.parquet_columns import OpenFiles
from tocsin.runtime.read.parquet_events import ReadJob, Recipe, read_group
from tocsin.runtime.rows.field_path import column_at
from tocsin.runtime.rows.spark_hash import is_hashable
from tocsin.spark.events.arrow_predicates import Lookup, lookup_of
from tocsin.spark.events.fields import operand_of
from tocsin.spark.events.naming import known_type, names_at, spelled, type_at
from tocsin.spark.events.prepare import taken_fields
from tocsin.spark.parquet.row_groups import (
    CannotReadError,
    FromFiles,
    RowGroup,
    deal,
    footers,
    local_files,
    row_groups,
)
from tocsin.spark.parquet.scanned_table import scan_of
from tocsin.spark.parquet.time_layout import even_cuts, lay_out, moment_of
from tocsin.spark.query import EventColumns, Query, Refusal
from tocsin.spark.session.session import is_remote

_SKEWED = 2  # times the events of a task, if all tasks had the same number


def plan_reading(files: FromFiles, query: Query) -> ReadJob | Refusal:
    """Plan how tasks read the events of Parquet files with Arrow, or return why they cannot.

    If `files` is a table, it must be a plain scan of Parquet files.
    """
    try:
        scan, schema = scan_of(files) if isinstance(files, DataFrame) else (None, query.schema)
        lookup = lookup_of(query)
        if isinstance(lookup, Refusal):
            return lookup
        recipe = recipe_for(query, lookup, query.time_zone)._replace(scan=scan)
        groups = groups_of(recipe, local_files(files), schema)
        return assign_tasks(recipe, groups, query, cluster_of(query.spark))
    except CannotReadError as problem:
        return Refusal(str(problem))


class Cluster(NamedTuple):
    """The resources of a session: how many tasks run at once, and into how many partitions Spark shuffles."""

    cores: int
    partitions: int


def cluster_of(spark: SparkSession) -> Cluster:
    """Return the resources of a session; raise `CannotReadError` if its tasks may not reach the driver's files."""
    if is_remote(spark):
        raise CannotReadError("a client of Spark Connect may not reach the files")
    return Cluster(
        spark.sparkContext.defaultParallelism, int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    )


def groups_of(reading: ReadJob, files: Sequence[str], schema: T.StructType) -> list[RowGroup]:
    """Return the row groups of local files with a schema.

    Raises `CannotReadError` if Arrow cannot read the needed columns.
    """
    columns, time = reading.columns, reading.end.column
    if reading.scan is not None:
        unknown = {*columns, time} - dict(reading.scan.names).keys()
        if unknown:
            raise CannotReadError(f"{min(unknown)!r} is not the name of a plain column")
        (time,) = reading.scan.in_files((time,))
        columns = tuple(dict.fromkeys((*reading.scan.in_files(columns), *reading.scan.asked)))
    return row_groups(footers(files), schema, columns, time)


def recipe_for(query: Query, lookup: Lookup, time_zone: str) -> ReadJob:
    """Return how tasks turn the rows of a query into prepared rows, before any files are assigned."""
    schema, columns, compiled, carried = query.schema, query.columns, query.compiled, query.carried_columns
    hashed = [f.name for f in schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
    taken = [
        *(_value(name, schema, time_zone) for name in compiled.plan.columns),
        *(_field(name, schema, columns, time_zone) for name in sorted(taken_fields(compiled))),
        *([_attribute("order", columns.order, schema, time_zone)] if columns.order else []),
    ]
    needed = [
        *dict.fromkeys(columns.time),
        *([columns.type] if columns.type else []),
        *columns.key,
        *(recipe.operand[1] for recipe in taken if recipe.operand[0] == "attribute"),
        *(name for operand in lookup.columns.values() for name in attributes_of(operand)),
        *([columns.source] if columns.source else []),
    ]
    bare = _outermost(needed, schema)
    read = _outermost([*needed, *([columns.id] if columns.id else hashed), *carried], schema)
    texts = (
        axis.column.name.removeprefix("ask:") for axis in lookup.index.axes if axis.column.kind == "text"
    )
    plain = {field.name for field in schema.fields if field.dataType == T.StringType()}
    start, end = (moment_of(name, schema, columns.time_unit, time_zone) for name in columns.time)
    id = columns.id
    return ReadJob(
        tasks=(),
        columns=read,
        bare=bare,
        coded=tuple(name for name in texts if name in read and name in plain),
        start=start,
        end=end,
        type=columns.type,
        constant_type=columns.constant_type,
        source=_source(schema, columns),
        asked=dict(lookup.columns),
        predicates=lookup.index,
        keys=tuple(
            Recipe(f"key{number}", ("attribute", name), arrow_type(known_type(schema, name), time_zone))
            for number, name in enumerate(columns.key)
        ),
        id=None
        if id is None
        else Recipe("id", ("attribute", id), arrow_type(known_type(schema, id), time_zone)),
        hashed=() if id else tuple((name, hashable_type(schema[name])) for name in hashed),
        taken=tuple(taken),
        carried=_struct(schema, carried, time_zone) if carried else None,
        required=columns.required,
        fail=query.unreadable == "fail",
        shards=1,
    )


def assign_tasks(reading: ReadJob, groups: Sequence[RowGroup], query: Query, cluster: Cluster) -> ReadJob:
    """Complete a recipe with the row groups of each task, and how the events are cut from there."""
    cores, partitions = cluster
    cut, longest, apart = query.cut, query.longest, query.overlap
    layout = None
    if longest is not None and cut != "key":
        chains = overlap(query.compiled) is None
        layout = lay_out(groups, reading.end, longest, chains=chains, cores=cores)
    if cut == "time" and apart is None and layout is None:
        raise CannotReadError("the footers of the files do not show the order of time")
    by_key = cut != "time" and bool(reading.keys)
    if layout is not None or (
        by_key and (cut == "key" or not _is_skewed(reading, groups, partitions, query.schema))
    ):
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


def _is_skewed(reading: ReadJob, groups: Sequence[RowGroup], partitions: int, schema: T.StructType) -> bool:
    """Estimate from two row groups whether one key has so many events that its task would finish far too late."""
    names = [str(recipe.operand[1]) for recipe in reading.keys]
    outermost = tuple(dict.fromkeys((names_at(schema, name) or (name,))[0] for name in names))
    keys_only = reading._replace(columns=outermost, coded=())
    for group in {groups[0], groups[len(groups) // 2]} if groups else ():
        with OpenFiles() as files:
            rows = read_group(keys_only, files, group.file, group.number)
        keys = pa.table({recipe.name: column_at(rows, str(recipe.operand[1])) for recipe in reading.keys})
        counts = keys.group_by(keys.column_names).aggregate([([], "count_all")])
        if (pc.max(counts.column("count_all")).as_py() or 0) * partitions <= _SKEWED * group.rows:
            return False
    return len(groups) > 0


def _outermost(names: Sequence[str], schema: T.StructType) -> tuple[str, ...]:
    """Return the top-level columns that contain these columns and fields."""
    return tuple(dict.fromkeys((names_at(schema, name) or (name,))[0] for name in names))


def _source(schema: T.StructType, columns: EventColumns) -> str | None:
    if columns.source is None:
        return None
    type = known_type(schema, columns.source)
    if not isinstance(type, T.IntegralType) and type != T.StringType():
        raise CannotReadError(f"the source {columns.source!r} is {type.simpleString()}")
    return columns.source


def _value(name: str, schema: T.StructType, time_zone: str) -> Recipe:
    return _attribute(travelling("value", name), name, schema, time_zone)


def _field(name: str, schema: T.StructType, columns: EventColumns, time_zone: str) -> Recipe:
    """Return the recipe for the column that `fields.field_column` returns."""
    operand = operand_of(name, schema, columns)
    if operand[0] == "attribute":
        return _attribute(travelling("field", name), name, schema, time_zone)
    return Recipe(travelling("field", name), operand)


def _attribute(own: str, name: str, schema: T.StructType, time_zone: str) -> Recipe:
    type = type_at(schema, name)
    if type is None or isinstance(type, T.StructType):
        return Recipe(own, ("nothing",))
    return Recipe(own, ("attribute", spelled(schema, name)), arrow_type(type, time_zone))


def arrow_type(type: T.DataType, time_zone: str) -> pa.DataType:
    """Return the Arrow type in which Spark passes values to Python; raise `CannotReadError` if there is none."""
    try:
        return to_arrow_type(type, timezone=time_zone)
    except PySparkTypeError:
        raise CannotReadError(f"Python has no values of the type {type.simpleString()}") from None


def hashable_type(field: T.StructField) -> pa.DataType:
    """Return the Arrow type in which a column is hashed; raise `CannotReadError` if it cannot be hashed."""
    if isinstance(field.dataType, T.StringType) and field.dataType != T.StringType():
        raise CannotReadError(f"the texts in {field.name!r} are compared in another way than by their bytes")
    type = arrow_type(field.dataType, "UTC")
    if not is_hashable(type):
        raise CannotReadError(f"{field.name!r} is {field.dataType.simpleString()}, which has no hash")
    return type


def _struct(schema: T.StructType, names: Sequence[str], time_zone: str) -> pa.StructType:
    return pa.struct([pa.field(name, arrow_type(schema[name].dataType, time_zone)) for name in names])
