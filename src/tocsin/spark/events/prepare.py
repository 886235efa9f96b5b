"""Prepare events for the workers: select the columns to send, and evaluate predicates in Spark as bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.automata.detection_plan import BitTest, Compiled, FieldTest
from tocsin.runtime import program as rt
from tocsin.spark.events.arrow_predicates import SPARK_WORDS, domain_of, lookup_of, relevant_by_lookup
from tocsin.spark.events.columns import attribute_kinds, micros
from tocsin.spark.events.fields import belongs_column, field_column, holds_column, type_column
from tocsin.spark.events.predicates import attribute_column, filter_column
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
    kinds = attribute_kinds(query)
    selected = [
        start.alias("start"),
        end.alias("end"),
        _unreadable(columns, start, end).alias("unreadable"),
        *(attribute_column(name).alias(f"key{i}") for i, name in enumerate(columns.key)),
        _id(query).alias("id"),
        type_column(query).alias("type"),
        *(_bit_columns(query, kinds) if asked is None else asked),
        *(_value(name, kinds).alias(rt.travelling("value", name)) for name in compiled.plan.columns),
        *(
            field_column(name, query).alias(rt.travelling("field", name))
            for name in sorted(taken_fields(compiled))
        ),
        *others,
    ]
    if query.carried_columns:
        carried = (attribute_column(name) for name in query.carried_columns)
        selected.append(F.struct(*carried).alias("attributes"))
    return selected


def _unreadable(columns: EventColumns, start: Column, end: Column) -> Column:
    """Return the first reason why a row is not an event, as text; null if it is one."""
    reasons = [F.when(attribute_column(name).isNull(), F.lit(reason)) for name, reason in columns.required]
    if columns.have_length:
        reasons.append(F.when(start > end, F.lit(BACKWARDS)))
    return F.coalesce(*reasons)


def is_unreadable(query: Query) -> Column:
    """Return a condition: whether a row of the table is not an event.

    It uses the table's own columns and gives no reason, so that Spark can push it down to the files.
    """
    columns = query.columns
    missing = reduce(lambda a, b: a | b, (attribute_column(name).isNull() for name, _ in columns.required))
    if not columns.have_length:
        return missing
    start, end = (micros(query, name, columns.time_unit) for name in columns.time)
    return missing | F.coalesce(start > end, F.lit(False))


def readable(prepared: DataFrame, unreadable: str) -> DataFrame:
    """Drop rows that are not events, or raise an error at the first one when the query runs."""
    problem = prepared["unreadable"]
    if unreadable == "drop":
        return prepared.where(problem.isNull()).drop("unreadable")
    # A row without a type is irrelevant, but must fail, too; so the error is attached to `end`, which is read for all.
    end = F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(F.col("end"))
    return prepared.withColumn("end", end).drop("unreadable")


def without_length(used: DataFrame, columns: EventColumns) -> DataFrame:
    """Drop the redundant `start` of prepared rows if events have no length."""
    return used if columns.have_length else used.drop("start")


def _id(query: Query) -> Column:
    if query.columns.id is not None:
        return attribute_column(query.columns.id)
    hashable = [f.name for f in query.schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
    return F.xxhash64(*(attribute_column(name) for name in hashable))


def _bit_columns(query: Query, kinds: dict[str, str]) -> list[Column]:
    """Return one bigint column for each 64 predicates; the last one is as narrow as possible."""
    compiled = query.compiled
    words: list[list[Column]] = [[F.lit(0).cast("long")] for _ in range(compiled.plan.words)]
    for bit, test in compiled.tests:
        answer = F.coalesce(_answer(test, query, kinds), F.lit(False)).cast("long")
        words[bit >> 6].append(F.shiftleft(answer, bit & 63))
    joined = [reduce(lambda a, b: a.bitwiseOR(b), word) for word in words]
    last = max((bit for bit, _ in compiled.tests), default=0) & 63
    bits = [*joined[:-1], joined[-1].cast(_narrowest(last))]
    return [word.alias(f"bits{number}") for number, word in enumerate(bits)]


def _narrowest(last: int) -> str:
    """Return the narrowest integer type with room for bits up to `last`, without using its sign bit."""
    return next((name for name, bits in (("byte", 7), ("short", 15), ("int", 31)) if last < bits), "long")


def _answer(test: BitTest | FieldTest, query: Query, kinds: dict[str, str]) -> Column:
    if isinstance(test, FieldTest):
        return holds_column(test.filter, query)
    of_type = F.lit(True) if test.type is None else belongs_column(test.type, query)
    if test.filter is None:
        return of_type
    truth = filter_column(test.filter, kinds)
    return of_type & (truth if test.truth else ~truth)


def _value(name: str, kinds: dict[str, str]) -> Column:
    """Return an attribute that kernels compare; null for a name that is only a variable of composites."""
    return attribute_column(name) if name in kinds else F.lit(None).cast("string")


def taken_fields(compiled: Compiled) -> set[str]:
    """Return the fields that conditions on whole matches use, and those that outputs take from events."""

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
    """Return a condition: whether a prepared row is relevant, by its bits."""
    masks = domain_of(compiled).tolist()
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in masks]
    words = [
        F.col(f"bits{word}").bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in enumerate(signed)
    ]
    return reduce(lambda a, b: a | b, words)


def is_relevant(query: Query) -> Column:
    """Return a condition: whether an event is relevant, on the columns of the table and not of its prepared rows.

    Spark evaluates one predicate after the other and stops at the first that holds; bits would need all of them. When
    Spark would be slow to plan that many predicates, they are looked up.
    """
    if query.compiled.plan.words > SPARK_WORDS:
        lookup = lookup_of(query)
        if not isinstance(lookup, Refusal):
            return relevant_by_lookup(lookup, query)
    masks, kinds = domain_of(query.compiled).tolist(), attribute_kinds(query)
    answers = [
        _answer(test, query, kinds) for bit, test in query.compiled.tests if masks[bit >> 6] >> (bit & 63) & 1
    ]
    return F.coalesce(reduce(lambda a, b: a | b, answers, F.lit(False)), F.lit(False))
