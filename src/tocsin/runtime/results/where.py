"""Conditions on whole matches, evaluated for all matches of a detector at once.

`conditions.truth` defines what a condition means, one match at a time; this module computes it over columns. Each comparison
becomes a truth value for each match, and those are combined with the three-valued and, or and not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import EQ, FALSE, GE, GT, LE, LT, NE, TRUE, UNKNOWN, Array, travelling
from tocsin.runtime.results.constituents import Leaves
from tocsin.runtime.rows.value_numbers import Interned
from tocsin.values import Relation, Value

_RELATIONS = {
    Relation.EQ: EQ,
    Relation.NE: NE,
    Relation.LT: LT,
    Relation.LE: LE,
    Relation.GT: GT,
    Relation.GE: GE,
}
_MISSING, _NAN = -1, -2  # numbers of values that have no rank


class _Operand(NamedTuple):
    """The values of an operand in each match: the numbers from `offsets[i]` to `offsets[i+1]`."""

    offsets: Array  # int64
    numbers: Array  # int64


def matches_that_hold(condition: tuple[Any, ...], events: pa.Table, leaves: Leaves) -> Array:
    """The numbers of the matches for which a condition is true."""
    interned = Interned()
    operands = {
        _name(operand): _operand(operand, events, leaves, interned) for operand in _operands(condition)
    }
    kinds, ranks = interned.arrays()
    return np.flatnonzero(_truth(condition, operands, kinds, ranks) == TRUE)


def _operands(condition: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """All operands of the comparisons in a condition."""
    if condition[0] == "compare":
        return list(condition[2:])
    return [operand for part in condition[1:] for operand in _operands(part)]


def _name(operand: tuple[Any, ...]) -> tuple[Any, ...]:
    """The identity of an operand. It includes the type, because Python treats 1 and True as equal."""
    return (*operand, type(operand[-1]))


def _operand(operand: tuple[Any, ...], events: pa.Table, leaves: Leaves, interned: Interned) -> _Operand:
    matches = len(leaves.offsets) - 1
    if operand[0] == "literal":
        return _Operand(np.arange(matches + 1), np.full(matches, _number(operand[1], interned), np.int64))
    _, role, name = operand
    named = np.array([known == role for known in leaves.names], np.bool_)
    own = named[leaves.roles] & (leaves.refs >= 0)
    values = events.column(travelling("field", name)).take(pa.array(leaves.refs[own])).combine_chunks()
    before = np.concatenate([[0], np.cumsum(own)])
    return _Operand(before[leaves.offsets], _numbers(values, interned))


def _number(value: Value, interned: Interned) -> int:
    return _NAN if isinstance(value, float) and value != value else interned.number(value)


def _numbers(values: pa.Array, interned: Interned) -> Array:
    if not pa.types.is_floating(values.type):
        return interned.column(values).astype(np.int64)
    # NaN is a value, but neither equal to nor ordered with any other.
    none = pc.is_nan(values).fill_null(False)
    numbers = interned.column(pc.if_else(none, pa.scalar(None, values.type), values)).astype(np.int64)
    numbers[none.to_numpy(zero_copy_only=False)] = _NAN
    return numbers


def _truth(
    condition: tuple[Any, ...], operands: dict[tuple[Any, ...], _Operand], kinds: Array, ranks: Array
) -> Array:
    match condition[0]:
        case "and" | "or" as joint:
            parts = np.stack([_truth(part, operands, kinds, ranks) for part in condition[1:]])
            decisive, other = (FALSE, TRUE) if joint == "and" else (TRUE, FALSE)
            joined = np.where((parts == UNKNOWN).any(axis=0), UNKNOWN, other)
            return np.where((parts == decisive).any(axis=0), decisive, joined)
        case "not":
            return np.array([TRUE, FALSE, UNKNOWN])[_truth(condition[1], operands, kinds, ranks)]
        case "compare":
            left, right = (operands[_name(operand)] for operand in condition[2:])
            return _compare(_RELATIONS[Relation(condition[1])], *left, *right, kinds, ranks)  # type: ignore[no-any-return]
        case other:
            raise TypeError(f"unknown condition {other!r}")


@kernel
def _compare(relation, left_offsets, left, right_offsets, right, kinds, ranks):  # type: ignore[no-untyped-def]
    """The truth of a comparison in each match: it must hold for every pair of values, and is unknown if there is none."""
    found = np.full(len(left_offsets) - 1, UNKNOWN, np.int64)
    for match in range(len(found)):
        first, stop = left_offsets[match], left_offsets[match + 1]
        other_first, other_stop = right_offsets[match], right_offsets[match + 1]
        if first == stop or other_first == other_stop:
            continue
        truth = TRUE
        for a in range(first, stop):
            for b in range(other_first, other_stop):
                one = _pair(relation, left[a], right[b], kinds, ranks)
                if one == FALSE:
                    truth = FALSE
                elif one == UNKNOWN and truth == TRUE:
                    truth = UNKNOWN
        found[match] = truth
    return found


@kernel
def _pair(relation, a, b, kinds, ranks):  # type: ignore[no-untyped-def]
    """One comparison; see `values.compare`."""
    if a == _MISSING or b == _MISSING:
        return UNKNOWN
    if a == _NAN or b == _NAN:
        if relation in (EQ, NE):
            return TRUE if relation == NE else FALSE
        number = kinds[max(a, b)] == 1 if max(a, b) >= 0 else True
        return FALSE if number else UNKNOWN
    if kinds[a] != kinds[b]:
        if relation in (EQ, NE):
            return TRUE if relation == NE else FALSE
        return UNKNOWN
    x, y = ranks[a], ranks[b]
    holds = (
        (relation == EQ and x == y)
        or (relation == NE and x != y)
        or (relation == LT and x < y)
        or (relation == LE and x <= y)
        or (relation == GT and x > y)
        or (relation == GE and x >= y)
    )
    return TRUE if holds else FALSE
