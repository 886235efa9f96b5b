"""Build filters as Spark columns, from the parsed tree and never from text.

Values compare as `values.compare` says. Spark agrees where both sides have one type; where a constant is of another type than
the column, Spark would round one of the two, so the constant is replaced by the first value of the column's own type that is
not less (docs/decisions/0016-how-values-compare.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.predicate import Attribute, Compare, Filter, IsNull, Like, Literal
from tocsin.events import MICROSECONDS, parse_timestamp
from tocsin.runtime.rows.microseconds import LAST_DAY
from tocsin.spark.events.boolean_columns import filter_truth
from tocsin.spark.events.naming import column_at, type_at
from tocsin.values import Relation, compare, first_float, first_whole

_LEAST, _MOST = -(2**63), 2**63 - 1
_DAY = MICROSECONDS["d"]


def filter_column(filter: Filter, schema: T.StructType) -> Column:
    """Return the truth of a filter without variables; null where it is unknown."""
    return filter_truth(filter, lambda leaf: _leaf_column(leaf, schema))


def _leaf_column(leaf: Filter, schema: T.StructType) -> Column:
    match leaf:
        case Compare(Attribute(name), relation, Literal(value)):
            return comparison_column(column_at(schema, name), relation, value, type_at(schema, name))
        case Compare(Attribute(left), relation, Attribute(right)):
            return attributes_column(left, relation, right, schema)
        case IsNull(Attribute(name)):
            return column_at(schema, name).isNull()
        case Like(Attribute(name), pattern):
            return like_column(name, pattern, schema)
        case _:
            raise TypeError(f"{leaf} needs more than one event")


def comparison_column(
    column: Column, relation: Relation, value: int | float | str | bool, type: T.DataType | None
) -> Column:
    """Return the truth of one comparison with a constant; null where the column is. `type` is that of the column."""
    match type:
        case T.IntegralType() if not isinstance(value, str | bool):
            return _with_first(column, relation, value, first_whole(value, above=False))
        case T.FloatType() | T.DoubleType() if not isinstance(value, str | bool):
            return _with_float(column, relation, value)
        case T.DecimalType() if not isinstance(value, str | bool):
            return _with_decimal(column, relation, value, type)
        case T.TimestampType() | T.TimestampNTZType() | T.DateType() if isinstance(value, str):
            micros = parse_timestamp(value)
            if micros is not None:
                return _with_time(column, relation, micros, type)
        case T.StringType() if type != T.StringType() and isinstance(value, str):
            # Whatever the collation of the column, texts are compared by their characters.
            return _relation(F.collate(column, "UTF8_BINARY"), relation, F.lit(value))
        case _:
            pass
    return _relation(column, relation, F.lit(value))


def like_column(name: str, pattern: str, schema: T.StructType) -> Column:
    """Return whether an attribute is like a pattern; null where it is missing or not a text."""
    type = type_at(schema, name)
    if not isinstance(type, T.StringType):
        return F.lit(None).cast("boolean")
    return _comparable(column_at(schema, name), type).like(pattern)


def attributes_column(left: str, relation: Relation, right: str, schema: T.StructType) -> Column:
    """Return how two attributes of an event compare; null where one is."""
    names = (left, right)
    return compared_columns(
        [column_at(schema, name) for name in names], relation, [type_at(schema, name) for name in names]
    )


def compared_columns(
    columns: Sequence[Column], relation: Relation, types: Sequence[T.DataType | None]
) -> Column:
    """Return how two columns of these types compare; null where one is."""
    first, second = (_comparable(column, type) for column, type in zip(columns, types, strict=True))
    if _kind(types[0]) != _kind(types[1]):
        # Values of different kinds are not equal, and there is no order between them.
        truth = {Relation.EQ: False, Relation.NE: True}.get(relation)
        return F.when(first.isNotNull() & second.isNotNull(), F.lit(truth).cast("boolean"))
    whole = [isinstance(type, T.IntegralType) for type in types]
    fraction = [isinstance(type, T.FloatType | T.DoubleType) for type in types]
    if any(whole) and any(fraction):
        return _relation(_exact_sign(first, second, whole[0]), relation, F.lit(0))
    return _relation(first, relation, second)


def _comparable(column: Column, type: T.DataType | None) -> Column:
    """Return a column as it is compared with another: times in microseconds, texts by their characters."""
    if isinstance(type, T.TimestampType | T.TimestampNTZType | T.DateType):
        return compared_micros(column, type)
    if isinstance(type, T.StringType) and type != T.StringType():
        return F.collate(column, "UTF8_BINARY")
    return column


def _kind(type: T.DataType | None) -> str:
    match type:
        case T.NumericType():
            return "number"
        case T.StringType():
            return "string"
        case T.TimestampType() | T.TimestampNTZType() | T.DateType():
            return "time"
        case _:
            return "other" if type is None else type.simpleString()


def _exact_sign(left: Column, right: Column, left_is_whole: bool) -> Column:
    """Return -1, 0 or 1 for a whole number beside a fraction; Spark would round the whole number first."""
    a, b = left.cast("double"), right.cast("double")
    whole, other, turn = (left, right, 1) if left_is_whole else (right, left, -1)
    # Equal after rounding: then the other one is whole, or just above all whole numbers.
    own = other.try_cast("long")
    above = own.isNull() | (other >= F.lit(2.0**63)) | (whole < own)
    near = F.when(above, F.lit(-turn)).when(whole > own, F.lit(turn)).otherwise(F.lit(0))
    return F.when(a < b, F.lit(-1)).when(a > b, F.lit(1)).when(a == b, near)


def attribute_column(name: str) -> Column:
    """Return the column of an attribute; a dot selects a field of a struct."""
    return F.col(".".join(f"`{part.replace('`', '``')}`" for part in name.split(".")))


def _with_first(column: Column, relation: Relation, value: float, first: float) -> Column:
    """Compare whole numbers with a constant, given the first whole number that is not less."""
    if not _LEAST <= first <= _MOST:
        # Every whole number of 64 bits lies on one side of the constant.
        return _always(column, compare(0, relation, first))
    return _near(column, relation, F.lit(int(first)), exact=first == value)


def _with_float(column: Column, relation: Relation, value: float) -> Column:
    first = first_float(value, above=False)
    exact = first == value or first != first
    if exact and first == 0 and relation in (Relation.EQ, Relation.NE):
        # Files are searched for one of the two zeros only.
        same = (column >= F.lit(-0.0)) & (column <= F.lit(0.0))
        return same if relation is Relation.EQ else ~same
    return _near(column, relation, F.lit(first), exact=exact)


def _with_decimal(column: Column, relation: Relation, value: float, type: T.DecimalType) -> Column:
    if isinstance(value, float) and not math.isfinite(value):
        return _always(column, compare(0, relation, value))
    scaled = Fraction(value) * 10**type.scale
    first = math.ceil(scaled)
    if abs(first) >= 10**type.precision:
        return _always(column, compare(0, relation, first))
    own = F.lit(f"{Decimal(first).scaleb(-type.scale):f}").cast(type)
    return _near(column, relation, own, exact=first == scaled)


def _with_time(column: Column, relation: Relation, micros: int, type: T.DataType) -> Column:
    if isinstance(type, T.TimestampType):
        return _relation(column, relation, F.timestamp_micros(F.lit(micros)))
    if isinstance(type, T.DateType):
        first = -(-micros // _DAY)
        return _near(F.unix_date(column), relation, F.lit(first), exact=first * _DAY == micros)
    return _relation(compared_micros(column, type), relation, F.lit(micros))


def compared_micros(column: Column, type: T.DataType) -> Column:
    """Return times as the microseconds that are compared.

    Dates and times without a zone are compared as they are written, as if in UTC, whatever the zone of the session. A date that
    is too far away for that becomes the last that is not.
    """
    if isinstance(type, T.TimestampType):
        return F.unix_micros(column)
    if isinstance(type, T.DateType):
        days = F.unix_date(column).cast("long")
        near = F.when(days.between(-LAST_DAY, LAST_DAY), days).otherwise(
            F.signum(days).cast("long") * LAST_DAY
        )
        return near * F.lit(_DAY)
    return F.timestamp_diff("MICROSECOND", F.lit("1970-01-01").cast("timestamp_ntz"), column)


def _near(column: Column, relation: Relation, first: Column, *, exact: bool) -> Column:
    """Compare a column with a constant, given the first value of the column's type that is not less.

    Args:
        exact: whether that value is the constant itself.
    """
    if exact:
        return _relation(column, relation, first)
    match relation:
        case Relation.EQ | Relation.NE:
            return _always(column, relation is Relation.NE)
        case Relation.LT | Relation.LE:
            return column < first
        case Relation.GT | Relation.GE:
            return column >= first
        case _:
            assert_never(relation)


def _always(column: Column, truth: bool | None) -> Column:
    """Return the same truth for all values of a column; null where the column is."""
    return F.when(column.isNotNull(), F.lit(truth))


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
