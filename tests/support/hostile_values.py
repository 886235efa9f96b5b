"""Values that engines like to disagree about, what comparing them gives, and tables made of them.

The expected truth is computed here on its own, from fractions and bytes, and not by `tocsin.values`. `hostile_routes` puts the
comparisons to every engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal, Not
from tocsin.values import Relation, Time, Value

DAY = 86_400_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEAR_1, YEAR_10000 = -62_135_596_800_000_000, 253_402_300_800_000_000
# The end of summer time in Berlin, 2004-10-31T01:00Z, and its begin, 2004-03-28T01:00Z.
SWITCHES = (1_099_184_400_000_000, 1_080_435_600_000_000)

COLUMNS = {
    "long": pa.int64(),
    "small": pa.int16(),
    "double": pa.float64(),
    "float": pa.float32(),
    "whole": pa.decimal128(38, 0),
    "money": pa.decimal128(38, 18),
    "text": pa.string(),
    "truth": pa.bool_(),
    "moment": pa.timestamp("us", "UTC"),
    "local": pa.timestamp("us"),
    "day": pa.date32(),
}
NUMBERS = ("long", "small", "double", "float", "whole", "money")
TIMES = ("moment", "local", "day")
DECIMALS = ("whole", "money")
KINDS = {
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(TIMES, "time"),
    "text": "string",
    "truth": "bool",
}

_LONGS = [0, 1, -1, 7, 2**24 + 1, 10**18, 2**62, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1]
_LONGS += [sign * (2**53 + d) for sign in (1, -1) for d in (-1, 0, 1, 2)]
_DOUBLES = [
    0.0,
    -0.0,
    0.1,
    -0.1,
    0.5,
    1.0,
    7.0,
    1e18,
    2.0**62,
    2.0**63,
    -(2.0**63),
    2.0**63 - 1024,
    16777216.0,
]
_DOUBLES += [
    sign * value for sign in (1, -1) for value in (2.0**53, 2.0**53 + 2, 5e-324, 1.7976931348623157e308, 1e38)
]
_STRANGE = [math.nan, math.inf, -math.inf]
_WHOLES = [*_LONGS, 10**38 - 1, -(10**38) + 1, 2**63, -(2**63) - 1, 10**37]
_MONEY = ["0", "0.1", "-0.1", "0.5", "0.100000000000000006", "0.100000000000000005", "9007199254740992.5"]
_MONEY += [
    "9007199254740993",
    "99999999999999999999.999999999999999999",
    "-99999999999999999999.999999999999999999",
]
_MONEY += ["0.000000000000000001", "-0.000000000000000001", "9223372036854775807", "7"]
_TEXTS = [
    "",
    " ",
    "a",
    "A",
    "a ",
    "a\0",
    "a\0b",
    "b",
    "ß",
    "ss",
    "ſ",
    "s",
    "K",
    "k",
    "i",
    "I",
    "İ",
    "ı",
    "é",
    "e\u0301",
]
_TEXTS += [
    "ﬁ",
    "fi",
    "Σ",
    "ς",
    "σ",
    "\uffff",
    "\U0001f600",
    "1",
    "1.0",
    "true",
    "nan",
    "2004-01-31",
    "it's",
    '"',
]
_TEXTS += ["x" * 3000, "x" * 3000 + "y", "\u00a0", "ａ", "Å", "Å"]
_MOMENTS = [0, 1, -1, DAY, YEAR_1, YEAR_1 + 1, YEAR_10000 - 1, YEAR_10000 - DAY, -12_219_292_800_000_000]
_MOMENTS += [switch + d * 1_800_000_000 for switch in SWITCHES for d in (-4, -2, -1, 0, 1, 2)]
_MOMENTS += [switch + d for switch in SWITCHES for d in (-1, 1)]
_BEYOND = [YEAR_10000, YEAR_1 - 1, 2**62, -(2**62)]
_DAYS = [
    0,
    1,
    -1,
    YEAR_1 // DAY,
    YEAR_10000 // DAY - 1,
    *(s // DAY + d for s in SWITCHES for d in (-1, 0, 1)),
]
_DAYS_BEYOND = [YEAR_10000 // DAY, YEAR_1 // DAY - 1, 200_000_000, -200_000_000]


@dataclass(frozen=True)
class Predicate:
    """A column compared with a constant, perhaps negated; `order` is the place of the constant, as `place_of` gives it."""

    column: str
    relation: Relation
    constant: int | float | str | bool
    order: tuple[Any, ...]
    negated: bool

    @property
    def filter(self) -> Filter:
        compared = Compare(Attribute(self.column), self.relation, Literal(self.constant))
        return Not(compared) if self.negated else compared

    def truth(self, held: Any) -> bool | None:
        """What comparing a value of the column must give."""
        truth = expected(place_of(self.column, held), self.relation, self.order)
        return truth if truth is None or not self.negated else not truth


def one_value(chance: Random, column: str) -> Any:
    """A value for a column: of times the microseconds, of dates the day; sometimes none."""
    if chance.random() < 0.04:
        return None
    match column:
        case "long":
            return chance.choice(_LONGS) if chance.random() < 0.9 else chance.randrange(-(2**63), 2**63)
        case "small":
            return chance.choice([0, 1, -1, 7, 2**15 - 1, -(2**15)])
        case "double":
            return chance.choice([*_DOUBLES, *_STRANGE, *_STRANGE])
        case "float":
            return float(
                np.float32(chance.choice([0.0, -0.0, 0.1, 0.5, 7.0, 16777216.0, 1e38, 2.0**63, *_STRANGE]))
            )
        case "whole":
            return Decimal(chance.choice(_WHOLES))
        case "money":
            return Decimal(chance.choice(_MONEY))
        case "text":
            return chance.choice(_TEXTS)
        case "truth":
            return chance.random() < 0.5
        case "day":
            return chance.choice([*_DAYS, *_DAYS_BEYOND])
        case _:
            return chance.choice([*_MOMENTS, *_BEYOND])


def one_predicate(chance: Random, column: str, *, written: bool = False) -> Predicate:
    """A comparison of a column with a constant of its kind; `written` for those that a text can spell."""
    relation, negated = chance.choice(list(Relation)), chance.random() < 0.3
    constant: Any
    match KINDS[column]:
        case "number":
            numbers = [*_LONGS, *_DOUBLES, *([] if written else [*_STRANGE, 2**70, -(2**70)])]
            constant = chance.choice(numbers)
            order = place_of("double" if isinstance(constant, float) else "long", constant)
        case "time":
            micros = chance.choice([*_MOMENTS, *(day * DAY for day in _DAYS)])
            constant, order = _spelled(chance, micros), place_of("moment", micros)
        case _:
            constant = chance.choice(_TEXTS) if column == "text" else chance.random() < 0.5
            order = place_of(column, constant)
    return Predicate(column, relation, constant, order, negated)


def _spelled(chance: Random, micros: int) -> str:
    """A time as text, in one of the ways in which it can be written."""
    moment = EPOCH + timedelta(microseconds=micros)
    if YEAR_1 + DAY < micros < YEAR_10000 - DAY:
        moment = moment.astimezone(timezone(timedelta(minutes=chance.choice([0, 60, 120, -330]))))
    if not moment.utcoffset() and chance.random() < 0.5:
        moment = moment.replace(tzinfo=None)
        if micros % DAY == 0 and chance.random() < 0.5:
            return moment.date().isoformat()
    return moment.isoformat(chance.choice("T "))


def place_of(column: str, held: Any) -> tuple[Any, ...]:
    """A value as its kind and its place in the order of the kind; empty for a missing one."""
    if held is None:
        return ()
    match KINDS[column]:
        case "number":
            if held != held:
                return "number", 3, 0
            if held in (math.inf, -math.inf):
                return "number", 2 if held > 0 else 0, 0
            return "number", 1, Fraction(held)
        case "time":
            return "time", held * DAY if column == "day" else held
        case "string":
            return "string", held.encode()
        case kind:
            return kind, held


def expected(left: tuple[Any, ...], relation: Relation, right: tuple[Any, ...]) -> bool | None:
    """What a comparison must give."""
    if not left or not right:
        return None
    assert left[0] == right[0]
    return {
        Relation.EQ: left == right,
        Relation.NE: left != right,
        Relation.LT: left < right,
        Relation.LE: left <= right,
        Relation.GT: left > right,
        Relation.GE: left >= right,
    }[relation]


def as_value(column: str, held: Any) -> Value:
    """A value as engines in Python get it."""
    if held is None or column not in TIMES:
        return held  # type: ignore[no-any-return]
    return Time(held * DAY if column == "day" else held)


def as_column(column: str, held: Sequence[Any]) -> pa.Array:
    """Values as a column of a table."""
    type = COLUMNS[column]
    if column in TIMES:
        return pa.array(held, pa.int32() if column == "day" else pa.int64()).cast(type)
    return pa.array(held, type)


Row = dict[str, Any]


def some_rows(chance: Random, count: int, columns: Sequence[str]) -> list[Row]:
    """Rows with a value for each column."""
    return [{column: one_value(chance, column) for column in columns} for _ in range(count)]


def some_predicates(
    chance: Random, count: int, columns: Sequence[str], *, written: bool = False
) -> list[Predicate]:
    """Different predicates on these columns."""
    found: dict[tuple[Any, ...], Predicate] = {}
    while len(found) < count:
        one = one_predicate(chance, chance.choice(columns), written=written)
        found[one.column, one.relation, one.order, one.negated] = one
    return list(found.values())


@dataclass(frozen=True)
class Pair:
    """Two columns of one kind that are compared with each other."""

    left: str
    relation: Relation
    right: str

    def truth(self, left: Row, right: Row) -> bool | None:
        """What comparing a value of one row with a value of another must give."""
        return expected(
            place_of(self.left, left[self.left]), self.relation, place_of(self.right, right[self.right])
        )


def some_pairs(chance: Random, count: int, columns: Sequence[str]) -> list[Pair]:
    """Different pairs of columns of one kind, each with all relations."""
    possible = [(a, b) for a in columns for b in columns if KINDS[a] == KINDS[b]]
    chosen = chance.sample(possible, min(len(possible), math.ceil(count / len(Relation))))
    return [Pair(left, relation, right) for left, right in chosen for relation in Relation]


def table_of(rows: Sequence[Row], columns: Sequence[str], **others: pa.Array) -> pa.Table:
    """The rows as a table, with other columns beside them."""
    return pa.table({**others, **{name: as_column(name, [row[name] for row in rows]) for name in columns}})
