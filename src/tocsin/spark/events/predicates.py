"""Build filters as Spark columns, from the parsed tree and never from text."""

from __future__ import annotations

from functools import reduce
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or, Unify
from tocsin.events import parse_timestamp
from tocsin.values import Relation


def filter_column(filter: Filter, kinds: dict[str, str]) -> Column:
    """Return the truth of a filter without variables; null where it is unknown. `kinds` are those of the attributes."""
    match filter:
        case And(parts):
            return reduce(lambda a, b: a & b, (filter_column(part, kinds) for part in parts))
        case Or(parts):
            return reduce(lambda a, b: a | b, (filter_column(part, kinds) for part in parts))
        case Not(part):
            return ~filter_column(part, kinds)
        case Compare(Attribute(name), relation, Literal(value)):
            return comparison_column(attribute_column(name), relation, value, kinds.get(name))
        case Compare() | Unify():
            raise TypeError(f"{filter} needs more than one event")
        case _:
            assert_never(filter)


def comparison_column(
    column: Column, relation: Relation, value: int | float | str | bool, kind: str | None
) -> Column:
    """Return the truth of one comparison with a constant; null where the column is. `kind` is that of the column."""
    return _relation(column, relation, _literal(value, kind))


def attribute_column(name: str) -> Column:
    """Return the column of an attribute; a dot selects a field of a struct."""
    return F.col(".".join(f"`{part.replace('`', '``')}`" for part in name.split(".")))


def _literal(value: int | float | str | bool, kind: str | None) -> Column:
    if kind == "timestamp" and isinstance(value, str):
        moment = parse_timestamp(value)
        if moment is not None:
            return F.timestamp_micros(F.lit(moment))
    return F.lit(value)


def _relation(left: Column, relation: Relation, right: Column) -> Column:
    match relation:
        case Relation.EQ:
            return left == right
        case Relation.NE:
            return left != right
        case Relation.LT:
            return left < right
        case Relation.LE:
            return left <= right
        case Relation.GT:
            return left > right
        case Relation.GE:
            return left >= right
        case _:
            assert_never(relation)
