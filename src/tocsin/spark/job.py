"""Events on their way to the workers: the columns that travel, the questions answered as bits, and the job that detects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type

from tocsin.automata.compile import BitTest, Compiled, FieldTest
from tocsin.events import Catalog
from tocsin.runtime import program as rt
from tocsin.runtime.matches import match_schema
from tocsin.runtime.partition import Job, detect_partition
from tocsin.spark.columns import EventColumns, attribute_kinds, micros
from tocsin.spark.fields import belongs_column, field_column, holds_column, type_column
from tocsin.spark.predicates import attribute_column, filter_column
from tocsin.spark.sent import output_types, sends


def prepare(
    events: DataFrame, columns: EventColumns, compiled: Compiled, catalog: Catalog, carried: Sequence[str]
) -> DataFrame:
    """The columns that travel to the workers (see `runtime.partition`), and `unreadable`: why a row cannot be used."""
    start, end = (micros(events, name, columns.time_unit) for name in columns.time)
    kinds = attribute_kinds(events)
    selected = [
        start.alias("start"),
        end.alias("end"),
        _unreadable(columns, start, end).alias("unreadable"),
        *(attribute_column(name).alias(f"key{i}") for i, name in enumerate(columns.key)),
        _id(events, columns).alias("id"),
        type_column(events, columns).alias("type"),
        *(word.alias(f"bits{i}") for i, word in enumerate(_bits(events, columns, compiled, catalog, kinds))),
        *(
            _value(name, kinds, compiled).alias(rt.travelling("value", name))
            for name in compiled.plan.columns
        ),
        *(
            _field(events, columns, name).alias(rt.travelling("field", name))
            for name in sorted(taken_fields(compiled))
        ),
    ]
    if carried:
        selected.append(F.struct(*(attribute_column(name) for name in carried)).alias("attributes"))
    return events.select(*selected)


def _unreadable(columns: EventColumns, start: Column, end: Column) -> Column:
    """The first thing that keeps a row from being an event, in words; null if it is one."""
    missing = [(name, f"no time in column {name!r}") for name in dict.fromkeys(columns.time)]
    missing += [(columns.type, f"no type in column {columns.type!r}")] if columns.type else []
    missing += [(name, f"no key in column {name!r}") for name in columns.key]
    reasons = [F.when(attribute_column(name).isNull(), F.lit(reason)) for name, reason in missing if name]
    if columns.time[0] != columns.time[1]:
        reasons.append(F.when(start > end, F.lit("it ends before it starts")))
    return F.coalesce(*reasons)


def _id(events: DataFrame, columns: EventColumns) -> Column:
    if columns.id is not None:
        return attribute_column(columns.id)
    hashable = [f.name for f in events.schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
    return F.xxhash64(*(attribute_column(name) for name in hashable))


def _bits(
    events: DataFrame, columns: EventColumns, compiled: Compiled, catalog: Catalog, kinds: dict[str, str]
) -> list[Column]:
    """One bigint column for 64 questions."""
    words: list[list[Column]] = [[F.lit(0).cast("long")] for _ in range(compiled.plan.words)]
    for bit, test in compiled.tests:
        answer = F.coalesce(_answer(test, events, columns, catalog, kinds), F.lit(False)).cast("long")
        words[bit >> 6].append(F.shiftleft(answer, bit & 63))
    return [reduce(lambda a, b: a.bitwiseOR(b), word) for word in words]


def _answer(
    test: BitTest | FieldTest,
    events: DataFrame,
    columns: EventColumns,
    catalog: Catalog,
    kinds: dict[str, str],
) -> Column:
    if isinstance(test, FieldTest):
        return holds_column(test.filter, events, columns, catalog)
    of_type = F.lit(True) if test.type is None else belongs_column(test.type, events, columns, catalog)
    if test.filter is None:
        return of_type
    truth = filter_column(test.filter, kinds)
    return of_type & (truth if test.truth else ~truth)


def _value(name: str, kinds: dict[str, str], compiled: Compiled) -> Column:
    """An attribute that kernels compare; a name that is only a variable of composites has no column."""
    return attribute_column(name) if name in kinds else F.lit(None).cast("string")


def _field(events: DataFrame, columns: EventColumns, name: str) -> Column:
    column = field_column(events, columns, name)
    return F.lit(None).cast("string") if column is None else column


def taken_fields(compiled: Compiled) -> set[str]:
    """What conditions on whole matches look at, and what outputs take from events."""

    def names(condition: tuple[Any, ...]) -> set[str]:
        if not condition:
            return set()
        if condition[0] == "compare":
            return {operand[2] for operand in condition[2:] if operand[0] == "role"}
        return set().union(*(names(part) for part in condition[1:]))

    asked = set().union(*(names(output.where) for output in compiled.plan.outputs))
    sent = {
        source[2]
        for detector in compiled.plan.detectors
        for emission in detector.emissions
        for _, source in emission.fields
        if source[0] == "field"
    }
    return asked | sent


def relevant(compiled: Compiled) -> Column:
    """Whether some pattern looks at a prepared row."""
    return _meets_domains(compiled, [F.col(f"bits{word}") for word in range(compiled.plan.words)])


def looked_at(events: DataFrame, columns: EventColumns, compiled: Compiled, catalog: Catalog) -> Column:
    """Whether some pattern looks at an event, asked of the table itself and not of its prepared rows."""
    return _meets_domains(compiled, _bits(events, columns, compiled, catalog, attribute_kinds(events)))


def _meets_domains(compiled: Compiled, bits: Sequence[Column]) -> Column:
    masks = [0] * compiled.plan.words
    for detector in compiled.plan.detectors:
        for state in detector.program.domain:
            for word, mask in enumerate(state.tolist()):
                masks[word] |= mask
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in masks]
    parts = [word.bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in zip(bits, signed, strict=True)]
    return reduce(lambda a, b: a | b, parts)


def run(
    used: DataFrame,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
) -> DataFrame:
    """The matches in prepared rows: events of a key together, then one kernel call after the other per partition."""
    job, schema = job_of(used, events, columns, compiled, carried, limit)
    keys = [f"key{i}" for i in range(len(columns.key))]
    together = used.repartition(*keys) if keys else used.coalesce(1)
    return together.mapInArrow(partial(detect_partition, job), from_arrow_schema(schema))


def job_of(
    used: DataFrame,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
) -> tuple[Job, pa.Schema]:
    """What the workers are told, and the schema of the matches."""
    attributes = _attributes_type(used, carried)
    outputs = output_types(compiled, used, attributes) if sends(compiled) else None
    schema = match_schema(_key_type(events, columns), attributes, outputs)
    return Job(rt.to_bytes(compiled.plan), schema.serialize().to_pybytes(), len(columns.key), limit), schema


def _key_type(events: DataFrame, columns: EventColumns) -> pa.DataType:
    types = [to_arrow_type(events.schema[name].dataType) for name in columns.key]
    if len(types) <= 1:
        return types[0] if types else pa.string()
    return pa.struct([pa.field(name, type) for name, type in zip(columns.key, types, strict=True)])


def _attributes_type(used: DataFrame, carried: Sequence[str]) -> pa.StructType | None:
    if not carried:
        return None
    return to_arrow_type(used.schema["attributes"].dataType, timezone="UTC")
