"""Columns of truth values that predicates on Arrow columns ask for, beside the attributes themselves.

`("like", name, pattern)` is whether an attribute is like a pattern of SQL, and `("both", relation, name, name)` how two
attributes of an event compare. Both are null where the result is unknown. The index then looks them up like an attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.program import Array
from tocsin.values import Relation, like_expression

Column = Any  # a pa.Array or pa.ChunkedArray, which have no types of their own


def attributes_of(operand: tuple[Any, ...]) -> tuple[str, ...]:
    """The attributes that an operand is computed from.

    >>> attributes_of(("both", "<", "low", "high")), attributes_of(("end",))
    (('low', 'high'), ())
    """
    match operand:
        case ("attribute", name) | ("like", name, _):
            return (name,)
        case ("both", _, left, right):
            return (left, right)
        case _:
            return ()


def derived_column(operand: tuple[Any, ...], attribute: Callable[[str], Column]) -> Column | None:
    """The column of a derived operand, given those of attributes; None for any other operand."""
    match operand:
        case ("like", name, pattern):
            # Anchored like this, a final line break counts as a character.
            return pc.match_substring_regex(_plain(attribute(name)), f"\\A(?:{like_expression(pattern)})\\z")
        case ("both", relation, left, right):
            return _compared(_plain(attribute(left)), Relation(relation), _plain(attribute(right)))
        case _:
            return None


def _plain(column: Column) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _compared(left: pa.Array, relation: Relation, right: pa.Array) -> pa.Array:
    """How values of one kind compare, row by row."""
    sign = _text_sign(left, right) if _is_text(left) else _number_sign(left, right)
    holds = {
        Relation.EQ: sign == 0,
        Relation.NE: sign != 0,
        Relation.LT: sign < 0,
        Relation.LE: sign <= 0,
        Relation.GT: sign > 0,
        Relation.GE: sign >= 0,
    }[relation]
    missing = pc.or_(left.is_null(), right.is_null())
    return pc.if_else(missing, pa.scalar(None, pa.bool_()), pa.array(holds))


def _is_text(column: pa.Array) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _text_sign(left: pa.Array, right: pa.Array) -> Array:
    after, before = (
        _numpy(compare(left, right.cast(left.type)).fill_null(False)) for compare in (pc.greater, pc.less)
    )
    return after.astype(np.int8) - before.astype(np.int8)


def _number_sign(left: pa.Array, right: pa.Array) -> Array:
    """-1, 0 or 1: by the exact values; NaN equals NaN and is greater than every other number."""
    a, b = (
        _numpy(column.fill_null(False if pa.types.is_boolean(column.type) else 0)) for column in (left, right)
    )
    if a.dtype.kind == b.dtype.kind != "f":
        return (a > b).astype(np.int8) - (a < b).astype(np.int8)
    x, y = a.astype(np.float64), b.astype(np.float64)
    nans = np.isnan(x).astype(np.int8) - np.isnan(y).astype(np.int8)
    sign = (x > y).astype(np.int8) - (x < y).astype(np.int8)
    if a.dtype.kind != b.dtype.kind:
        # A large whole number may have been rounded to the other. Then both are whole, and are compared as such.
        whole, number, turn = (a, y, 1) if a.dtype.kind != "f" else (b, x, -1)
        near = np.flatnonzero(sign == 0) if not nans.any() else np.flatnonzero((sign == 0) & (nans == 0))
        above = number[near] >= 2.0**63
        exact = np.where(above, 0.0, number[near]).astype(np.int64)
        own = whole[near].astype(np.int64)
        closer = (own > exact).astype(np.int8) - (own < exact).astype(np.int8)
        sign[near] = turn * np.where(above, -1, closer)
    return np.where(nans != 0, nans, sign)


def _numpy(column: pa.Array) -> Array:
    values: Array = column.to_numpy(zero_copy_only=False)
    return values
