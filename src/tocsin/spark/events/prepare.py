"""Prepare events for the workers: select the columns to send, and evaluate predicates in Spark as bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.automata.detection_plan import BitTest, Compiled, FieldTest
from tocsin.runtime import program as rt
from tocsin.runtime.results.where import operands_of
from tocsin.spark.events.arrow_predicates import domain_of, lookup_if_many, relevant_by_lookup
from tocsin.spark.events.boolean_columns import any_of
from tocsin.spark.events.columns import micros
from tocsin.spark.events.fields import belongs_column, field_column, holds_column, type_column
from tocsin.spark.events.naming import column_at, type_at
from tocsin.spark.events.predicates import filter_column
from tocsin.spark.query import BACKWARDS, EventColumns, Query, Refusal


def prepare(
    query: Query, *, asked: Sequence[Column] | None = None, others: Sequence[Column] = ()
) -> DataFrame:
    """Select the `prepared_columns` of the events."""
    return query.table.select(*prepared_columns(query, asked=asked, others=others))


def prepared_columns(
    query: Query, *, asked: Sequence[Column] | None = None, others: Sequence[Column] = ()
) -> list[Column]:
    """Return the columns that workers get (see `runtime.batch.partition`), and `unreadable`: why a row cannot be used.

    Args:
        asked: the columns that predicates use, to be sent instead of bits computed by Spark.
        others: further columns to send.
    """
    columns, compiled = query.columns, query.compiled
    start, end = (micros(query, name, columns.time_unit) for name in columns.time)
    schema = query.schema
    selected = [
        start.alias("start"),
        end.alias("end"),
        _unreadable(query, start, end).alias("unreadable"),
        *(column_at(schema, name).alias(f"key{i}") for i, name in enumerate(columns.key)),
        _id(query).alias("id"),
        type_column(query).alias("type"),
        *(_bit_columns(query) if asked is None else asked),
        *(_value(name, schema).alias(rt.travelling("value", name)) for name in compiled.plan.columns),
        *(
            field_column(name, query).alias(rt.travelling("field", name))
            for name in sorted(taken_fields(compiled))
        ),
        *others,
    ]
    if columns.order is not None:
        selected.append(column_at(schema, columns.order).alias("order"))
    if query.carried_columns:
        carried = (column_at(schema, name) for name in query.carried_columns)
        selected.append(F.struct(*carried).alias("attributes"))
    return selected


def _unreadable(query: Query, start: Column, end: Column) -> Column:
    """Return the first reason why a row is not an event, as text; null if it is one."""
    columns, schema = query.columns, query.schema
    reasons = [F.when(column_at(schema, name).isNull(), F.lit(reason)) for name, reason in columns.required]
    if columns.have_length:
        reasons.append(F.when(start > end, F.lit(BACKWARDS)))
    return F.coalesce(*reasons)


def has_no_type(query: Query) -> Column:
    """Return a condition: whether a row of the table has no type."""
    type = query.columns.type
    return F.lit(False) if type is None else column_at(query.schema, type).isNull()


def is_unreadable(query: Query) -> Column:
    """Return a condition: whether a row of the table is not an event.

    It uses the table's own columns and gives no reason, so that Spark can push it down to the files.
    """
    columns = query.columns
    missing = any_of(column_at(query.schema, name).isNull() for name, _ in columns.required)
    if not columns.have_length:
        return missing
    start, end = (micros(query, name, columns.time_unit) for name in columns.time)
    return missing | F.coalesce(start > end, F.lit(False))


def readable(prepared: DataFrame, unreadable: str, used: Column | None = None) -> DataFrame:
    """Drop rows that are not events, or raise an error at the first one when the query runs.

    Args:
        used: whether a pattern looks at a prepared row. Others that are not events are dropped in any case; but a row
            without a type is an error, because it may be relevant to any pattern.
    """
    problem = prepared["unreadable"]
    if unreadable == "drop":
        return prepared.where(problem.isNull()).drop("unreadable")
    if used is not None:
        prepared = prepared.where(problem.isNull() | used | F.col("type").isNull())
    end = F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(F.col("end"))
    return prepared.withColumn("end", end).drop("unreadable")


def without_length(used: DataFrame, columns: EventColumns) -> DataFrame:
    """Drop the redundant `start` of prepared rows if events have no length."""
    return used if columns.have_length else used.drop("start")


def _id(query: Query) -> Column:
    if query.columns.id is not None:
        return column_at(query.schema, query.columns.id)
    hashable = [f.name for f in query.schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
    return F.xxhash64(*(column_at(query.schema, name) for name in hashable))


def _bit_columns(query: Query) -> list[Column]:
    """Return one bigint column for each 64 predicates; the last one is as narrow as possible."""
    compiled = query.compiled
    words: list[list[Column]] = [[F.lit(0).cast("long")] for _ in range(compiled.plan.words)]
    for bit, test in compiled.tests:
        answer = F.coalesce(_answer(test, query), F.lit(False)).cast("long")
        words[bit >> 6].append(F.shiftleft(answer, bit & 63))
    joined = [reduce(lambda a, b: a.bitwiseOR(b), word) for word in words]
    last = max((bit for bit, _ in compiled.tests), default=0) & 63
    bits = [*joined[:-1], joined[-1].cast(_narrowest(last))]
    return [word.alias(f"bits{number}") for number, word in enumerate(bits)]


def _narrowest(last: int) -> str:
    """Return the narrowest integer type with room for bits up to `last`, without using its sign bit."""
    return next((name for name, bits in (("byte", 7), ("short", 15), ("int", 31)) if last < bits), "long")


def _answer(test: BitTest | FieldTest, query: Query) -> Column:
    if isinstance(test, FieldTest):
        return holds_column(test.filter, query)
    of_type = F.lit(True) if test.type is None else belongs_column(test.type, query)
    if test.filter is None:
        return of_type
    truth = filter_column(test.filter, query.schema)
    return of_type & (truth if test.truth else ~truth)


def _value(name: str, schema: T.StructType) -> Column:
    """Return an attribute that kernels compare; null for a name that is only a variable of composites."""
    type = type_at(schema, name)
    known = type is not None and not isinstance(type, T.StructType)
    return column_at(schema, name) if known else F.lit(None).cast("string")


def taken_fields(compiled: Compiled) -> set[str]:
    """Return the fields that conditions on whole matches use, and those that outputs take from events."""
    conditions = [output.where for output in compiled.plan.outputs if output.where]
    asked = {operand[2] for one in conditions for operand in operands_of(one) if operand[0] == "role"}
    sent = {
        source[2]
        for detector in compiled.plan.detectors
        for emission in detector.emissions
        for _, source in emission.fields
        if source[0] == "field"
    }
    return asked | sent


def relevant(compiled: Compiled) -> Column:
    """Return a condition: whether a prepared row is relevant, by its bits."""
    masks = domain_of(compiled).tolist()
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in masks]
    words = [
        F.col(f"bits{word}").bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in enumerate(signed)
    ]
    return any_of(words)


def is_relevant(query: Query) -> Column:
    """Return a condition: whether an event is relevant, on the columns of the table and not of its prepared rows.

    Spark evaluates one predicate after the other and stops at the first that holds; bits would need all of them. When
    Spark would be slow to plan that many predicates, they are looked up.
    """
    lookup = lookup_if_many(query)
    if not isinstance(lookup, Refusal):
        return relevant_by_lookup(lookup, query)
    masks = domain_of(query.compiled).tolist()
    answers = [
        _answer(test, query) for bit, test in query.compiled.tests if masks[bit >> 6] >> (bit & 63) & 1
    ]
    return F.coalesce(any_of(answers, few=64), F.lit(False))
