"""The events that subscriptions send: their types, and a table for each type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tocsin.algebra.correlation.types import DELIVERY_ATTRIBUTES
from tocsin.automata.detection_plan import Compiled
from tocsin.errors import InputError
from tocsin.runtime.program import Emission, Walk
from tocsin.values import Value

# The types of IDL; Spark has no unsigned integers, so those use the next larger type.
_DECLARED = {
    "octet": pa.int16(), "short": pa.int16(), "unsigned short": pa.int32(), "long": pa.int32(),
    "unsigned long": pa.int64(), "long long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "boolean": pa.bool_(), "char": pa.string(), "string": pa.string(),
}  # fmt: skip
_ENVELOPE = ("id", "type", "time", "source", "key")


def sends(compiled: Compiled) -> bool:
    """Return whether the subscriptions are in a language that sends events, even if they never send any."""
    return any(isinstance(detector.program, Walk) for detector in compiled.plan.detectors)


def sent_tables(compiled: Compiled, subscription: str | None = None) -> tuple[str, ...]:
    """Return the names of the tables to which all subscriptions, or one of them, send events."""
    names = [output.name for output in compiled.plan.outputs]
    pushed = (e for e in _emissions(compiled) if subscription is None or names[e.output] == subscription)
    return tuple(dict.fromkeys(emission.table for emission in pushed if emission.what == "push"))


def output_types(
    compiled: Compiled, fields: Mapping[str, T.DataType], carried: pa.StructType | None
) -> pa.StructType:
    """Return a struct with a field for each table.

    Args:
        fields: the types of the fields that outputs take from events.
        carried: the attributes that constituents carry.
    """
    tables: dict[str, dict[str, pa.DataType]] = {}
    for emission in _emissions(compiled):
        if emission.what == "push":
            attributes = tables.setdefault(emission.table, {})
            for name, type in _attributes(emission, fields, carried):
                known = attributes.setdefault(name, type)
                attributes[name] = common_type(emission.table, name, known, type)
    return pa.struct(
        [
            pa.field(table, pa.struct([pa.field(name, type) for name, type in attributes.items()]))
            for table, attributes in tables.items()
            if attributes
        ]
    )


def sent(matches: DataFrame, table: str) -> DataFrame:
    """Return the events that were sent to one table: `id`, `type`, `time`, `source`, `key`, and their attributes.

    From the result of `deliver`, only delivered events are returned, with the time of delivery. `_` is appended to the
    name of an attribute that clashes with one of these. Events without attributes have no table of their own; select
    them by their type.
    """
    if "what" not in matches.columns:
        hint = "take what tocsin.detect finds in a language that sends events"
        raise InputError("unknown-column", "these matches tell of no events that were sent", hint=hint)
    outputs = matches.schema["output"].dataType if "output" in matches.columns else T.StructType()
    assert isinstance(outputs, T.StructType)
    own = F.col("what") == "push"
    attributes: list[str] = []
    if table in outputs.names:
        type = outputs[table].dataType
        assert isinstance(type, T.StructType)
        own &= F.col("output").getField(table).isNotNull()
        attributes = type.names
    else:
        own &= F.col("type") == table
    time = F.col("end")
    if "delivered_at" in matches.columns:
        own, time = own & F.col("lost").isNull(), F.col("delivered_at")
    return matches.where(own).select(
        F.col("match_id").alias("id"),
        "type",
        time.alias("time"),
        F.col("pattern").alias("source"),
        "key",
        *(
            F.col("output").getField(table).getField(name).alias(f"{name}_" if name in _ENVELOPE else name)
            for name in attributes
        ),
    )


def _emissions(compiled: Compiled) -> Iterator[Emission]:
    for detector in compiled.plan.detectors:
        yield from detector.emissions


def _attributes(
    emission: Emission, fields: Mapping[str, T.DataType], carried: pa.StructType | None
) -> Iterator[tuple[str, pa.DataType]]:
    declared = {name for name, _ in emission.declared or ()}
    yield from ((name, _DECLARED[type]) for name, type in emission.declared or ())
    for name, source in emission.fields:
        if name in declared:
            continue
        if source[0] == "literal":
            yield name, _type_of(source[1])
        else:
            yield name, to_arrow_type(fields[source[2]], timezone="UTC")
    if emission.forwards is not None and carried is not None:
        # An event of a declared type has the declared attributes, and the delivery attributes.
        others = (
            carried if emission.declared is None else [f for f in carried if f.name in DELIVERY_ATTRIBUTES]
        )
        yield from ((field.name, field.type) for field in others if field.name not in declared)


def _type_of(value: Value) -> pa.DataType:
    match value:
        case bool():
            return pa.bool_()
        case int():
            return pa.int64()
        case float():
            return pa.float64()
        case _:
            return pa.string()


def common_type(table: str, name: str, one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the common type of an attribute that is sent with two types."""
    if one == other:
        return one
    number = [pa.types.is_integer(type) or pa.types.is_floating(type) for type in (one, other)]
    if not all(number):
        raise InputError(
            "mixed-types",
            f"{name!r} of the events {table!r} is sent both as {one} and as {other}",
            hint="give one of the two another name",
        )
    both_whole = pa.types.is_integer(one) and pa.types.is_integer(other)
    return pa.int64() if both_whole else pa.float64()
