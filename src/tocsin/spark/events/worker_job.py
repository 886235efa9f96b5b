"""The part of a query that workers receive, and the schema of the matches they return. Needs no Spark plan."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tocsin.errors import InputError
from tocsin.runtime import program as rt
from tocsin.runtime.batch.partition import Job
from tocsin.runtime.results.match_rows import chosen_columns, key_names, match_schema
from tocsin.spark.events.fields import operand_of, operand_type
from tocsin.spark.events.naming import known_type, names_at
from tocsin.spark.events.prepare import taken_fields
from tocsin.spark.query import EventColumns, Query
from tocsin.spark.sent import output_types, sends


def worker_job(query: Query) -> tuple[Job, pa.Schema]:
    """Return the worker job, and the schema of the matches with the requested columns, by default all."""
    schema, columns, compiled = query.schema, query.columns, query.compiled
    attributes = attributes_type(schema, query.carried_columns)
    outputs = None
    if sends(compiled):
        fields = {
            name: operand_type(operand_of(name, schema, columns), schema, columns)
            for name in taken_fields(compiled)
        }
        outputs = output_types(compiled, fields, attributes)
    matches = match_schema(key_fields(schema, columns, sends(compiled)), attributes, outputs)
    job = Job(rt.to_bytes(compiled.plan), matches.serialize().to_pybytes(), len(columns.key), query.limit)
    if query.output_columns is None:
        return job, matches
    reported = chosen_columns(matches.names, query.output_columns)
    return job._replace(wanted=tuple(reported)), pa.schema([matches.field(name) for name in reported])


def key_fields(schema: T.StructType, columns: EventColumns, sends: bool) -> list[pa.Field]:
    """Return the key columns of matches; a field inside a struct has its last name, as in Spark's `select`."""
    names = key_names([(names_at(schema, name) or (name,))[-1] for name in columns.key], sends=sends)
    for name in names:
        if names.count(name) > 1:
            message = f"two key columns would be called {name!r} in the matches"
            hint = "add one of them to the table under another name, and name that as the key"
            raise InputError("duplicate-name", message, hint=hint)
    return [
        pa.field(own, to_arrow_type(known_type(schema, name), timezone="UTC"))
        for own, name in zip(names, columns.key, strict=True)
    ]


def attributes_type(schema: T.StructType, carried: Sequence[str]) -> pa.StructType | None:
    """Return the type of the attributes that constituents carry; None if they carry none."""
    if not carried:
        return None
    return _nullable(to_arrow_type(T.StructType([schema[name] for name in carried]), timezone="UTC"))


def _nullable(type: pa.DataType) -> pa.DataType:
    """Return the type with all fields nullable at any depth, because a timer has none of them."""
    if pa.types.is_struct(type):
        return pa.struct([pa.field(one.name, _nullable(one.type)) for one in type])
    if pa.types.is_list(type):
        return pa.list_(_nullable(type.value_type))
    return type
