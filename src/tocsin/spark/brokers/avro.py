"""Decode and encode Avro values; the only module that uses fastavro.

Spark's own `from_avro` needs the spark-avro jar of exactly the Spark version in use, which is often not available
even where the Kafka connector is. At a value it cannot read, it stops the query or returns null without a reason.
fastavro (MIT) is compiled, has no dependencies, and works for every broker; so Avro is read in a Python step.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StringType, StructType

from tocsin.errors import InputError, SetupError
from tocsin.spark.brokers.message import MESSAGES

try:
    import fastavro
    from fastavro.schema import SchemaParseException, UnknownType
except ImportError as missing:
    raise SetupError(
        "missing-package",
        "Avro needs the package fastavro, which is not installed",
        hint="pip install 'tocsin[brokers]'",
    ) from missing

Parsed = Any  # a schema as parsed by fastavro: nested dictionaries
_REGISTRY_HEADER = 5  # bytes: a zero, then the schema id in the registry
_PRIMITIVES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_LOGICAL = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "uuid": pa.string(),
}


def read_avro(messages: DataFrame, schema: str, *, registry_header: bool = False) -> DataFrame:
    """Decode message values as Avro records of a schema given as JSON; adds the columns `event` and `problem`.

    Args:
        registry_header: the values begin with the five bytes that clients of a schema registry write. They are
            skipped: the schema given here is used, whatever schema id they contain.
    """
    parsed = parse_schema(schema)
    event = _record_type(parsed, {})
    row = (
        StructType([*MESSAGES.fields])
        .add("event", from_arrow_schema(pa.schema(event)))
        .add("problem", StringType())
    )
    arrow = to_arrow_schema(row, timezone="UTC")

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _decode(batches, parsed, arrow, _REGISTRY_HEADER if registry_header else 0)

    return messages.select(*MESSAGES.names).mapInArrow(decode, row)


def write_avro(events: DataFrame, schema: str) -> DataFrame:
    """Encode each row as an Avro record of a schema given as JSON; returns a table with one column `value`."""
    parsed = parse_schema(schema)
    names = [field["name"] for field in parsed["fields"]]

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _encode(batches, parsed)

    return events.select(*(F.col(name) for name in names)).mapInArrow(encode, "value binary")


def parse_schema(text: str) -> Parsed:
    """Parse the Avro schema of a record.

    >>> parse_schema('{"type": "record", "name": "A", "fields": [{"name": "n", "type": "lung"}]}')
    Traceback (most recent call last):
    tocsin.errors.InputError: bad-avro-schema: the Avro schema cannot be used: unknown type lung
    hint: a record, as JSON text
    """
    try:
        parsed = fastavro.parse_schema(json.loads(text))
    except UnknownType as problem:
        raise _bad_schema(f"unknown type {problem.name}") from problem
    except (ValueError, KeyError, TypeError, SchemaParseException) as problem:
        raise _bad_schema(str(problem)) from problem
    if not isinstance(parsed, dict) or parsed.get("type") != "record":
        raise _bad_schema("it is not that of a record")
    return parsed


def _bad_schema(why: str) -> InputError:
    return InputError(
        "bad-avro-schema", f"the Avro schema cannot be used: {why}", hint="a record, as JSON text"
    )


def _decode(
    batches: Iterator[pa.RecordBatch], schema: Parsed, arrow: pa.Schema, skipped: int
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        events, problems = [], []
        for value in batch.column("value").to_pylist():
            event, problem = _read_one(value, schema, skipped)
            events.append(event)
            problems.append(problem)
        added = [pa.array(events, arrow.field("event").type), pa.array(problems, pa.string())]
        columns = [column.cast(kind.type) for column, kind in zip(batch.columns, arrow, strict=False)]
        yield pa.RecordBatch.from_arrays([*columns, *added], schema=arrow)


def _read_one(value: bytes | None, schema: Parsed, skipped: int) -> tuple[Any, str | None]:
    if value is None:
        return None, "there is no value"
    if skipped and (len(value) < skipped or value[0] != 0):
        return None, "the value does not begin with the header of a schema registry"
    stream = io.BytesIO(value)
    stream.seek(skipped)
    try:
        event = fastavro.schemaless_reader(stream, schema, None)
    # Bytes that were not written with this schema can make the reader raise any of its exceptions.
    except Exception as problem:  # noqa: BLE001
        return None, f"the value is not Avro of this schema: {str(problem) or type(problem).__name__}"
    if stream.read(1):
        return None, "the value is longer than Avro of this schema"
    return event, None


def _encode(batches: Iterator[pa.RecordBatch], schema: Parsed) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        values = []
        for row in batch.to_pylist():
            stream = io.BytesIO()
            try:
                fastavro.schemaless_writer(stream, schema, row)
            except (ValueError, TypeError, KeyError) as problem:
                raise InputError(
                    "not-of-schema",
                    f"a row does not fit the Avro schema: {problem}",
                    hint="the columns must have the fields of the schema, and no nulls where it allows none",
                ) from problem
            values.append(stream.getvalue())
        yield pa.RecordBatch.from_arrays([pa.array(values, pa.binary())], names=["value"])


def _record_type(schema: Parsed, named: dict[str, pa.DataType]) -> pa.StructType:
    fields = [pa.field(field["name"], _arrow_type(field["type"], named)) for field in schema["fields"]]
    return pa.struct(fields)


def _arrow_type(schema: Parsed, named: dict[str, pa.DataType]) -> pa.DataType:
    """Return the Arrow type of the values fastavro returns; `named` holds the records and enums seen so far."""
    if isinstance(schema, list):
        some = [part for part in schema if part != "null"]
        if len(some) != 1:
            raise _bad_schema("a union of several types has no type in Spark")
        return _arrow_type(some[0], named)
    if isinstance(schema, str):
        if schema in named:
            return named[schema]
        return _known(_PRIMITIVES, schema)
    if schema.get("logicalType") == "decimal":
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]
    if schema["type"] == "record":
        made: pa.DataType = _record_type(schema, named)
    elif schema["type"] == "array":
        made = pa.list_(_arrow_type(schema["items"], named))
    elif schema["type"] == "map":
        made = pa.map_(pa.string(), _arrow_type(schema["values"], named))
    elif isinstance(schema["type"], dict | list):
        made = _arrow_type(schema["type"], named)
    else:
        made = _known(_PRIMITIVES, schema["type"])
    if "name" in schema:
        named[schema["name"]] = made
    return made


def _known(types: dict[str, pa.DataType], name: str) -> pa.DataType:
    if name not in types:
        raise _bad_schema(f"{name} has no type in Spark, or contains itself")
    return types[name]
