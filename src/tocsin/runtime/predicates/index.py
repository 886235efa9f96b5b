"""Evaluates all predicates of a plan by looking up values instead of evaluating one predicate after the other.

The constants that predicates compare a column with cut its values into *classes*: the constants themselves and the ranges
between them. Every predicate has the same result for all values of a class. So the classes of its columns determine a row; they
are found by search and written as the digits of a whole number, its *code*; and predicates are evaluated once for each distinct
code. The codes follow from the predicates alone: they mean the same in every task, whatever values it has seen.

A predicate is a condition as in `conditions`, with operands whose columns are passed to `build` (see also `derived`), and two
more forms:
`("among", operand, names)`, whether a type is one of these names, and `("sure", condition)`, which is false where the
condition is unknown. A column of lists (all types an event has) is among the names if one of its elements is.

Values compare as `values.compare` says: numbers by their exact value, and NaN is larger than all others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.compiling import kernel
from tocsin.runtime.predicates.value_classes import TEXT, Axis, add_classes, text_classes
from tocsin.runtime.program import Array

Condition = tuple[Any, ...]
Operand = tuple[Any, ...]
Ranges = tuple[tuple[int, int], ...]  # of class numbers, each from the first up to but not including the last

_DENSE = 1 << 22  # up to this many codes there is a table of all of them
_FEW_TEXTS = 1000  # up to this many, predicates are evaluated without checking which of them occur
_NUMBERED_TEXTS = pa.dictionary(pa.int32(), pa.string())


class Sweep(NamedTuple):
    """Which predicates the classes of an axis allow, as changes from one class to the next."""

    free: Array  # uint64 (words,): the predicates that do not use the axis
    at: Array  # int64: the class at which a bit flips, ascending
    bit: Array  # int64


class Index(NamedTuple):
    """All predicates of a plan."""

    words: int
    axes: tuple[Axis, ...]
    sweeps: tuple[Sweep, ...]  # one per axis, for predicates that test each axis on its own
    simple: Array  # uint64 (words,): the bits of those predicates
    others: tuple[tuple[int, Condition], ...]  # bit and formula of all others
    domain: Array  # uint64 (words,): the bits that make an event relevant

    @property
    def asked(self) -> Array:
        """The bits of all predicates: uint64 (words,)."""
        asked = self.simple.copy()
        for bit, _ in self.others:
            asked[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        return asked

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values that each code of a row can have."""
        sizes: dict[int, int] = {}
        for axis in self.axes:
            sizes[axis.place] = axis.radix * axis.size
        return tuple(sizes[place] for place in sorted(sizes)) or (1,)


# --- Rows to codes ---------------------------------------------------------------------------------


def numbered(index: Index, table: pa.Table) -> tuple[Array, Array]:
    """A number for each row (int32) of a table with the columns of the index, and the codes by number: int64 (U, C)."""
    texts = _few_texts(index, table)
    if texts is None:
        return distinct(index, codes(index, table))
    axis = index.axes[0]
    return texts.indices.to_numpy(), axis.radix * text_classes(axis, texts.dictionary).reshape(-1, 1)


def _few_texts(index: Index, table: pa.Table) -> pa.DictionaryArray | None:
    """The only column that predicates use, if it is a dictionary of few texts, as types in files are."""
    if len(index.axes) != 1 or index.axes[0].column.kind != TEXT:
        return None
    column = table.column(index.axes[0].column.name)
    if column.num_chunks != 1 or column.null_count or column.type != _NUMBERED_TEXTS:
        return None
    return column.chunk(0) if len(column.chunk(0).dictionary) <= _FEW_TEXTS else None


def codes(index: Index, table: pa.Table) -> Array:
    """The codes of each row: int64 (R, C)."""
    found = np.zeros((len(index.sizes), table.num_rows), np.int64)
    for axis in index.axes:
        at = 0
        for chunk in table.column(axis.column.name).chunks:
            add_classes(axis, chunk, found[axis.place, at : at + len(chunk)])
            at += len(chunk)
    return found.T


# --- Codes to signatures and bits ------------------------------------------------------------------


def distinct(index: Index, found: Array) -> tuple[Array, Array]:
    """For each row the number of its codes among the distinct ones (int32), and the distinct ones: int64 (U, C)."""
    (size, *more) = index.sizes
    if not more and size <= max(_DENSE, 4 * len(found)) and size < 2**31:
        numbers, values = _dense(np.ascontiguousarray(found[:, 0]), size)
        return numbers, values.reshape(-1, 1)
    return _hashed(np.ascontiguousarray(found))  # type: ignore[no-any-return]


def answers(index: Index, rows: Array) -> Array:
    """The predicate bits of rows of codes: uint64 (U, words)."""
    classes = _classes(index, rows)
    bits = _all_of(index.simple, *_allowed(index, classes, len(rows)))
    for bit, formula in index.others:
        bits[:, bit >> 6] |= _holds(formula, classes, len(rows)).astype(np.uint64) << np.uint64(bit & 63)
    return bits  # type: ignore[no-any-return]


def relevant(index: Index, rows: Array) -> Array:
    """Which rows of codes are relevant."""
    classes = _classes(index, rows)
    found = _meets(index.simple & index.domain, *_allowed(index, classes, len(rows)))
    for bit, formula in index.others:
        if index.domain[bit >> 6] >> np.uint64(bit & 63) & np.uint64(1):
            found |= _holds(formula, classes, len(rows))
    return found  # type: ignore[no-any-return]


@kernel
def rows_of(numbers, wanted):  # type: ignore[no-untyped-def]
    """The rows whose number is wanted, without a branch, which no processor could predict."""
    rows = np.empty(len(numbers) + 1, np.int64)
    count = 0
    for row in range(len(numbers)):
        rows[count] = row
        count += wanted[numbers[row]]
    return rows[:count].copy()


def signatures(index: Index, table: pa.Table) -> tuple[Array, Array]:
    """A number for each row (int32) of a table with `code0`, …, and the bits by number: uint64 (U, words)."""
    columns = [table.column(f"code{place}").combine_chunks() for place in range(len(index.sizes))]
    found = np.stack([c.to_numpy(zero_copy_only=False).astype(np.int64) for c in columns], axis=1)
    numbers, rows = distinct(index, found)
    return numbers, answers(index, rows)


def code_columns(index: Index, found: Array) -> dict[str, pa.Array]:
    """The codes as columns to transfer, in types no wider than needed."""
    columns = {}
    for place, size in enumerate(index.sizes):
        width = next(width for width in (8, 16, 32, 64) if size <= 1 << (width - 1))
        columns[f"code{place}"] = pa.array(found[:, place].astype(f"int{width}"))
    return columns


def _classes(index: Index, rows: Array) -> list[Array]:
    """The classes of rows of codes, for each axis."""
    return [rows[:, axis.place] // axis.radix % axis.size for axis in index.axes]


def _allowed(index: Index, classes: list[Array], rows: int) -> tuple[Array, Array]:
    """The simple predicates that each present class allows, uint64 (P, words), and the row in there for each axis: (U, A)."""
    tables, places, height = [], [], 0
    for axis, sweep, own in zip(index.axes, index.sweeps, classes, strict=True):
        present, numbers = (
            _dense_sorted(own, axis.size) if axis.size <= _DENSE else np.unique(own, return_inverse=True)
        )
        tables.append(_swept(sweep.free, sweep.at, sweep.bit, present))
        places.append(numbers + height)
        height += len(present)
    if not tables:
        return np.zeros((0, index.words), np.uint64), np.zeros((rows, 0), np.int64)
    return np.concatenate(tables), np.stack(places, axis=1)


@kernel
def _all_of(simple, tables, places):  # type: ignore[no-untyped-def]
    """The predicates that all classes of a row allow."""
    bits = np.empty((len(places), len(simple)), np.uint64)
    for row in range(len(places)):
        for word in range(len(simple)):
            left = simple[word]
            for place in places[row]:
                left &= tables[place, word]
            bits[row, word] = left
    return bits


@kernel
def _meets(wanted, tables, places):  # type: ignore[no-untyped-def]
    """Whether all classes of a row allow one of the wanted predicates."""
    found = np.zeros(len(places), np.bool_)
    for row in range(len(places)):
        for word in range(len(wanted)):
            left = wanted[word]
            for place in places[row]:
                left &= tables[place, word]
            if left:
                found[row] = True
                break
    return found


def _holds(formula: Condition, classes: list[Array], rows: int) -> Array:
    """The truth of a formula (see `build`) for the classes of some rows."""
    truth = np.zeros(rows, np.bool_)
    match formula:
        case ("in", axis, ranges):
            for first, last in ranges:
                truth |= (classes[axis] >= first) & (classes[axis] < last)
        case ("all", *parts):
            truth[:] = True
            for part in parts:
                truth &= _holds(part, classes, rows)
        case ("any", *parts):
            for part in parts:
                truth |= _holds(part, classes, rows)
        case ("not", part):
            np.logical_not(_holds(part, classes, rows), out=truth)
        case ("holds", axis, mask):
            truth |= (classes[axis] > 0) & ((classes[axis] - 1) & mask != 0)
        case ("lacks", axis, mask):
            # A missing element, of class 0, may be anything.
            truth |= (classes[axis] > 0) & ((classes[axis] - 1) & (mask | 1) == 0)
        case _:
            raise TypeError(f"unknown formula {formula!r}")
    return truth


def _dense_sorted(own: Array, size: int) -> tuple[Array, Array]:
    """The distinct numbers below `size`, ascending, and for each number its place among them."""
    there = np.zeros(size, np.bool_)
    there[own] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[own]


@kernel
def _swept(free, at, bit, present):  # type: ignore[no-untyped-def]
    """The predicates that each of some ascending classes allows: the row before it, with the changes in between."""
    table = np.empty((len(present), len(free)), np.uint64)
    row = free.copy()
    change = 0
    for number in range(len(present)):
        while change < len(at) and at[change] <= present[number]:
            row[bit[change] >> 6] ^= np.uint64(1) << np.uint64(bit[change] & 63)
            change += 1
        for word in range(len(row)):
            table[number, word] = row[word]
    return table


@kernel
def _dense(found, size):  # type: ignore[no-untyped-def]
    numbers = np.full(size, -1, np.int32)
    own = np.empty(len(found), np.int32)
    values: list[int] = []
    for row in range(len(found)):
        code = found[row]
        if numbers[code] < 0:
            numbers[code] = len(values)
            values.append(code)
        own[row] = numbers[code]
    return own, np.array(values, np.int64) if len(values) else np.empty(0, np.int64)


@kernel
def _hashed(found):  # type: ignore[no-untyped-def]
    """The distinct rows, found with a hash table."""
    rows, width = found.shape
    slots = 16
    while slots < 2 * rows:
        slots *= 2
    table = np.full(slots, -1, np.int32)
    own = np.empty(rows, np.int32)
    first = np.empty(rows, np.int64)
    count = 0
    for row in range(rows):
        mixed = np.uint64(0)
        for k in range(width):
            mixed = (mixed ^ np.uint64(found[row, k])) * np.uint64(0x9FB21C651E98DF25)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(slots - 1))
        while table[slot] >= 0:
            other = first[table[slot]]
            same = True
            for k in range(width):
                same &= found[row, k] == found[other, k]
            if same:
                break
            slot = (slot + 1) & (slots - 1)
        if table[slot] < 0:
            table[slot] = count
            first[count] = row
            count += 1
        own[row] = table[slot]
    return own, found[first[:count]]
