"""Conditions on whole matches, evaluated for all matches of a detector at once.

`conditions.truth` defines what a condition means, one match at a time; this module computes it over columns. Each comparison
becomes a truth value for each match, and those are combined with the three-valued and, or and not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import EQ, FALSE, GE, GT, LE, LT, NE, TRUE, UNKNOWN, Array, travelling
from tocsin.runtime.results.constituents import Leaves
from tocsin.runtime.rows.value_numbers import Interned, Values
from tocsin.values import Relation, canonical, like, read_constant

_RELATIONS = {
    Relation.EQ: EQ,
    Relation.NE: NE,
    Relation.LT: LT,
    Relation.LE: LE,
    Relation.GT: GT,
    Relation.GE: GE,
}
_CODES = {True: TRUE, False: FALSE, None: UNKNOWN}


class _Operand(NamedTuple):
    """The values of an operand in each match: the numbers from `offsets[i]` to `offsets[i+1]`."""

    offsets: Array  # int64
    numbers: Array  # int64


def matches_that_hold(condition: tuple[Any, ...], events: pa.Table, leaves: Leaves) -> Array:
    """The numbers of the matches for which a condition is true."""
    interned = Interned()
    condition = _with_times(condition, events)
    operands = {
        _name(operand): _operand(operand, events, leaves, interned) for operand in operands_of(condition)
    }
    return np.flatnonzero(_truth(condition, operands, interned, interned.arrays()) == TRUE)


def _with_times(condition: tuple[Any, ...], events: pa.Table) -> tuple[Any, ...]:
    """The condition with the constants that are compared with times read as times."""
    match condition:
        case ("compare", relation, ("role", _, name) as left, ("literal", constant)):
            type = events.schema.field(travelling("field", name)).type
            among_times = pa.types.is_timestamp(type) or pa.types.is_date(type)
            return ("compare", relation, left, ("literal", read_constant(constant, among_times)))
        case ("compare", *_):
            return condition
        case (word, *parts):
            return (word, *(_with_times(part, events) for part in parts))
        case _:
            return condition


def operands_of(condition: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """All operands of the comparisons in a condition."""
    if condition[0] == "compare":
        return list(condition[2:])
    if condition[0] in ("null", "like"):
        return [condition[1]]
    return [operand for part in condition[1:] for operand in operands_of(part)]


def _name(operand: tuple[Any, ...]) -> tuple[Any, ...]:
    """The identity of an operand, which has the type too: 1, 1.0 and True are equal in Python, and NaN is not."""
    *place, last = operand
    return (*place, type(last), canonical(last))


def _operand(operand: tuple[Any, ...], events: pa.Table, leaves: Leaves, interned: Interned) -> _Operand:
    matches = len(leaves.offsets) - 1
    if operand[0] == "literal":
        return _Operand(np.arange(matches + 1), np.full(matches, interned.number(operand[1]), np.int64))
    _, role, name = operand
    named = np.array([known == role for known in leaves.names], np.bool_)
    own = named[leaves.roles] & (leaves.refs >= 0)
    values = events.column(travelling("field", name)).take(pa.array(leaves.refs[own])).combine_chunks()
    before = np.concatenate([[0], np.cumsum(own)])
    return _Operand(before[leaves.offsets], interned.column(values).astype(np.int64))


def _truth(
    condition: tuple[Any, ...], operands: dict[tuple[Any, ...], _Operand], interned: Interned, ranked: Values
) -> Array:
    match condition[0]:
        case "and" | "or" as joint:
            parts = np.stack([_truth(part, operands, interned, ranked) for part in condition[1:]])
            decisive, other = (FALSE, TRUE) if joint == "and" else (TRUE, FALSE)
            joined = np.where((parts == UNKNOWN).any(axis=0), UNKNOWN, other)
            return np.where((parts == decisive).any(axis=0), decisive, joined)
        case "not":
            return np.array([TRUE, FALSE, UNKNOWN])[_truth(condition[1], operands, interned, ranked)]
        case "compare":
            left, right = (operands[_name(operand)] for operand in condition[2:])
            return _compare(_RELATIONS[Relation(condition[1])], *left, *right, *ranked)  # type: ignore[no-any-return]
        case "null":
            own = operands[_name(condition[1])]
            return _of_all(own.offsets, np.where(own.numbers < 0, TRUE, FALSE))
        case "like":
            own = operands[_name(condition[1])]
            of_value = [_CODES[like(value, condition[2])] for value in interned.values]
            # The last is for values that are missing.
            found = np.array([*of_value, UNKNOWN], np.int64)[own.numbers]
            return _of_all(own.offsets, found)
        case other:
            raise TypeError(f"unknown condition {other!r}")


def _of_all(offsets: Array, truths: Array) -> Array:
    """The truth for all values of each match; unknown if there is none."""
    false, unknown = (
        np.diff(np.concatenate([[0], np.cumsum(truths == truth)])[offsets]) for truth in (FALSE, UNKNOWN)
    )
    found = np.where(false > 0, FALSE, np.where(unknown > 0, UNKNOWN, TRUE))
    return np.where(np.diff(offsets) == 0, UNKNOWN, found)


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
    if a < 0 or b < 0:
        return UNKNOWN
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
