"""Find the columns of a table that hold an event's type, time, key, id and source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.errors import InputError, counted
from tocsin.events import MICROSECONDS, AnyCase
from tocsin.spark.events.naming import (
    check_unambiguous,
    column_at,
    is_case_sensitive,
    known_type,
    required_name,
    spelled,
)
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
    check_unambiguous(table)
    schema = table.schema
    keys = tuple(required_name(table, name) for name in ((key,) if isinstance(key, str) else key or ()))
    if type is not None and event_type is not None:
        message = f"both type={type!r} and event_type={event_type!r} say what type events are"
        raise InputError("bad-option", message, hint="keep one of them")
    type, id, source = (None if name is None else required_name(table, name) for name in (type, id, source))
    if type is not None:
        _check_type(type, known_type(schema, type))
    elif event_type is None:
        type = _default(table, "type", T.StringType | T.ArrayType)
    times = _times(table, time)
    for name in times:
        _check_time(name, known_type(schema, name), time_unit)
    first = known_type(schema, times[0])
    if time_unit is not None and not any(isinstance(known_type(schema, n), T.NumericType) for n in times):
        message = f"the time column {times[0]!r} is a {first.simpleString()}, which has no unit"
        raise InputError("bad-option", message, hint="leave out time_unit, which is for numbers")
    return EventColumns(type, event_type or DEFAULT_TYPE, times, time_unit, keys, id, source)


def with_order(columns: EventColumns, table: HasSchema, order: str | None) -> EventColumns:
    """Return the columns of events with one that orders those of the same time, if there is one."""
    if order is None:
        return columns
    name = required_name(table, order)
    if not isinstance(kind := known_type(table.schema, name), T.AtomicType):
        message = f"the column {name!r} is {kind.simpleString()}, which has no order"
        raise InputError("bad-option", message, hint="name a column of numbers, texts or times")
    return replace(columns, order=name)


def _default(table: HasSchema, name: str, kinds: Any = None) -> str | None:
    """Return the column of this name, if the table has it and it is of one of the types."""
    own = spelled(T.StructType([*table.schema.fields]), name)
    if own not in table.schema.names or (own != name and is_case_sensitive(table)):
        return None
    return own if kinds is None or isinstance(table.schema[own].dataType, kinds) else None


def _check_type(name: str, kind: T.DataType) -> None:
    one = kind.elementType if isinstance(kind, T.ArrayType) else kind
    if not isinstance(one, T.StringType | T.IntegralType):
        message = f"the type column {name!r} is a {kind.simpleString()}"
        hint = f"types are texts or whole numbers; convert it: df.withColumn({name!r}, col({name!r}).cast('string'))"
        raise InputError("bad-type", message, hint=hint)


def _times(table: HasSchema, time: str | Sequence[str] | None) -> tuple[str, str]:
    if time is None:
        candidates = [
            field.name
            for field in table.schema.fields
            if isinstance(field.dataType, T.TimestampType | T.TimestampNTZType | T.DateType)
        ]
        if (default := _default(table, "time")) is not None:
            time = default
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
            "no-time", f"time names {counted(len(pair), 'column')}", hint="one column, or a start and an end"
        )
    start, end = (required_name(table, name) for name in pair)
    return start, end


def _check_time(name: str, kind: T.DataType, unit: str | None) -> None:
    if unit is not None and unit not in _UNITS:
        raise InputError(
            "bad-time-unit", f"there is no time unit {unit!r}", hint="one of " + ", ".join(_UNITS)
        )
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
    return micros_of(column_at(table.schema, name), known_type(table.schema, name), unit)


def micros_of(column: Column, kind: T.DataType, unit: str | None = None) -> Column:
    """Convert a column of a time type, or of numbers in a unit, to microseconds since 1970-01-01 UTC.

    Times without a zone and dates are in the session's time zone, as Spark casts them; a date is its midnight.
    """
    if isinstance(kind, T.TimestampType):
        return F.unix_micros(column)
    if isinstance(kind, T.TimestampNTZType | T.DateType):
        return F.unix_micros(column.cast("timestamp"))
    assert unit is not None
    if unit == "ns":
        return F.floor(column / F.lit(1000)).cast("long")
    factor = MICROSECONDS[unit]
    whole = isinstance(kind, T.IntegralType)
    return column.cast("long") * F.lit(factor) if whole else F.round(column * F.lit(factor)).cast("long")


def attribute_kinds(table: HasSchema) -> dict[str, str]:
    """Return the kinds of the columns of a table, against which the attributes in patterns are checked.

    Names are found in upper or lower case, unless the session is case-sensitive.
    """
    kinds = struct_kinds(table.schema)
    return kinds if is_case_sensitive(table) else AnyCase(kinds)


def struct_kinds(schema: T.StructType) -> dict[str, str]:
    """Return the kinds of columns by name; a field inside a struct has a dotted name."""
    return {name: kind_of(type) for name, type in attribute_types(schema).items()}


def attribute_types(schema: T.StructType) -> dict[str, T.DataType]:
    """Return the types of columns by name; a field inside a struct has a dotted name."""
    types: dict[str, T.DataType] = {}

    def add(prefix: str, struct: T.StructType) -> None:
        for field in struct.fields:
            name = prefix + field.name
            if isinstance(field.dataType, T.StructType):
                add(f"{name}.", field.dataType)
            else:
                types[name] = field.dataType

    add("", schema)
    return types


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
