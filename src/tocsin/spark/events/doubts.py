"""Warnings about a query that its table's columns make pointless, such as a comparison that never holds."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection, Iterable, Iterator

from pyspark.sql import types as T

from tocsin.algebra.correlation.types import DELIVERY_ATTRIBUTES
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or
from tocsin.automata.detection_plan import BitTest, Compiled, FieldTest
from tocsin.errors import TocsinWarning, did_you_mean
from tocsin.spark.events.columns import struct_kinds
from tocsin.spark.events.fields import NOTHING, never_compares, operand_of
from tocsin.spark.events.naming import known_type
from tocsin.spark.query import Query
from tocsin.spark.sent import sends
from tocsin.values import Relation

_TYPE_LIKE = (
    "type",
    "event",
    "event_type",
    "eventtype",
    "kind",
    "event_name",
    "eventname",
    "action",
    "name",
    "eventid",
)
_OWN = ("type", "timestamp", "source", *DELIVERY_ATTRIBUTES)


def doubts(query: Query) -> list[TocsinWarning]:
    """Return warnings about a query, before any event is read."""
    return [*_one_type(query), *_mismatches(query), *_unknown(query)]


def warn(found: Iterable[TocsinWarning]) -> None:
    """Show warnings as Python does; the call of the user is two functions further up."""
    for one in found:
        warnings.warn(one, stacklevel=4)


def named_types(compiled: Compiled) -> list[str]:
    """Return the types of primitive events that patterns name, in the order in which they do."""
    names: dict[str, None] = {}
    for _, test in compiled.tests:
        if isinstance(test, BitTest):
            names |= {} if test.type is None else {test.type: None}
        else:
            names |= dict.fromkeys(
                str(one.right.value)
                for one in _comparisons(test.filter)
                if one.left == Attribute("type") and isinstance(one.right, Literal)
            )
    return list(names)


def sole_type(test: BitTest | FieldTest) -> str | None:
    """Return the type that a predicate asks for, if it asks for nothing else."""
    if isinstance(test, BitTest):
        return test.type if test.filter is None else None
    match test.filter:
        case Compare(Attribute("type"), Relation.EQ, Literal(str() as type)):
            return type
        case _:
            return None


def never_occur(missing: Collection[str], there: Collection[str], columns_hint: str = "") -> TocsinWarning:
    """Return the warning about types that patterns name and no event has."""
    named = " and no event is of the type ".join(repr(name) for name in missing)
    close = [f"{near[0]!r}" for name in missing if (near := difflib.get_close_matches(name, there, 1))]
    hints = [f"did you mean {', '.join(close)}?"] if close else []
    if there:
        listed = ", ".join(repr(name) for name in sorted(there)[:12]) + (", …" if len(there) > 12 else "")
        hints.append(f"types that occur: {listed}")
    hints += [columns_hint] if columns_hint else []
    return TocsinWarning("never-occurs", f"no event is of the type {named}", "; ".join(hints) or None)


def _one_type(query: Query) -> Iterator[TocsinWarning]:
    """Warn of a table without a type column, if a pattern names another type than all of its events have."""
    columns = query.columns
    if columns.type is not None:
        return
    missing = [
        name
        for name in named_types(query.compiled)
        if columns.constant_type not in query.catalog.members(name)
    ]
    if missing:
        named = ", ".join(f"[{name}]" for name in missing)
        message = f"all events are `{columns.constant_type}`, so none is {named}"
        yield TocsinWarning("one-type", message, _type_hint(query.schema))


def _type_hint(schema: T.StructType) -> str:
    texts = [f.name for f in schema.fields if isinstance(f.dataType, T.StringType | T.IntegralType)]
    likely = [name for like in _TYPE_LIKE for name in texts if name.lower() == like]
    likely += [name for name in texts if any(like in name.lower() for like in ("type", "event", "kind"))]
    if likely:
        return f"did you mean type={likely[0]!r}?"
    return "name the column with the types of events: type='…'; columns: " + ", ".join(schema.names[:12])


def _mismatches(query: Query) -> Iterator[TocsinWarning]:
    """Warn of comparisons with a constant of another kind than the column, which never hold."""
    seen = set()
    for _, test in query.compiled.tests:
        for one in () if isinstance(test, BitTest) else _comparisons(test.filter):
            if not isinstance(one.left, Attribute) or not isinstance(one.right, Literal) or one in seen:
                continue
            seen.add(one)
            name, value = one.left.name, one.right.value
            if name != "type" and never_compares(name, value, query):
                kind = known_type(query.schema, name).simpleString()
                message = (
                    f"{name} {one.relation} {value} never holds: {name!r} is {kind}, and {value!r} is not"
                )
                hint = "write a number or true and false without quotes; a word is a text, and never another column"
                yield TocsinWarning("never-holds", message, hint)


def _unknown(query: Query) -> Iterator[TocsinWarning]:
    """Warn of attributes that events do not have, in languages that take them as missing."""
    if not sends(query.compiled):
        return
    kinds = struct_kinds(query.schema)
    for name in sorted(query.compiled.attributes - set(_OWN)):
        if operand_of(name, query.schema, query.columns) == NOTHING:
            message = f"the events have no column {name!r}, so it is missing in all of them"
            yield TocsinWarning("unknown-attribute", message, did_you_mean(name, kinds))


def _comparisons(filter: Filter | None) -> Iterator[Compare]:
    match filter:
        case Compare():
            yield filter
        case And(parts) | Or(parts):
            for part in parts:
                yield from _comparisons(part)
        case Not(part):
            yield from _comparisons(part)
