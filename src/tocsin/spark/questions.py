"""Questions about single events in the form that Arrow columns answer (see `runtime.questions`), and the columns they ask for.

What has no such form is said, and then Spark answers the questions itself (see `job`). The answers are the same.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or, Unify
from tocsin.automata.compile import BitTest, Compiled, FieldTest
from tocsin.events import Catalog, parse_timestamp
from tocsin.runtime import axes
from tocsin.runtime import questions as rq
from tocsin.runtime.build_questions import TooManyTypesError, build
from tocsin.runtime.pack import PACKED
from tocsin.runtime.program import Array, travelling
from tocsin.runtime.reading import pack_asked
from tocsin.spark.columns import EventColumns, micros, micros_of
from tocsin.spark.job import detect_packed, job_of, prepare, readable
from tocsin.spark.predicates import attribute_column
from tocsin.values import Relation, Value, compare, kind

TRUE: rq.Condition = ("and",)
FALSE: rq.Condition = ("or",)
_TYPE: rq.Operand = ("type",)
_END: rq.Operand = ("end",)
_SOURCE: rq.Operand = ("source",)


@dataclass(frozen=True, slots=True)
class NoArrowForm:
    """Why Arrow cannot do something that Spark can."""

    reason: str


class _NoArrowFormError(Exception):
    """The same on its way out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions of a plan, and for each column they ask for, what it is made of.

    `("attribute", NAME)`, `("type",)` for the type column, `("end",)` for the end of the event, `("source",)` for its source.
    """

    index: rq.Index
    columns: Mapping[str, rq.Operand]


def arrow_questions(
    compiled: Compiled, catalog: Catalog, schema: T.StructType, columns: EventColumns, time_zone: str
) -> Asked | NoArrowForm:
    """The questions of a plan about the rows of a table, or why Arrow cannot answer them.

    Args:
        time_zone: of the session, in which Spark compares times without a zone with others.
    """
    asking = _Asking(catalog, schema, columns, time_zone)
    try:
        questions = [(bit, asking.question(test)) for bit, test in compiled.tests]
        index = build(questions, asking.operands, compiled.plan.words, domain_of(compiled))
    except _NoArrowFormError as problem:
        return NoArrowForm(str(problem))
    except TooManyTypesError:
        return NoArrowForm("an event may have several types, and the patterns name too many for that")
    used = {axis.column.name for axis in index.axes}
    return Asked(
        index, {column.name: operand for operand, column in asking.operands.items() if column.name in used}
    )


def domain_of(compiled: Compiled) -> Array:
    """The bits that make some detector look at an event."""
    domains = [np.bitwise_or.reduce(detector.program.domain, axis=0) for detector in compiled.plan.detectors]
    domain: Array = np.bitwise_or.reduce([np.zeros(compiled.plan.words, np.uint64), *domains])
    return domain


def asked_columns(asked: Asked, events: DataFrame, columns: EventColumns) -> list[Column]:
    """The columns that questions ask for, out of a table, as `runtime.questions` takes them."""
    return [_spark_column(operand, events, columns).alias(name) for name, operand in asked.columns.items()]


def _spark_column(operand: rq.Operand, events: DataFrame, columns: EventColumns) -> Column:
    match operand:
        case ("attribute", str(name)):
            type = type_at(events.schema, name)
            assert type is not None
            moment = isinstance(type, T.TimestampType | T.TimestampNTZType | T.DateType)
            return micros_of(attribute_column(name), type) if moment else attribute_column(name)
        case ("end",):
            return micros(events, columns.time[1], columns.time_unit)
        case ("source",):
            assert columns.source is not None
            return attribute_column(columns.source).cast("string")
        case _:
            assert columns.type is not None
            return attribute_column(columns.type)


def type_at(schema: T.StructType, name: str) -> T.DataType | None:
    """The type of a column, or of a field inside a struct; None if there is none of this name."""
    type: T.DataType = schema
    for part in name.split("."):
        if not isinstance(type, T.StructType) or part not in type.names:
            return None
        type = type[part].dataType
    return type


def run_asked(
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    catalog: Catalog,
    carried: Sequence[str],
    unreadable: str,
    limit: int,
    wanted: Sequence[str] | None = None,
) -> DataFrame | NoArrowForm:
    """The matches in a table when there are many questions: the packing step answers them, and Spark none; or why it cannot."""
    session = events.sparkSession
    asked = arrow_questions(
        compiled, catalog, events.schema, columns, str(session.conf.get("spark.sql.session.timeZone"))
    )
    if isinstance(asked, NoArrowForm):
        return asked
    prepared = prepare(
        events, columns, compiled, catalog, carried, asked=asked_columns(asked, events, columns)
    )
    used = readable(prepared, unreadable)
    job, schema = job_of(used, events, columns, compiled, carried, limit, wanted)
    shards = int(str(session.conf.get("spark.sql.shuffle.partitions"))) if columns.key else 1
    pack = partial(pack_asked, asked.index, tuple(asked.columns), shards, job.keys)
    packed = used.mapInArrow(pack, from_arrow_schema(PACKED))
    job = job._replace(questions=pickle.dumps(asked.index, protocol=5))
    return detect_packed(packed, job, schema, shards)


class _Asking:
    """Turns the questions of a plan into conditions; `operands` gains the columns they ask for."""

    def __init__(self, catalog: Catalog, schema: T.StructType, columns: EventColumns, time_zone: str) -> None:
        self.catalog, self.schema, self.columns = catalog, schema, columns
        self.utc = time_zone in ("UTC", "Etc/UTC", "Z", "+00:00", "GMT")
        self.operands: dict[rq.Operand, axes.Column] = {}

    def question(self, test: BitTest | FieldTest) -> rq.Condition:
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
        type = self.schema[self.columns.type].dataType
        if _is_plain_text(type):
            self.operands[_TYPE] = axes.Column(travelling("ask", self.columns.type), axes.TEXT)
        elif isinstance(type, T.ArrayType) and _is_plain_text(type.elementType):
            self.operands[_TYPE] = axes.Column(travelling("ask", self.columns.type), axes.TEXTS)
        else:
            raise _NoArrowFormError(f"the types of events are {type.simpleString()}")
        return _TYPE

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
            case Compare() | Unify():
                raise TypeError(f"{filter} needs more than one event")
            case _:
                assert_never(filter)

    def _attribute(self, name: str, value: Value) -> tuple[rq.Operand, Value]:
        """The column of an attribute, and the constant it is compared with as a value of that column."""
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
                if not isinstance(type, T.TimestampType) and not self.utc:
                    raise _NoArrowFormError(f"{name!r} has no time zone, and that of the session is not UTC")
                moment = parse_timestamp(value) if isinstance(value, str) else None
                # What is no moment stays a text, which no time equals.
                own, constant = axes.WHOLE, str(value) if moment is None else moment
            case _ if type is not None and _is_plain_text(type):
                own = axes.TEXT
            case _:
                shown = "unknown" if type is None else type.simpleString()
                raise _NoArrowFormError(f"{name!r} is {shown}, and is compared with a constant")
        if isinstance(constant, float) and not math.isfinite(constant):
            raise _NoArrowFormError(f"{name!r} is compared with {constant}")
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
            case Compare() | Unify():
                raise TypeError(f"{filter} needs more than one event")
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
        operand: rq.Operand
        constant = value
        if name == "timestamp":
            operand = _END
            self.operands[_END] = axes.Column("ask:@end", axes.WHOLE)
        elif name == "source":
            if self.columns.source is None:
                raise _NoArrowFormError("no column says where events come from")
            operand = _SOURCE
            self.operands[_SOURCE] = axes.Column("ask:@source", axes.TEXT)
        elif type_at(self.schema, name) is None:
            return FALSE
        else:
            operand, constant = self._attribute(name, value)
        return ("compare", str(relation), operand, ("literal", constant))


def _is_plain_text(type: T.DataType) -> bool:
    """Whether values are texts that compare by their bytes, and have no fixed length."""
    return type == T.StringType()
