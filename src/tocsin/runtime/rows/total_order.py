"""Sorting events by key and then in the total order: end, start, the order in their source if it is known, unique id."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array

_FEW = 48  # up to this many rows are sorted by insertion; for more, a radix sort is faster
_DIGIT = 11  # bits per pass: the counts of 2048 digits stay in the first-level cache


def total_order(
    codes: Array,
    keys: int,
    start: Array,
    end: Array,
    ids: pa.Array | Array | None,
    given: pa.Array | None = None,
) -> tuple[Array, Array, bool]:
    """The rows sorted by key and in the total order within each key, where each key begins, and whether any are tied.

    Rows usually arrive in order of time, so that grouping them by key is all there is to do. `given` is a column that
    orders rows of the same time before their ids do.
    """
    order, offsets = bucket(codes, keys)
    ties = bool(_sort_by_end(order, offsets, end))
    if ties:
        places = np.flatnonzero(_tied(order, offsets, end))
        tied = order[places]
        # Ties of one run are adjacent, and runs come in the order of key and end.
        run = np.cumsum(np.concatenate([[False], _differ(codes, tied) | _differ(end, tied)]))
        within = [_ranks(ids, tied)] if given is None else [_ranks(ids, tied), _ranks(given, tied)]
        order[places] = tied[np.lexsort((*within, start[tied], run))]
    return order, offsets, ties


def places(codes: Array, keys: int, end: Array) -> tuple[Array, Array] | None:
    """The place of each row by key and in the total order, and where the rows of each key begin.

    None if keys alone do not decide: rows do not come in order of time, or some of a key may end at the same moment.
    """
    if not ascend(end) or _may_be_tied(codes, end):
        return None
    return _places(codes, keys)  # type: ignore[no-any-return]


def placed(column: pa.ChunkedArray, place: Array) -> Array:
    """The values of a column of numbers, each at its place. They are scattered, not gathered: keys are far fewer than rows."""
    out = np.empty(len(column), column.type.to_pandas_dtype())
    first = 0
    for chunk in column.chunks:
        _scatter(chunk.to_numpy(), place[first : first + len(chunk)], out)
        first += len(chunk)
    return out


def _differ(values: Array, rows: Array) -> Array:
    differ: Array = values[rows[1:]] != values[rows[:-1]]
    return differ


def _ranks(ids: pa.Array | Array | None, rows: Array) -> Array:
    """Numbers that order the ids of some rows; without ids, the rows stay in order of arrival."""
    if ids is None:
        return rows
    if isinstance(ids, np.ndarray):
        return ids[rows]
    own = ids.take(pa.array(rows))
    if pa.types.is_integer(own.type) and not own.null_count:
        return own.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    coded = own.dictionary_encode(null_encoding="encode")
    by_value = pc.sort_indices(coded.dictionary).to_numpy(zero_copy_only=False)
    places = np.empty(len(by_value), np.int64)
    places[by_value] = np.arange(len(by_value))
    return places[coded.indices.to_numpy(zero_copy_only=False)]  # type: ignore[no-any-return]


@kernel
def bucket(codes, keys):  # type: ignore[no-untyped-def]
    """A stable counting sort of small numbers: the rows in order, and where those of each number begin."""
    offsets = np.zeros(keys + 1, np.int64)
    for code in codes:
        offsets[code + 1] += 1
    for key in range(keys):
        offsets[key + 1] += offsets[key]
    place = offsets[:-1].copy()
    order = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        order[place[codes[row]]] = row
        place[codes[row]] += 1
    return order, offsets


@kernel
def _places(codes, keys):  # type: ignore[no-untyped-def]
    """The place of each row after the sort of `bucket`, and where the rows of each number begin."""
    offsets = np.zeros(keys + 1, np.int64)
    for code in codes:
        offsets[code + 1] += 1
    for key in range(keys):
        offsets[key + 1] += offsets[key]
    following = offsets[:-1].copy()
    place = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        place[row] = following[codes[row]]
        following[codes[row]] += 1
    return place, offsets


@kernel
def _scatter(values, place, out):  # type: ignore[no-untyped-def]
    for row in range(len(values)):
        out[place[row]] = values[row]


@kernel
def ascend(codes):  # type: ignore[no-untyped-def]
    """Whether the numbers never decrease."""
    for row in range(1, len(codes)):  # noqa: SIM110  (numba compiles this, and no generator)
        if codes[row] < codes[row - 1]:
            return False
    return True


@kernel
def _may_be_tied(codes, end):  # type: ignore[no-untyped-def]
    """Whether two rows of a key may have the same end, given rows in the order of their ends."""
    for row in range(1, len(end)):
        other = row - 1
        while other >= 0 and end[other] == end[row]:
            if codes[other] == codes[row] or row - other > _FEW:
                return True
            other -= 1
    return False


@kernel
def _sort_by_end(order, offsets, end):  # type: ignore[no-untyped-def]
    """Sort the rows of each key by their end, where they are not sorted yet; rows of equal end stay as they are.

    Returns whether any rows of a key have an equal end.
    """
    ties = False
    for key in range(len(offsets) - 1):
        first, last = offsets[key], offsets[key + 1]
        ascends, tie = _ascends(order, first, last, end)
        if not ascends:
            if last - first <= _FEW:
                _insert(order, first, last, end)
            else:
                _radix(order, first, last, end)
            _, tie = _ascends(order, first, last, end)
        ties |= tie
    return ties


@kernel
def _ascends(order, first, last, end):  # type: ignore[no-untyped-def]
    """Whether rows are sorted by their end, and, if they are, whether two have the same end."""
    tie = False
    if first == last:
        return True, tie
    before = end[order[first]]
    for at in range(first + 1, last):
        moment = end[order[at]]
        if moment < before:
            return False, tie
        tie |= moment == before
        before = moment
    return True, tie


@kernel
def _insert(order, first, last, end):  # type: ignore[no-untyped-def]
    for at in range(first + 1, last):
        row = order[at]
        place = at
        while place > first and end[order[place - 1]] > end[row]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = row


@kernel
def _radix(order, first, last, end):  # type: ignore[no-untyped-def]
    """Radix sort, least significant digit first; allocates four words per row of the key."""
    count = last - first
    rows, moments = order[first:last].copy(), np.empty(count, np.uint64)
    least = end[rows[0]]
    for row in rows:
        least = min(least, end[row])
    most = np.uint64(0)
    for at in range(count):
        # As unsigned words the distance is right even where it overflows a signed one.
        moments[at] = np.uint64(end[rows[at]]) - np.uint64(least)
        most = max(most, moments[at])
    other_rows, other_moments = np.empty_like(rows), np.empty_like(moments)
    shift = np.uint64(0)
    digits = np.uint64((1 << _DIGIT) - 1)
    while shift < np.uint64(64) and most >> shift:
        place = np.zeros((1 << _DIGIT) + 1, np.int64)
        for moment in moments:
            place[np.int64(moment >> shift & digits) + 1] += 1
        for digit in range(1 << _DIGIT):
            place[digit + 1] += place[digit]
        for at in range(count):
            own = np.int64(moments[at] >> shift & digits)
            other_rows[place[own]], other_moments[place[own]] = rows[at], moments[at]
            place[own] += 1
        rows, other_rows = other_rows, rows
        moments, other_moments = other_moments, moments
        shift += np.uint64(_DIGIT)
    for at in range(
        count
    ):  # a loop, because of what numba compiles with the assignment of a slice (see `growing`)
        order[first + at] = rows[at]


@kernel
def _tied(order, offsets, end):  # type: ignore[no-untyped-def]
    """Whether the row at each place ends at the same time as the row before or after it of the same key."""
    tied = np.zeros(len(order), np.bool_)
    for key in range(len(offsets) - 1):
        for at in range(offsets[key] + 1, offsets[key + 1]):
            if end[order[at]] == end[order[at - 1]]:
                tied[at - 1] = tied[at] = True
    return tied


@kernel
def same_moment(order, codes, end):  # type: ignore[no-untyped-def]
    """Whether the row at each place has the same key and the same end as the next in the order: bool (R-1,)."""
    same = np.zeros(max(0, len(order) - 1), np.bool_)
    for at in range(len(same)):
        row, other = order[at], order[at + 1]
        same[at] = end[row] == end[other] and codes[row] == codes[other]
    return same
