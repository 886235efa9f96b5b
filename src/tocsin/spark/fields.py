"""Questions of the completion family as Spark columns: true or false, never unknown (see `algebra.completion.fields`)."""

from __future__ import annotations

from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or, Unify
from tocsin.errors import InputError
from tocsin.events import Catalog, parse_timestamp
from tocsin.spark.columns import EventColumns, attribute_kinds, micros
from tocsin.spark.predicates import attribute_column, comparison_column
from tocsin.values import Relation, Value, kind

_KINDS = {"int": "number", "float": "number", "string": "string", "bool": "bool"}


def field_column(events: DataFrame, columns: EventColumns, name: str) -> Column | None:
    """A field of the events, `timestamp` in microseconds and `source` as text; None if they do not have it."""
    if name == "timestamp":
        return micros(events, columns.time[1], columns.time_unit)
    if name == "source":
        return attribute_column(columns.source).cast("string") if columns.source else None
    if name == "type":
        return type_column(events, columns)
    return attribute_column(name) if name in attribute_kinds(events) else None


def type_column(events: DataFrame, columns: EventColumns) -> Column:
    """The type of the events; the first one where an event has several."""
    if columns.type is None:
        return F.lit(columns.constant_type)
    column = attribute_column(columns.type)
    return F.element_at(column, 1) if _has_several(events, columns) else column


def belongs_column(type: str, events: DataFrame, columns: EventColumns, catalog: Catalog) -> Column:
    """Whether events are of a type, of one below it, or of one of a set; null where they have no type."""
    members = sorted(catalog.members(type))
    if columns.type is None:
        return F.lit(columns.constant_type in members)
    own = attribute_column(columns.type)
    if _has_several(events, columns):
        return F.arrays_overlap(own, F.array(*map(F.lit, members)))
    return own.isin(members)


def _has_several(events: DataFrame, columns: EventColumns) -> bool:
    return columns.type is not None and isinstance(events.schema[columns.type].dataType, T.ArrayType)


def holds_column(filter: Filter, events: DataFrame, columns: EventColumns, catalog: Catalog) -> Column:
    """Whether events satisfy a predicate."""
    match filter:
        case And(parts):
            each = (holds_column(part, events, columns, catalog) for part in parts)
            return reduce(lambda a, b: a & b, each, F.lit(True))
        case Or(parts):
            each = (holds_column(part, events, columns, catalog) for part in parts)
            return reduce(lambda a, b: a | b, each, F.lit(False))
        case Not(part):
            return ~holds_column(part, events, columns, catalog)
        case Compare(Attribute("type"), relation, Literal(value)):
            return F.coalesce(_type_compares(relation, value, events, columns, catalog), F.lit(False))
        case Compare(Attribute(name), relation, Literal(value)):
            return F.coalesce(_compares(name, relation, value, events, columns), F.lit(False))
        case Compare() | Unify():
            raise TypeError(f"{filter} needs more than one event")
        case _:
            assert_never(filter)


def _compares(
    name: str, relation: Relation, value: int | float | str | bool, events: DataFrame, columns: EventColumns
) -> Column:
    column = field_column(events, columns, name)
    if column is None:
        if name == "source":
            hint = "say source='…', the column with the device or port an event is from"
            raise InputError(
                "no-source", "where the events come from is asked for, but no column says it", hint=hint
            )
        return F.lit(False)
    own = {"timestamp": "int", "source": "string"}.get(name) or attribute_kinds(events)[name]
    if not _comparable(own, value):
        # Values of different kinds are never equal and never in order.
        return column.isNotNull() if relation is Relation.NE else F.lit(False)
    return comparison_column(column, relation, value, own)


def _comparable(own: str, value: Value) -> bool:
    """Whether values of a column can be equal to a constant, or in an order with it; a moment is written as a text."""
    if own == "timestamp":
        return isinstance(value, str) and parse_timestamp(value) is not None
    return _KINDS.get(own, own) == kind(value)


def _type_compares(
    relation: Relation, value: Value, events: DataFrame, columns: EventColumns, catalog: Catalog
) -> Column:
    """An event belongs to its type and to every type above it."""
    if not isinstance(value, str):
        return F.lit(relation is Relation.NE)
    if relation in (Relation.EQ, Relation.NE):
        belongs = belongs_column(value, events, columns, catalog)
        return belongs if relation is Relation.EQ else ~belongs
    if _has_several(events, columns):
        assert columns.type is not None
        own = attribute_column(columns.type)
        return F.exists(own, lambda one: comparison_column(one, relation, value, "string"))
    return comparison_column(type_column(events, columns), relation, value, "string")
