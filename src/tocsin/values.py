"""Attribute values: which are comparable, and the three truth values of a comparison.

Numbers, strings and booleans are separate kinds: `1` equals neither `'1'` nor `true`. A comparison with a missing value is
unknown (`None`), as in SQL.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from enum import StrEnum

Value = int | float | str | bool | None


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

_ORDERINGS = {
    Relation.LT: operator.lt,
    Relation.LE: operator.le,
    Relation.GT: operator.gt,
    Relation.GE: operator.ge,
}


def kind(value: Value) -> str:
    """The kind of a value; only values of one kind are equal or ordered."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "none" if value is None else "string"


def compare(left: Value, relation: Relation, right: Value) -> bool | None:
    """The truth of one comparison; unknown if a side is missing.

    >>> compare(1, Relation.LT, 2), compare(1, Relation.EQ, "1"), compare(None, Relation.NE, 1)
    (True, False, None)
    """
    if left is None or right is None:
        return None
    same_kind = kind(left) == kind(right)
    if relation is Relation.EQ:
        return same_kind and left == right
    if relation is Relation.NE:
        return not same_kind or left != right
    return _ORDERINGS[relation](left, right) if same_kind else None


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


def as_text(value: Value) -> str | None:
    """A value as text, the same on every engine.

    >>> as_text(True), as_text(2.0), as_text("x"), as_text(None)
    ('true', '2.0', 'x', None)
    """
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else repr(value)
