"""Predicates in a form that can be evaluated on Arrow columns (see `runtime.predicates.index`), and their columns.

If a predicate has no such form, the result is a `Refusal`, and Spark evaluates the predicates itself (see `prepare`),
with the same results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.functions import arrow_udf

from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Unify,
)
from tocsin.automata.detection_plan import BitTest, Compiled, FieldTest
from tocsin.events import Catalog, parse_timestamp
from tocsin.runtime.batch.looked_up_events import is_relevant
from tocsin.runtime.predicates import index as rq
from tocsin.runtime.predicates import value_classes as axes
from tocsin.runtime.predicates.build import TooManyTypesError, build
from tocsin.runtime.program import Array, travelling
from tocsin.spark.events.boolean_columns import DEEPEST, depth, leaves
from tocsin.spark.events.fields import (
    END,
    SOURCE,
    TYPE,
    operand_column,
    operand_of,
    operand_type,
    types_column,
)
from tocsin.spark.events.naming import known_type, spelled, type_at
from tocsin.spark.events.predicates import attributes_column, compared_micros, like_column
from tocsin.spark.query import EventColumns, Query, Refusal
from tocsin.values import Relation, Value, compare, kind

TRUE: rq.Condition = ("and",)
FALSE: rq.Condition = ("or",)
# What Spark is asked to evaluate at most. To plan and compile more takes longer than to look it up.
SPARK_WORDS = 1  # of bits
_SPARK_COMPARISONS = 64  # in all filters


class _NoArrowFormError(Exception):
    """A predicate cannot be evaluated on Arrow columns; becomes a `Refusal` outside this module."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The predicates of a plan, and the operand behind each column they use.

    Operands are `("attribute", NAME)`, `("type",)` for the type column, `("end",)` for the end of the event,
    `("source",)` for its source, and those of `runtime.predicates.derived`.
    """

    index: rq.Index
    columns: Mapping[str, rq.Operand]


def arrow_predicates(
    compiled: Compiled, catalog: Catalog, schema: T.StructType, columns: EventColumns
) -> Lookup | Refusal:
    """Return the predicates of a plan in Arrow form for the rows of a table, or why there is none."""
    asking = _Asking(catalog, schema, columns)
    try:
        predicates = [(bit, asking.predicate(test)) for bit, test in compiled.tests]
        index = build(predicates, asking.operands, compiled.plan.words, domain_of(compiled))
    except _NoArrowFormError as problem:
        return Refusal(str(problem))
    except TooManyTypesError:
        return Refusal("an event may have several types, and the patterns name too many for that")
    used = {axis.column.name for axis in index.axes}
    return Lookup(
        index, {column.name: operand for operand, column in asking.operands.items() if column.name in used}
    )


def are_many(compiled: Compiled) -> bool:
    """Return whether the predicates of a plan are too many, or nested too deeply, for Spark to evaluate."""
    filters = [test.filter for _, test in compiled.tests if test.filter is not None]
    return (
        compiled.plan.words > SPARK_WORDS
        or sum(1 for filter in filters for _ in leaves(filter)) > _SPARK_COMPARISONS
        or any(depth(filter) > DEEPEST for filter in filters)
    )


def domain_of(compiled: Compiled) -> Array:
    """Return the bits that make an event relevant to some detector."""
    domains = [np.bitwise_or.reduce(detector.program.domain, axis=0) for detector in compiled.plan.detectors]
    domain: Array = np.bitwise_or.reduce([np.zeros(compiled.plan.words, np.uint64), *domains])
    return domain


def lookup_of(query: Query) -> Lookup | Refusal:
    """Return the predicates of a query in Arrow form, or why there is none."""
    return arrow_predicates(query.compiled, query.catalog, query.schema, query.columns)


def lookup_if_many(query: Query) -> Lookup | Refusal:
    """Return the predicates of a query as they are looked up, or why Spark evaluates them.

    Spark evaluates a few of them: to plan and compile many takes longer than to look them up. It also evaluates
    predicates that have no Arrow form.
    """
    if not are_many(query.compiled):
        return Refusal("Spark evaluates so few predicates faster itself")
    return lookup_of(query)


def asked_columns(lookup: Lookup, query: Query) -> list[Column]:
    """Return the columns of a table that predicates use, in the form that `runtime.predicates.index` expects."""
    return [_asked_column(operand, query).alias(name) for name, operand in lookup.columns.items()]


def _asked_column(operand: rq.Operand, query: Query) -> Column:
    """Return an operand in the form in which it is looked up: all types of an event, and times as microseconds."""
    if operand == TYPE:
        return types_column(query)
    match operand:
        case ("like", name, pattern):
            return like_column(name, pattern, query.schema)
        case ("both", relation, left, right):
            return attributes_column(left, Relation(relation), right, query.schema)
    type = operand_type(operand, query.schema, query.columns)
    column = operand_column(operand, query)
    moment = isinstance(type, T.TimestampType | T.TimestampNTZType | T.DateType)
    return compared_micros(column, type) if moment else column


def relevant_by_lookup(lookup: Lookup, query: Query) -> Column:
    """Return a column: whether an event is relevant. Python workers look it up, from the columns of predicates only."""
    if not lookup.columns:
        return F.lit(bool(is_relevant(lookup.index, (), pa.nulls(1))[0].as_py()))
    index, names = lookup.index, tuple(lookup.columns)

    # Spark infers the kind of UDF from the type hints. Defined here, it takes nothing of this module along to the
    # workers.
    def find(*columns: pa.Array) -> pa.Array:
        return is_relevant(index, names, *columns)

    find_relevant = arrow_udf(find, "boolean")  # type: ignore[call-overload]
    found: Column = find_relevant(*(_asked_column(operand, query) for operand in lookup.columns.values()))
    return found


class _Asking:
    """Turns the predicates of a plan into conditions, and adds the columns they use to `operands`."""

    def __init__(self, catalog: Catalog, schema: T.StructType, columns: EventColumns) -> None:
        self.catalog, self.schema, self.columns = catalog, schema, columns
        self.operands: dict[rq.Operand, axes.Column] = {}

    def predicate(self, test: BitTest | FieldTest) -> rq.Condition:
        if isinstance(test, FieldTest):
            return self._holds(test.filter)
        parts = [] if test.type is None else [self._belongs(test.type)]
        if test.filter is not None:
            condition = self._condition(test.filter)
            parts.append(condition if test.truth else ("not", condition))
        return ("and", *parts)

    # --- Types

    def _belongs(self, name: str) -> rq.Condition:
        members = sorted(self.catalog.members(name))
        if self.columns.type is None:
            return TRUE if self.columns.constant_type in members else FALSE
        return ("among", self._type_operand(), tuple(members))

    def _type_operand(self) -> rq.Operand:
        assert self.columns.type is not None
        type = known_type(self.schema, self.columns.type)
        if _is_plain_text(type) or isinstance(type, T.IntegralType):
            self.operands[TYPE] = axes.Column(travelling("ask", self.columns.type), axes.TEXT)
        elif isinstance(type, T.ArrayType) and _is_plain_text(type.elementType):
            self.operands[TYPE] = axes.Column(travelling("ask", self.columns.type), axes.TEXTS)
        else:
            raise _NoArrowFormError(f"the types of events are {type.simpleString()}")
        return TYPE

    # --- Filters with three truth values (see `predicates`)

    def _condition(self, filter: Filter) -> rq.Condition:
        match filter:
            case And(parts):
                return ("and", *(self._condition(part) for part in parts))
            case Or(parts):
                return ("or", *(self._condition(part) for part in parts))
            case Not(part):
                return ("not", self._condition(part))
            case Compare(Attribute(name), relation, Literal(value)):
                operand, constant = self._attribute(name, value)
                own = self.operands[operand].kind
                if axes.KINDS[own] != kind(constant):
                    # Spark would convert one of the two, or fail.
                    raise _NoArrowFormError(f"{name!r} is compared with a {kind(value)}")
                return ("compare", str(relation), operand, ("literal", constant))
            case Compare(Attribute(left), relation, Attribute(right)):
                return self._both(left, relation, right)
            case IsNull(Attribute(name)):
                return ("null", self._attribute(name, None)[0])
            case Like(Attribute(name), pattern):
                if not _is_plain_text(type_at(self.schema, name)):
                    raise _NoArrowFormError(f"{name!r} is not a plain text, and is compared with LIKE")
                return self._derived(("like", spelled(self.schema, name), pattern))
            case Compare() | IsNull() | Like() | Unify():
                raise TypeError(f"{filter} needs more than one event")
            case _:
                assert_never(filter)

    def _both(self, left: str, relation: Relation, right: str) -> rq.Condition:
        types = [type_at(self.schema, name) for name in (left, right)]
        alike = types[0] == types[1] and types[0] in (T.StringType(), T.BooleanType(), T.TimestampType())
        if not (alike or all(map(_is_number, types))):
            raise _NoArrowFormError(f"{left!r} is compared with {right!r}, which has another type")
        left, right = (spelled(self.schema, name) for name in (left, right))
        return self._derived(("both", str(relation), left, right))

    def _derived(self, operand: rq.Operand) -> rq.Condition:
        """Return the condition that a column of truth values is true (see `runtime.predicates.derived`)."""
        self.operands.setdefault(operand, axes.Column(f"ask:@{len(self.operands)}", axes.BOOL))
        return ("compare", "=", operand, ("literal", True))

    def _attribute(self, name: str, value: Value) -> tuple[rq.Operand, Value]:
        """Return the column of an attribute, and the constant it is compared with, converted to the column's type."""
        type = type_at(self.schema, name)
        own: str
        constant = value
        match type:
            case T.IntegralType():
                own = axes.WHOLE
            case T.FloatType() | T.DoubleType():
                own = axes.FLOAT
            case T.BooleanType():
                own = axes.BOOL
            case T.TimestampType() | T.TimestampNTZType() | T.DateType():
                moment = parse_timestamp(value) if isinstance(value, str) else None
                # A constant that is not a time stays a text, which equals no time.
                own, constant = axes.WHOLE, str(value) if moment is None else moment
            case _ if type is not None and _is_plain_text(type):
                own = axes.TEXT
            case _:
                shown = "unknown" if type is None else type.simpleString()
                raise _NoArrowFormError(f"{name!r} is {shown}, and is compared with a constant")
        if own == axes.FLOAT and isinstance(constant, float) and not math.isfinite(constant):
            raise _NoArrowFormError(f"{name!r} is compared with {constant}")
        name = spelled(self.schema, name)
        operand = ("attribute", name)
        self.operands[operand] = axes.Column(travelling("ask", name), own)
        return operand, constant

    # --- Filters with two truth values (see `fields`)

    def _holds(self, filter: Filter) -> rq.Condition:
        match filter:
            case And(parts):
                return ("and", *(self._holds(part) for part in parts))
            case Or(parts):
                return ("or", *(self._holds(part) for part in parts))
            case Not(part):
                return ("not", self._holds(part))
            case Compare(Attribute("type"), relation, Literal(value)):
                return ("sure", self._type_compares(relation, value))
            case Compare(Attribute(name), relation, Literal(value)):
                return ("sure", self._compares(name, relation, value))
            case Compare(Attribute(left), relation, Attribute(right)):
                operands = [operand_of(name, self.schema, self.columns) for name in (left, right)]
                if any(operand[0] != "attribute" for operand in operands):
                    raise _NoArrowFormError(f"{left!r} is compared with {right!r}")
                return ("sure", self._both(left, relation, right))
            case Compare() | IsNull() | Like() | Unify():
                raise TypeError(f"{filter} does not exist in this family")
            case _:
                assert_never(filter)

    def _type_compares(self, relation: Relation, value: Value) -> rq.Condition:
        if not isinstance(value, str):
            return TRUE if relation is Relation.NE else FALSE
        if relation in (Relation.EQ, Relation.NE):
            belongs = self._belongs(value)
            return belongs if relation is Relation.EQ else ("not", belongs)
        if self.columns.type is None:
            return TRUE if compare(self.columns.constant_type, relation, value) else FALSE
        return ("compare", str(relation), self._type_operand(), ("literal", value))

    def _compares(self, name: str, relation: Relation, value: Value) -> rq.Condition:
        operand, constant = operand_of(name, self.schema, self.columns), value
        match operand:
            case ("end",):
                self.operands[END] = axes.Column("ask:@end", axes.WHOLE)
            case ("source",):
                self.operands[SOURCE] = axes.Column("ask:@source", axes.TEXT)
            case ("nothing",):
                if name == "source":
                    raise _NoArrowFormError("no column says where events come from")
                return FALSE
            case _:
                operand, constant = self._attribute(name, value)
        return ("compare", str(relation), operand, ("literal", constant))


def _is_number(type: T.DataType | None) -> bool:
    """Return whether values are numbers that Arrow compares: no decimals."""
    return isinstance(type, T.IntegralType | T.FloatType | T.DoubleType)


def _is_plain_text(type: T.DataType | None) -> bool:
    """Return whether values are strings that compare by their bytes and have no fixed length."""
    return type == T.StringType()
