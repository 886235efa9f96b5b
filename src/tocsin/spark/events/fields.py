"""Resolve names of fields, and build the predicates of the completion family as Spark columns.

Those predicates are true or false, never unknown (see `algebra.completion.fields`).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal
from tocsin.errors import InputError
from tocsin.events import parse_timestamp
from tocsin.runtime.predicates.index import Operand
from tocsin.spark.events.boolean_columns import filter_truth
from tocsin.spark.events.columns import kind_of, micros
from tocsin.spark.events.naming import column_at, known_type, spelled, type_at
from tocsin.spark.events.predicates import compared_columns, comparison_column
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
    return NOTHING if type is None or isinstance(type, T.StructType) else ("attribute", spelled(schema, name))


def operand_type(operand: Operand, schema: T.StructType, columns: EventColumns) -> T.DataType:
    """Return the type of the column that `operand_column` returns."""
    match operand:
        case ("attribute", str(name)):
            return known_type(schema, name)
        case ("end",):
            return T.LongType()
        case _:
            return T.StringType()


def operand_column(operand: Operand, query: Query) -> Column:
    """Return the column of an operand: for the type, the first one of an event; for `NOTHING`, null."""
    match operand:
        case ("attribute", str(name)):
            return column_at(query.schema, name)
        case ("end",):
            return micros(query, query.columns.time[1], query.columns.time_unit)
        case ("source",):
            assert query.columns.source is not None
            return column_at(query.schema, query.columns.source).cast("string")
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
    column = types_column(query)
    return F.try_element_at(column, F.lit(1)) if _has_several(query) else column


def types_column(query: Query) -> Column:
    """Return the type column as texts, or as arrays of texts where an event may have several types."""
    assert query.columns.type is not None
    column = column_at(query.schema, query.columns.type)
    type = known_type(query.schema, query.columns.type)
    one = type.elementType if isinstance(type, T.ArrayType) else type
    if isinstance(one, T.StringType):
        return column
    return column.cast("array<string>" if isinstance(type, T.ArrayType) else "string")


def belongs_column(type: str, query: Query) -> Column:
    """Return a column: whether events are of a type, of a subtype, or of one of a set; null where they have no type."""
    members = sorted(query.catalog.members(type))
    if query.columns.type is None:
        return F.lit(query.columns.constant_type in members)
    own = types_column(query)
    if _has_several(query):
        return F.arrays_overlap(own, F.array(*map(F.lit, members)))
    return own.isin(members)


def _has_several(query: Query) -> bool:
    own = query.columns.type
    return own is not None and isinstance(known_type(query.schema, own), T.ArrayType)


def holds_column(filter: Filter, query: Query) -> Column:
    """Return a column: whether events satisfy a predicate."""
    return filter_truth(filter, lambda leaf: _leaf_column(leaf, query))


def _leaf_column(leaf: Filter, query: Query) -> Column:
    match leaf:
        case Compare(Attribute("type"), relation, Literal(value)):
            return F.coalesce(_type_compares(relation, value, query), F.lit(False))
        case Compare(Attribute(name), relation, Literal(value)):
            return F.coalesce(_compares(name, relation, value, query), F.lit(False))
        case Compare(Attribute(left), relation, Attribute(right)):
            return F.coalesce(_fields_compare(left, relation, right, query), F.lit(False))
        case _:
            raise TypeError(f"{leaf} does not exist in this family")


def _fields_compare(left: str, relation: Relation, right: str, query: Query) -> Column:
    operands = [_operand(name, query) for name in (left, right)]
    if NOTHING in operands:
        return F.lit(False)
    types = [operand_type(operand, query.schema, query.columns) for operand in operands]
    return compared_columns([operand_column(operand, query) for operand in operands], relation, types)


def _operand(name: str, query: Query) -> Operand:
    """Return the operand of a field; refuses `source` where no column has it."""
    operand = operand_of(name, query.schema, query.columns)
    if operand == NOTHING and name == "source":
        hint = "name the column with the device or port an event is from: Columns(source='…')"
        raise InputError(
            "no-source", "a pattern asks for the source of events, but no column has it", hint=hint
        )
    return operand


def _compares(name: str, relation: Relation, value: int | float | str | bool, query: Query) -> Column:
    operand = _operand(name, query)
    if operand == NOTHING:
        return F.lit(False)
    column = operand_column(operand, query)
    own = {"timestamp": "int", "source": "string"}.get(name) or kind_of(known_type(query.schema, name))
    if not _comparable(own, value):
        # Values of different kinds are never equal and never in order.
        return column.isNotNull() if relation is Relation.NE else F.lit(False)
    return comparison_column(column, relation, value, operand_type(operand, query.schema, query.columns))


def never_compares(name: str, value: Value, query: Query) -> bool:
    """Return whether a column is of another kind than a constant, so that no comparison of the two but `!=` holds."""
    operand = operand_of(name, query.schema, query.columns)
    if operand[0] != "attribute":
        return False
    return not _comparable(kind_of(known_type(query.schema, name)), value)


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
        own = types_column(query)
        return F.exists(own, lambda one: comparison_column(one, relation, value, T.StringType()))
    return comparison_column(type_column(query), relation, value, T.StringType())
