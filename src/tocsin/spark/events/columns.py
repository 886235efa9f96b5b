"""Find the columns of a table that hold an event's type, time, key, id and source."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.errors import InputError, did_you_mean
from tocsin.events import MICROSECONDS
from tocsin.spark.events.predicates import attribute_column
from tocsin.spark.query import EventColumns, HasSchema

DEFAULT_TYPE = "Event"
_UNITS = ("s", "ms", "us", "ns")


def event_columns(
    table: HasSchema,
    *,
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    event_type: str | None = None,
    key: str | Sequence[str] | None = None,
    id: str | None = None,
    source: str | None = None,
    time_unit: str | None = None,
) -> EventColumns:
    """Find the columns of events in a table; those not named are inferred if unambiguous.

    Without `time`: a column `time`, or the only column of a time type. Without `type`: a column `type`, or every event is
    of the type `Event`.
    """
    fields = {field.name: field.dataType for field in table.schema.fields}
    keys = (key,) if isinstance(key, str) else tuple(key or ())
    if type is not None and event_type is not None:
        message = f"both type={type!r} and event_type={event_type!r} say what type events are"
        raise InputError("bad-option", message, hint="keep one of them")
    for name in (*keys, *(n for n in (type, id, source) if n is not None)):
        _require(fields, name)
    if type is None and event_type is None and isinstance(fields.get("type"), T.StringType | T.ArrayType):
        type = "type"
    times = _times(fields, time)
    for name in times:
        _check_time(fields, name, time_unit)
    if time_unit is not None and not any(isinstance(fields[name], T.NumericType) for name in times):
        message = f"the time column {times[0]!r} is a {fields[times[0]].simpleString()}, which has no unit"
        raise InputError("bad-option", message, hint="leave out time_unit, which is for numbers")
    return EventColumns(type, event_type or DEFAULT_TYPE, times, time_unit, keys, id, source)


def _require(fields: dict[str, T.DataType], name: str) -> None:
    if name not in fields:
        raise InputError(
            "unknown-column", f"the table has no column {name!r}", hint=did_you_mean(name, fields)
        )


def _times(fields: dict[str, T.DataType], time: str | Sequence[str] | None) -> tuple[str, str]:
    if time is None:
        candidates = [
            n for n, t in fields.items() if isinstance(t, T.TimestampType | T.TimestampNTZType | T.DateType)
        ]
        if "time" in fields:
            time = "time"
        elif len(candidates) == 1:
            time = candidates[0]
        else:
            listed = ", ".join(candidates) or "none is of a time type"
            raise InputError(
                "no-time",
                "which column is the time of the events?",
                hint=f"say time='…' or time=('start', 'end'); {listed}",
            )
    pair = (time, time) if isinstance(time, str) else tuple(time)
    if len(pair) != 2:
        raise InputError(
            "no-time", f"time names {len(pair)} columns", hint="one column, or a start and an end"
        )
    for name in pair:
        _require(fields, name)
    return pair


def _check_time(fields: dict[str, T.DataType], name: str, unit: str | None) -> None:
    if unit is not None and unit not in _UNITS:
        raise InputError(
            "bad-time-unit", f"there is no time unit {unit!r}", hint="one of " + ", ".join(_UNITS)
        )
    kind = fields[name]
    if isinstance(kind, T.TimestampType | T.TimestampNTZType | T.DateType):
        return
    if isinstance(kind, T.NumericType):
        if unit is None:
            raise InputError(
                "no-time-unit",
                f"the time column {name!r} holds numbers ({kind.simpleString()}); of what?",
                hint="say time_unit='s', 'ms', 'us' or 'ns' (since 1970-01-01 UTC)",
            )
        return
    raise InputError(
        "bad-time",
        f"the time column {name!r} is a {kind.simpleString()}",
        hint=f"convert it first, as in df.withColumn({name!r}, to_timestamp({name!r}))",
    )


def micros(table: HasSchema, name: str, unit: str | None) -> Column:
    """Convert a time column to microseconds since 1970-01-01 UTC."""
    return micros_of(attribute_column(name), table.schema[name].dataType, unit)


def micros_of(column: Column, kind: T.DataType, unit: str | None = None) -> Column:
    """Convert a column of a time type, or of numbers in a unit, to microseconds since 1970-01-01 UTC."""
    if isinstance(kind, T.TimestampType):
        return F.unix_micros(column)
    if isinstance(kind, T.TimestampNTZType):
        return F.timestamp_diff("MICROSECOND", F.lit("1970-01-01").cast("timestamp_ntz"), column)
    if isinstance(kind, T.DateType):
        return F.unix_date(column).cast("long") * F.lit(MICROSECONDS["d"])
    assert unit is not None
    if unit == "ns":
        return F.floor(column / F.lit(1000)).cast("long")
    factor = MICROSECONDS[unit]
    whole = isinstance(kind, T.IntegralType)
    return column.cast("long") * F.lit(factor) if whole else F.round(column * F.lit(factor)).cast("long")


def attribute_kinds(table: HasSchema) -> dict[str, str]:
    """Return the kinds of the columns of a table, against which the attributes in patterns are checked."""
    return struct_kinds(table.schema)


def struct_kinds(schema: T.StructType) -> dict[str, str]:
    """Return the kinds of columns by name; a field inside a struct has a dotted name."""
    kinds: dict[str, str] = {}

    def add(prefix: str, struct: T.StructType) -> None:
        for field in struct.fields:
            name = prefix + field.name
            if isinstance(field.dataType, T.StructType):
                add(f"{name}.", field.dataType)
            else:
                kinds[name] = kind_of(field.dataType)

    add("", schema)
    return kinds


def kind_of(type: T.DataType) -> str:
    """Return the kind of a column: `string`, `int`, `float`, `bool`, `timestamp`, or Spark's own name for the type."""
    match type:
        case T.StringType() | T.CharType() | T.VarcharType():
            return "string"
        case T.IntegralType():
            return "int"
        case T.FractionalType():
            return "float"
        case T.BooleanType():
            return "bool"
        case T.TimestampType() | T.TimestampNTZType() | T.DateType():
            return "timestamp"
        case _:
            return type.simpleString()


def type_at(schema: T.StructType, name: str) -> T.DataType | None:
    """Return the type of a column, or of a field inside a struct; None if the name is unknown."""
    type: T.DataType = schema
    for part in name.split("."):
        if not isinstance(type, T.StructType) or part not in type.names:
            return None
        type = type[part].dataType
    return type
