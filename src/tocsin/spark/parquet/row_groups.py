"""Find Parquet files that Arrow reads exactly as Spark does, their row groups, and the types of their columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from tocsin.runtime.read.parquet_columns import open_parquet
from tocsin.runtime.read.parquet_tables import WholeFiles, read_tables

_TASK_BYTES = 128 << 20  # of files, per task
_REBASED_BEFORE = (3, 1)  # versions of Spark before this one wrote times in another calendar
_SPARK_VERSION = b"org.apache.spark.version"
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_REBASE = ("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead")
# Arrow's integer types that Spark reads as each of its own.
_WHOLE = {
    T.ByteType: (pa.int8(),),
    T.ShortType: (pa.int16(), pa.uint8()),
    T.IntegerType: (pa.int32(), pa.uint16()),
    T.LongType: (pa.int64(), pa.uint32()),
}


class CannotReadError(Exception):
    """Why Arrow cannot read the files as Spark does."""


# The type that Spark infers for columns with only one possible meaning.
_INFERRED: dict[pa.DataType, T.DataType] = {
    pa.bool_(): T.BooleanType(),
    pa.int8(): T.ByteType(),
    pa.int16(): T.ShortType(),
    pa.int32(): T.IntegerType(),
    pa.int64(): T.LongType(),
    pa.float32(): T.FloatType(),
    pa.float64(): T.DoubleType(),
    pa.string(): T.StringType(),
    pa.date32(): T.DateType(),
    pa.timestamp("us", "UTC"): T.TimestampType(),
}
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_SCHEMA_SETTINGS = {"spark.sql.parquet.mergeSchema": "false", "spark.sql.parquet.binaryAsString": "false"}


def plain_files(path: str) -> list[Path]:
    """Return the files that Spark reads at a path; none if it is a glob, or has subfolders or summary files."""
    place = Path(path)
    if any(sign in path for sign in "*?[]{}\\") or not place.exists():
        return []
    listed = sorted(place.iterdir()) if place.is_dir() else [place]
    files = [file for file in listed if not file.name.startswith(("_", "."))]
    summed_up = any(file.name in ("_metadata", "_common_metadata") for file in listed)
    return files if not summed_up and all(file.is_file() for file in files) else []


def schema_of(file: Path, settings: Callable[[str], str]) -> T.StructType | None:
    """Return the schema that Spark would start a job to infer from a local Parquet file; None if Spark has to.

    Args:
        settings: returns the value of a Spark setting.
    """
    if any(settings(name) != value for name, value in _SCHEMA_SETTINGS.items()):
        return None
    try:
        with open_parquet(str(file)) as opened:
            own, metadata = opened.schema_arrow, opened.metadata.metadata or {}
    except (OSError, pa.ArrowException):
        return None
    if any(map(is_nanos, own.types)):
        return _in_micros(own)
    if _SPARK_SCHEMA in metadata:
        stated = T.StructType.fromJson(json.loads(metadata[_SPARK_SCHEMA]))
    else:
        stated = T.StructType([T.StructField(f.name, _INFERRED.get(f.type, T.NullType())) for f in own])
    known = all(one.dataType in _INFERRED.values() and not one.metadata for one in stated.fields)
    alike = len({name.lower() for name in stated.names}) == len(stated.names)
    return (
        T.StructType([T.StructField(one.name, one.dataType) for one in stated.fields])
        if known and alike
        else None
    )


def is_nanos(type: pa.DataType) -> bool:
    """Return whether a type is one of times in nanoseconds, as pandas writes them. Spark reads none."""
    return bool(pa.types.is_timestamp(type)) and type.unit == "ns"


def _in_micros(schema: pa.Schema) -> T.StructType | None:
    """Return the schema of files with nanoseconds, whose times are in microseconds; None if Spark has no such types."""
    fields = []
    for field in schema:
        type = pa.timestamp("us", field.type.tz) if is_nanos(field.type) else field.type
        type = type.value_type if pa.types.is_dictionary(type) else type
        fields.append(pa.field(field.name, pa.string() if pa.types.is_large_string(type) else type))
    try:
        return T.StructType(
            [T.StructField(one.name, one.dataType) for one in from_arrow_schema(pa.schema(fields)).fields]
        )
    except PySparkTypeError:
        return None


class RowGroup(NamedTuple):
    """A row group: its rows and bytes, and its first and last time, if the file has statistics."""

    file: str
    number: int
    rows: int
    bytes: int
    times: tuple[object, object] | None


class FromFiles(Protocol):
    """The session and files of a table; a `DataFrame` has both."""

    @property
    def sparkSession(self) -> SparkSession:  # noqa: N802  (as Spark calls it)
        """The session that reads it."""
        ...

    def inputFiles(self) -> list[str]:  # noqa: N802
        """Return the URIs of the files."""
        ...


def local_files(table: FromFiles) -> list[str]:
    """Return the files of a table; raise `CannotReadError` unless all are local and hold the whole table."""
    for name in _REBASE:
        if table.sparkSession.conf.get(name) == "LEGACY":
            raise CannotReadError(f"{name} is LEGACY")
    found = []
    for file in table.inputFiles():
        address = urlparse(file)
        if address.scheme not in ("", "file") or address.netloc:
            raise CannotReadError(f"{file} is not on this machine")
        path = unquote(address.path)
        if any("=" in part for part in Path(path).parent.parts):
            raise CannotReadError("names of folders may hold columns of the table")
        found.append(path)
    return sorted(found)


class Footer(NamedTuple):
    """The metadata of a Parquet file."""

    file: str
    metadata: pq.FileMetaData
    schema: pq.ParquetSchema
    schema_arrow: pa.Schema


def footers(files: Iterable[str]) -> list[Footer]:
    """Read the footers of files; raise `CannotReadError` if one cannot be opened, or its times need rebasing."""
    found = []
    for file in files:
        try:
            with open_parquet(file) as opened:
                found.append(Footer(file, opened.metadata, opened.schema, opened.schema_arrow))
        except (OSError, pa.ArrowException) as problem:
            raise CannotReadError(f"{file} cannot be opened: {problem}") from None
        _check_age(file, found[-1].metadata.metadata or {})
    return found


def row_groups(
    own_footers: Iterable[Footer], schema: T.StructType, read: Sequence[str], time: str
) -> list[RowGroup]:
    """Return the row groups of files whose column types must agree with Spark's. `time` is the time column."""
    for name in read:
        if schema.names.count(name) > 1:
            raise CannotReadError(f"{name!r} is not the name of a plain column")
    groups = []
    for footer in own_footers:
        for name in read:
            _check_column(footer, name, schema[name].dataType)
        for number in range(footer.metadata.num_row_groups):
            group = footer.metadata.row_group(number)
            if group.num_rows:
                times = _least_and_most(group, time)
                groups.append(RowGroup(footer.file, number, group.num_rows, group.total_byte_size, times))
    return groups


def may_lack(own_footers: Iterable[Footer], path: str) -> bool:
    """Return whether a column may contain nulls, according to the statistics of the files."""
    return any(
        _lacks(footer.metadata.row_group(number), path)
        for footer in own_footers
        for number in range(footer.metadata.num_row_groups)
    )


def _lacks(group: pq.RowGroupMetaData, path: str) -> bool:
    for column in (group.column(number) for number in range(group.num_columns)):
        if column.path_in_schema == path:
            stated = column.is_stats_set and column.statistics.has_null_count
            return not stated or column.statistics.null_count > 0
    return True


def _least_and_most(group: pq.RowGroupMetaData, name: str) -> tuple[object, object] | None:
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema == name:
            stated = column.is_stats_set and column.statistics.has_min_max and column.physical_type != "INT96"
            return (column.statistics.min, column.statistics.max) if stated else None
    return None


def _check_age(file: str, metadata: dict[bytes, bytes]) -> None:
    version = metadata.get(_SPARK_VERSION, b"9.9").decode().split(".")
    old = tuple(int(part) for part in version[:2] if part.isdigit()) < _REBASED_BEFORE
    if old or any(key in metadata for key in _LEGACY):
        raise CannotReadError(f"{file} was written by an old Spark, with times in another calendar")


def _check_column(footer: Footer, name: str, type: T.DataType) -> None:
    found = footer.schema_arrow.get_all_field_indices(name)
    if len(found) != 1:
        raise CannotReadError(f"{footer.file} has no column {name!r}, or several")
    own = footer.schema_arrow.field(found[0]).type
    if isinstance(type, T.TimestampType) and pa.types.is_timestamp(own) and own.tz is None:
        # INT96, the old encoding of a moment, has no zone, but is in UTC.
        columns = (footer.schema.column(n) for n in range(len(footer.schema.names)))
        if all(column.physical_type == "INT96" for column in columns if column.path == name):
            return
    if is_nanos(own) and type == (T.TimestampNTZType() if own.tz is None else T.TimestampType()):
        return
    if not agrees(type, own):
        raise CannotReadError(f"{name!r} is {type.simpleString()} to Spark, but {own} to Arrow")


def agrees(type: T.DataType, own: pa.DataType) -> bool:
    """Return whether Arrow's type `own` and Spark's `type` of a column stand for the same values."""
    match type:
        case T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType():
            return own in _WHOLE[type.__class__]
        case T.FloatType():
            return bool(pa.types.is_float32(own))
        case T.DoubleType():
            return bool(pa.types.is_float64(own))
        case T.BooleanType():
            return bool(pa.types.is_boolean(own))
        case T.StringType():
            plain = own.value_type if pa.types.is_dictionary(own) else own
            return type == T.StringType() and bool(
                pa.types.is_string(plain) or pa.types.is_large_string(plain)
            )
        case T.BinaryType():
            return bool(pa.types.is_binary(own) or pa.types.is_large_binary(own))
        case T.DateType():
            return bool(pa.types.is_date32(own))
        case T.TimestampType() | T.TimestampNTZType():
            zoned = isinstance(type, T.TimestampType)
            return (
                bool(pa.types.is_timestamp(own))
                and own.unit in ("ms", "us")
                and (own.tz is not None) is zoned
            )
        case T.DecimalType():
            return bool(own == pa.decimal128(type.precision, type.scale))
        case T.StructType():
            return (
                bool(pa.types.is_struct(own))
                and [field.name for field in own] == type.names
                and all(agrees(t.dataType, o.type) for t, o in zip(type.fields, own, strict=True))
            )
        case T.ArrayType():
            return bool(pa.types.is_list(own)) and agrees(type.elementType, own.value_type)
        case T.MapType():
            return (
                bool(pa.types.is_map(own))
                and agrees(type.keyType, own.key_type)
                and agrees(type.valueType, own.item_type)
            )
        case _:
            return False


def task_count(groups: Sequence[RowGroup], cores: int) -> int:
    """Return the number of tasks: the number of cores, or a multiple if tasks would have too much to read."""
    wanted = -(-sum(group.bytes for group in groups) // _TASK_BYTES)
    return max(cores, -(-wanted // cores) * cores)


def deal(groups: Sequence[RowGroup], cores: int) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Assign row groups to tasks."""
    count = min(len(groups), task_count(groups, cores))
    tasks: list[list[RowGroup]] = [[] for _ in range(count)]
    load = [0] * count
    # The largest first, each to the task with the least load.
    for group in sorted(groups, key=lambda group: -group.bytes):
        least = load.index(min(load))
        tasks[least].append(group)
        load[least] += group.bytes
    return tuple(tuple((group.file, group.number) for group in sorted(task, key=_place)) for task in tasks)


def read_with_arrow(spark: SparkSession, files: Sequence[str], schema: T.StructType) -> DataFrame:
    """Return files on this machine as a table, which tasks read with Arrow because Spark refuses to."""
    groups = row_groups(footers(files), schema, schema.names, "")
    tasks = deal(groups, spark.sparkContext.defaultParallelism)
    whole = WholeFiles(tasks, to_arrow_schema(schema, timezone="UTC").serialize().to_pybytes())
    numbers = spark.range(0, len(tasks), 1, max(1, len(tasks)))
    return numbers.mapInArrow(partial(read_tables, whole), schema)


def _place(group: RowGroup) -> tuple[str, int]:
    return group.file, group.number
