"""Resolve names of fields, and build the predicates of the completion family as Spark columns.

Those predicates are true or false, never unknown (see `algebra.completion.fields`).
"""

from __future__ import annotations

from functools import reduce
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or, Unify
from tocsin.errors import InputError
from tocsin.events import parse_timestamp
from tocsin.runtime.predicates.index import Operand
from tocsin.spark.events.columns import attribute_kinds, micros, type_at
from tocsin.spark.events.predicates import attribute_column, comparison_column
from tocsin.spark.query import EventColumns, Query
from tocsin.values import Relation, Value, kind

END: Operand = ("end",)  # of the event, in microseconds
SOURCE: Operand = ("source",)
TYPE: Operand = ("type",)
NOTHING: Operand = ("nothing",)  # events do not have it
_KINDS = {"int": "number", "float": "number", "string": "string", "bool": "bool"}


def operand_of(name: str, schema: T.StructType, columns: EventColumns) -> Operand:
    """Return the operand that a field name refers to: `END`, `SOURCE`, `TYPE`, `("attribute", NAME)`, or `NOTHING`."""
    if name == "timestamp":
        return END
    if name == "source":
        return SOURCE if columns.source else NOTHING
    if name == "type":
        return TYPE
    type = type_at(schema, name)
    return NOTHING if type is None or isinstance(type, T.StructType) else ("attribute", name)


def operand_type(operand: Operand, schema: T.StructType, columns: EventColumns) -> T.DataType:
    """Return the type of the column that `operand_column` returns."""
    match operand:
        case ("attribute", str(name)):
            type = type_at(schema, name)
            assert type is not None
            return type
        case ("end",):
            return T.LongType()
        case ("type",) if columns.type is not None:
            own = schema[columns.type].dataType
            return own.elementType if isinstance(own, T.ArrayType) else own
        case _:
            return T.StringType()


def operand_column(operand: Operand, query: Query) -> Column:
    """Return the column of an operand: for the type, the first one of an event; for `NOTHING`, null."""
    match operand:
        case ("attribute", str(name)):
            return attribute_column(name)
        case ("end",):
            return micros(query, query.columns.time[1], query.columns.time_unit)
        case ("source",):
            assert query.columns.source is not None
            return attribute_column(query.columns.source).cast("string")
        case ("type",):
            return type_column(query)
        case _:
            return F.lit(None).cast("string")


def field_column(name: str, query: Query) -> Column:
    """Return the column of a field by its name; null if events do not have it."""
    return operand_column(operand_of(name, query.schema, query.columns), query)


def type_column(query: Query) -> Column:
    """Return the type of the events; the first one where an event has several."""
    columns = query.columns
    if columns.type is None:
        return F.lit(columns.constant_type)
    column = attribute_column(columns.type)
    return F.element_at(column, 1) if _has_several(query) else column


def belongs_column(type: str, query: Query) -> Column:
    """Return a column: whether events are of a type, of a subtype, or of one of a set; null where they have no type."""
    members = sorted(query.catalog.members(type))
    if query.columns.type is None:
        return F.lit(query.columns.constant_type in members)
    own = attribute_column(query.columns.type)
    if _has_several(query):
        return F.arrays_overlap(own, F.array(*map(F.lit, members)))
    return own.isin(members)


def _has_several(query: Query) -> bool:
    own = query.columns.type
    return own is not None and isinstance(query.schema[own].dataType, T.ArrayType)


def holds_column(filter: Filter, query: Query) -> Column:
    """Return a column: whether events satisfy a predicate."""
    match filter:
        case And(parts):
            return reduce(lambda a, b: a & b, (holds_column(part, query) for part in parts), F.lit(True))
        case Or(parts):
            return reduce(lambda a, b: a | b, (holds_column(part, query) for part in parts), F.lit(False))
        case Not(part):
            return ~holds_column(part, query)
        case Compare(Attribute("type"), relation, Literal(value)):
            return F.coalesce(_type_compares(relation, value, query), F.lit(False))
        case Compare(Attribute(name), relation, Literal(value)):
            return F.coalesce(_compares(name, relation, value, query), F.lit(False))
        case Compare() | Unify():
            raise TypeError(f"{filter} needs more than one event")
        case _:
            assert_never(filter)


def _compares(name: str, relation: Relation, value: int | float | str | bool, query: Query) -> Column:
    operand = operand_of(name, query.schema, query.columns)
    if operand == NOTHING:
        if name == "source":
            hint = "name the column with the device or port an event is from: Columns(source='…')"
            raise InputError(
                "no-source", "a pattern asks for the source of events, but no column has it", hint=hint
            )
        return F.lit(False)
    column = operand_column(operand, query)
    own = {"timestamp": "int", "source": "string"}.get(name) or attribute_kinds(query)[name]
    if not _comparable(own, value):
        # Values of different kinds are never equal and never in order.
        return column.isNotNull() if relation is Relation.NE else F.lit(False)
    return comparison_column(column, relation, value, own)


def _comparable(own: str, value: Value) -> bool:
    """Return whether a column can be compared with a constant, for equality or order; times are written as texts."""
    if own == "timestamp":
        return isinstance(value, str) and parse_timestamp(value) is not None
    return _KINDS.get(own, own) == kind(value)


def _type_compares(relation: Relation, value: Value, query: Query) -> Column:
    """Compare the type of events; an event belongs to its type and to every supertype."""
    if not isinstance(value, str):
        return F.lit(relation is Relation.NE)
    if relation in (Relation.EQ, Relation.NE):
        belongs = belongs_column(value, query)
        return belongs if relation is Relation.EQ else ~belongs
    if _has_several(query):
        assert query.columns.type is not None
        own = attribute_column(query.columns.type)
        return F.exists(own, lambda one: comparison_column(one, relation, value, "string"))
    return comparison_column(type_column(query), relation, value, "string")
