"""Attribute values: which are comparable, how they compare, and the three truth values of a comparison.

Booleans, numbers, texts and times are separate kinds: `1` equals neither `'1'` nor `true`. Within a kind there is one total
order, the same for every engine: numbers compare by their exact value, whatever their type; NaN equals NaN and is greater than
every other number; the two zeros are equal; texts compare character by character; false is less than true. A comparison with a
missing value is unknown (`None`), as in SQL.

`compare` defines it. Everything that is faster compares canonical values (`canonical`), ranks (`sort_key`) or bounds
(`first_whole`, `first_float`), and must agree with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

NAN = math.nan  # the one NaN that stands for all, so that Python finds it equal to itself in tuples and dicts
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CYCLE = 146_097 * 86_400_000_000  # 400 years in microseconds: then the calendar repeats itself


@dataclass(frozen=True, order=True, slots=True)
class Time:
    """A time as a value: microseconds since 1970-01-01 UTC. A date is the midnight at which it begins.

    >>> str(Time(0))
    '1970-01-01T00:00:00'
    """

    micros: int

    def __str__(self) -> str:
        return _in_any_year(self.micros)


Value = int | float | Decimal | str | bool | Time | None


class Relation(StrEnum):
    """How two values are compared."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    @property
    def opposite(self) -> Relation:
        """The relation that holds for comparable values exactly where this one does not."""
        return _OPPOSITE[self]


_OPPOSITE = {
    Relation.EQ: Relation.NE,
    Relation.NE: Relation.EQ,
    Relation.LT: Relation.GE,
    Relation.GE: Relation.LT,
    Relation.GT: Relation.LE,
    Relation.LE: Relation.GT,
}

_HOLDS: dict[Relation, Callable[[int], bool]] = {
    Relation.EQ: lambda sign: sign == 0,
    Relation.NE: lambda sign: sign != 0,
    Relation.LT: lambda sign: sign < 0,
    Relation.LE: lambda sign: sign <= 0,
    Relation.GT: lambda sign: sign > 0,
    Relation.GE: lambda sign: sign >= 0,
}


def kind(value: Value) -> str:
    """The kind of a value; only values of one kind are equal or ordered."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float | Decimal):
        return "number"
    if isinstance(value, Time):
        return "time"
    return "none" if value is None else "string"


def compare(left: Value, relation: Relation, right: Value) -> bool | None:
    """The truth of one comparison; unknown if a side is missing.

    >>> compare(1, Relation.LT, 2), compare(1, Relation.EQ, "1"), compare(None, Relation.NE, 1)
    (True, False, None)
    >>> compare(NAN, Relation.GT, math.inf), compare(2**53 + 1, Relation.EQ, 2.0**53), compare(-0.0, Relation.EQ, 0)
    (True, False, True)
    """
    if left is None or right is None:
        return None
    if kind(left) != kind(right):
        # Values of different kinds are not equal, and there is no order between them.
        return relation is Relation.NE if relation in (Relation.EQ, Relation.NE) else None
    return _HOLDS[relation](_sign(left, right))


def compare_constant(value: Value, relation: Relation, constant: Value) -> bool | None:
    """The truth of a comparison with a constant of a pattern, where times are written as texts.

    >>> compare_constant(Time(0), Relation.EQ, "1970-01-01 01:00+01:00"), compare_constant(Time(0), Relation.EQ, "soon")
    (True, False)
    """
    return compare(value, relation, read_constant(constant, isinstance(value, Time)))


def read_constant(constant: Value, among_times: bool) -> Value:
    """A constant as the value it stands for: beside a time, a text that spells a time is that time."""
    if not among_times or not isinstance(constant, str):
        return constant
    micros = parse_timestamp(constant)
    return constant if micros is None else Time(micros)


def _sign(left: Any, right: Any) -> int:
    """-1, 0 or 1: whether a value is less than, equal to or greater than another of its kind."""
    if left == right:  # exact also between int, float and Decimal
        return 0
    if left != left or right != right:  # NaN
        return int(left != left) - int(right != right)
    return -1 if left < right else 1


def canonical(value: Value) -> Value:
    """The canonical form of a value, shared by all that equal it: one zero and one NaN.

    >>> canonical(-0.0), canonical(float("nan")) is NAN, canonical(1)
    (0.0, True, 1)
    """
    if not isinstance(value, float):
        return value
    return NAN if value != value else value + 0.0


def identity(value: Value) -> tuple[str, Value]:
    """A key for dicts and sets that equal values share: kind and canonical value.

    >>> len({identity(1), identity(1.0), identity(Decimal(1)), identity(True), identity("1")})
    3
    """
    return kind(value), canonical(value)


def sort_key(value: Value) -> tuple[Any, ...]:
    """A key that sorts values as they compare: missing ones first, then by kind, then in the order of the kind.

    >>> sorted([NAN, 2, None, -math.inf, True, math.inf, "a"], key=sort_key)
    [None, True, -inf, 2, inf, nan, 'a']
    """
    if value is None:
        return (False,)
    unordered = value != value
    return True, kind(value), unordered, 0 if unordered else value


# Constants among the values of a type


def first_whole(constant: float | Decimal, *, above: bool) -> int | float:
    """The first whole number that is not less than a constant, or is above it; infinite if that is the first or none is.

    >>> first_whole(2.5, above=False), first_whole(2.0, above=True), first_whole(NAN, above=False)
    (3, 3, inf)
    """
    if not _is_finite(constant):
        return -math.inf if constant == -math.inf else math.inf
    return math.floor(constant) + 1 if above else math.ceil(constant)


def first_float(constant: float | Decimal, *, above: bool) -> float:
    """The first floating-point number that is not less than a constant, or is above it; NaN if that is above all others.

    >>> first_float(2**53 + 1, above=False) == 2.0**53 + 2, first_float(0.5, above=False)
    (True, 0.5)
    """
    if constant != constant or (above and constant == math.inf):
        return NAN
    try:
        nearest = float(constant)
    except OverflowError:
        nearest = math.inf if constant > 0 else -math.inf
    if nearest < constant or (above and nearest == constant):
        return math.nextafter(nearest, math.inf)
    return nearest


def _is_finite(constant: float | Decimal) -> bool:
    return constant.is_finite() if isinstance(constant, Decimal) else abs(constant) < math.inf


# Truth values


def like(value: Value, pattern: str) -> bool | None:
    r"""Whether a text is like a pattern of SQL; unknown for a value that is not a text.

    >>> like("pay-ok", "pay%"), like("pay-ok", "pay_"), like("100%", r"100\%"), like(None, "%")
    (True, False, True, None)
    """
    return re.fullmatch(like_expression(pattern), value) is not None if isinstance(value, str) else None


def like_expression(pattern: str) -> str:
    """The regular expression of a pattern of SQL, in the part of their syntax that all engines share."""
    signs = {"%": ".*", "_": "."}
    parts = re.findall(r"\\?.", pattern, re.DOTALL)
    return "(?s)" + "".join(signs.get(part) or re.escape(part[-1]) for part in parts)


def negate(truth: bool | None) -> bool | None:
    """Three-valued not."""
    return None if truth is None else not truth


def all_of(truths: Iterable[bool | None]) -> bool | None:
    """Three-valued and. Every item is evaluated, because evaluating one may bind a variable."""
    seen = set(truths)
    if False in seen:
        return False
    return None if None in seen else True


def any_of(truths: Iterable[bool | None]) -> bool | None:
    """Three-valued or."""
    return negate(all_of(negate(truth) for truth in truths))


# Texts


def as_text(value: Value) -> str | None:
    """A value as text, the same on every engine. Times are in UTC.

    >>> as_text(True), as_text(2.0), as_text("x"), as_text(None), as_text(Decimal("1E+3"))
    ('true', '2.0', 'x', None, '1000')
    >>> as_text(Time(0)), as_text(Time(2**62)), as_text(Time(-(2**62)))
    ('1970-01-01T00:00:00', '+148108-07-06T14:00:27.387904', '-144169-06-28T09:59:32.612096')
    """
    match value:
        case None | str():
            return value
        case bool():
            return str(value).lower()
        case Time():
            return str(value)
        case Decimal():
            return f"{value:f}"
        case _:
            return repr(value)


def parse_timestamp(text: str) -> int | None:
    """Microseconds of an ISO 8601 time, taken as UTC unless it names an offset; None if it is not one.

    >>> parse_timestamp("1970-01-01T00:00:01"), parse_timestamp("1970-01-01T01:00:00+01:00")
    (1000000, 0)
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def format_timestamp(microseconds: int) -> str:
    """The time in ISO 8601, UTC, without a zone; raises `OverflowError` outside the years 1 to 9999.

    >>> format_timestamp(1_000_000)
    '1970-01-01T00:00:01'
    """
    return (_EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=None).isoformat()


def _in_any_year(microseconds: int) -> str:
    """The time like `format_timestamp`; a year outside 1 to 9999 has a sign, as in ISO 8601."""
    cycles, rest = divmod(microseconds, _CYCLE)
    alike = _EPOCH + timedelta(microseconds=rest)  # in the years 1970 to 2369
    year = alike.year + 400 * cycles
    shown = f"{year:04d}" if 0 < year <= 9999 else f"{year:+05d}"
    return shown + alike.replace(tzinfo=None).isoformat()[4:]
