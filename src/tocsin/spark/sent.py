"""The events that subscriptions send: their types, and a table for each type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tocsin.algebra.correlation.types import DELIVERY_ATTRIBUTES
from tocsin.automata.detection_plan import Compiled
from tocsin.errors import InputError, did_you_mean
from tocsin.runtime.program import Emission, Walk
from tocsin.runtime.results.match_rows import keys_among
from tocsin.spark.quoting import quoted
from tocsin.values import Value

# The types of IDL; Spark has no unsigned integers, so those use the next larger type.
_DECLARED = {
    "octet": pa.int16(), "short": pa.int16(), "unsigned short": pa.int32(), "long": pa.int32(),
    "unsigned long": pa.int64(), "long long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "boolean": pa.bool_(), "char": pa.string(), "string": pa.string(),
}  # fmt: skip
_TABLES = "tocsin.tables"  # metadata of the column `what`
_ENVELOPE = ("id", "type", "time", "source")


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
    """Return the events that were sent to one table: `id`, `type`, `time`, `source`, the key columns, and their attributes.

    From the result of `deliver`, only delivered events are returned, with the time of delivery. `_` is appended to the
    name of a key column or an attribute that clashes with one of the first four; of a key column and an attribute of the
    same name, only the attribute is returned. Events without attributes have no table of their own; select them by their
    type.
    """
    if "what" not in matches.columns:
        hint = "take what tocsin.detect finds in a language that sends events"
        raise InputError("unknown-column", "these matches contain no events that were sent", hint=hint)
    outputs = matches.schema["output"].dataType if "output" in matches.columns else T.StructType()
    assert isinstance(outputs, T.StructType)
    own = F.col("what") == "push"
    attributes: list[str] = []
    _check_table(table, outputs.names, matches.schema["what"].metadata.get(_TABLES))
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
        *(
            F.col(quoted(name)).alias(_apart(name))
            for name in keys_among(matches.columns)
            if name not in attributes
        ),
        *(F.col("output").getField(table).getField(name).alias(_apart(name)) for name in attributes),
    )


def with_tables(matches: DataFrame, compiled: Compiled) -> DataFrame:
    """Return matches that list their tables for `sent`, in the metadata of a column."""
    if not sends(compiled):
        return matches
    pushed = [emission for emission in _emissions(compiled) if emission.what == "push"]
    listed = {
        "names": sorted({emission.table for emission in pushed}),
        "forwarded": sorted({emission.table for emission in pushed if emission.forwards is not None}),
    }
    return matches.withMetadata("what", {_TABLES: listed}) if "what" in matches.columns else matches


def _check_table(table: str, with_attributes: Sequence[str], listed: Mapping[str, list[str]] | None) -> None:
    """Raise an error if no event can be in a table, as far as the matches show what is sent."""
    if listed is None or table in with_attributes:
        return
    if table in listed["forwarded"]:
        message = f"the events in the table {table!r} carry no column, so the table does not exist"
        hint = "select them by their type: tocsin.sent(matches, TYPE); or carry columns: tocsin.Columns(attributes=[…])"
        raise InputError("unknown-table", message, hint=hint)
    # Events that are sent on can be selected by their types, which only the events have.
    if table not in listed["names"] and not listed["forwarded"]:
        raise InputError(
            "unknown-table",
            f"no event is sent to a table {table!r}",
            hint=did_you_mean(table, listed["names"]),
        )


def _apart(name: str) -> str:
    return f"{name}_" if name in _ENVELOPE else name


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
