"""The classes of the values of a column, given the constants that predicates compare it with; see `index`."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array

WHOLE, FLOAT, BOOL, TEXT, TEXTS = "whole", "float", "bool", "text", "texts"
KINDS = {WHOLE: "number", FLOAT: "number", BOOL: "bool", TEXT: "string", TEXTS: "string"}
_FEW = 24  # up to this many cuts, counting is faster than searching


class Column(NamedTuple):
    """The column of an operand, and the kind of its values, one of those above."""

    name: str
    kind: str


class Axis(NamedTuple):
    """How the values of a column are cut into classes. Class 0 is that of a missing value."""

    column: Column
    cuts: Array | tuple[str, ...]  # int64 or float64, where a class begins; or the texts, sorted
    ordered: bool  # whether texts between two others have a class of their own
    size: int  # the number of classes
    place: int  # the code that it is a digit of,
    radix: int  # and the weight of that digit


def add_classes(axis: Axis, column: pa.Array, into: Array) -> None:
    """Add the classes of the values of a column to the codes of its rows."""
    if axis.column.kind == TEXTS:
        into += axis.radix * _list_classes(axis, column)
        return
    if axis.column.kind != TEXT:
        cuts, values = np.asarray(axis.cuts), _plain(column, axis)
        if len(cuts) <= _FEW:
            _count(into, axis.radix, cuts, values, _valid(column))
        else:
            _search(into, axis.radix, cuts, *_grid(cuts), values, _valid(column))
        return
    if not pa.types.is_dictionary(column.type):
        if not axis.ordered:
            _lookup(into, axis.radix, np.arange(2, len(axis.cuts) + 2), *_positions(axis, column))
            return
        column = column.dictionary_encode()
    table = text_classes(axis, column.dictionary)
    indices = column.indices.fill_null(0) if column.null_count else column.indices
    _lookup(into, axis.radix, table, indices.to_numpy(zero_copy_only=False), _valid(column))


def _plain(column: pa.Array, axis: Axis) -> Array:
    """The values of a column of numbers; an arbitrary one where the value is missing."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        raise TypeError(f"{axis.column.name} must come as numbers, not as {column.type}")
    return (column.fill_null(0) if column.null_count else column).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _valid(column: pa.Array) -> Array:
    """Which values are not null; empty if all are."""
    if column.null_count == 0:
        return np.empty(0, np.bool_)
    return column.is_valid().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _grid(cuts: Array) -> tuple[float, float, Array]:
    """Cells of equal width over the cuts: where they begin, cells per unit, and how many cuts lie before each cell.

    A larger value is never in an earlier cell, rounding included; so the cuts of earlier cells are less than it, and those of
    later ones greater.
    """
    least, most = float(cuts[0]), float(cuts[-1])
    cells = 1 << (4 * len(cuts)).bit_length()
    scale = (cells - 1) / (most - least) if 0 < most - least < np.inf else 0.0
    if not 0 < scale < np.inf:
        return 0.0, 0.0, np.array([0, len(cuts)])
    own = np.clip((cuts.astype(np.float64) - least) * scale, 0, cells - 1).astype(np.int64)
    return least, scale, np.searchsorted(own, np.arange(cells + 1))


def _positions(axis: Axis, column: pa.Array) -> tuple[Array, Array]:
    """The index of each value among texts that are only compared for equality: -1 for none."""
    known = pa.array(axis.cuts, pa.string()).cast(column.type)
    found = pc.index_in(column, value_set=known).fill_null(-1)
    return found.to_numpy(zero_copy_only=False), _valid(column)


def text_classes(axis: Axis, distinct: pa.Array) -> Array:
    """The class of each of some distinct texts."""
    if not axis.ordered:
        return (
            _positions(axis, distinct)[0].astype(np.int64) + 2
            if axis.cuts
            else np.ones(len(distinct), np.int64)
        )
    # Spark compares the bytes of texts, which gives the same order as the characters in Python.
    cuts = axis.cuts
    assert isinstance(cuts, tuple)
    classes = np.zeros(len(distinct), np.int64)
    for number, text in enumerate(distinct.to_pylist()):
        if text is not None:
            place = bisect_left(cuts, text)
            classes[number] = 2 * place + (2 if place < len(cuts) and cuts[place] == text else 1)
    return classes


def _list_classes(axis: Axis, column: pa.Array) -> Array:
    """The class of each list: the classes of its elements, as bits; 0 for a missing list."""
    inner = axis._replace(column=axis.column._replace(kind=TEXT), radix=1)
    elements = column.flatten()
    own = np.zeros(len(elements), np.int64)
    add_classes(inner, elements, own)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    masks = np.zeros(len(column), np.int64)
    np.bitwise_or.at(masks, np.repeat(np.arange(len(column)), lengths), np.int64(1) << own)
    there = _valid(column)
    return np.where(there, masks + 1, 0) if len(there) else masks + 1


@kernel
def _count(into, radix, cuts, values, valid):  # type: ignore[no-untyped-def]
    """Add the class of each value, 1 + the number of cuts that are not larger, by comparing it with every cut.

    Written with `not <`, so that NaN, for which `<` is always false, ends up above everything.
    """
    block = np.empty(4096, np.int64)
    for start in range(0, len(values), len(block)):
        rows = min(len(block), len(values) - start)
        own, classes = values[start : start + rows], block[:rows]
        classes[:] = 1
        for cut in cuts:
            for row in range(rows):
                classes[row] += not (own[row] < cut)
        for row in range(rows):
            if not len(valid) or valid[start + row]:
                into[start + row] += radix * classes[row]


@kernel
def _search(into, radix, cuts, least, scale, starts, values, valid):  # type: ignore[no-untyped-def]
    """Add the class of each value like `_count`, for many cuts: a value leads to a cell of a grid with few cuts in it."""
    last = len(starts) - 2
    for row in range(len(values)):
        value = values[row]
        place = (np.float64(value) - least) * scale
        cell = np.int64(min(max(place, 0.0), np.float64(last))) if place == place else last
        low, high = starts[cell], starts[cell + 1]
        while high - low > 4:
            middle = (low + high) >> 1
            if value < cuts[middle]:
                high = middle
            else:
                low = middle + 1
        found = low
        for cut in range(low, high):
            found += not (value < cuts[cut])
        if not len(valid) or valid[row]:
            into[row] += radix * (1 + found)


@kernel
def _lookup(into, radix, table, indices, valid):  # type: ignore[no-untyped-def]
    for row in range(len(indices)):
        if not len(valid) or valid[row]:
            index = indices[row]
            into[row] += radix * (table[index] if index >= 0 else 1)
