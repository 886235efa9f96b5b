"""Keys by number: the distinct keys of a stream as columns, so that a million of them need no Python objects."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array
from tocsin.runtime.rows.value_numbers import Column
from tocsin.values import identity

_SPREAD = 4  # whole numbers that span at most this many times their count are looked up in a table, others are hashed


class Keys(NamedTuple):
    """Distinct keys, one column per part. Without parts there is one key, the whole stream, or none yet."""

    columns: tuple[Column, ...]
    size: int

    def value(self, number: int) -> tuple[Any, ...]:
        """One key as a tuple."""
        return tuple(_item(column, number) for column in self.columns)

    def take(self, numbers: Array) -> Keys:
        """The keys with these numbers, in this order."""
        return Keys(tuple(_taken(column, numbers) for column in self.columns), len(numbers))


NO_KEYS = Keys((), 0)


def numbered(known: Keys, columns: list[Column]) -> tuple[Array, Keys]:
    """A number for each row's key, and the keys by number: first the known keys, then new ones in order of appearance."""
    if not columns:
        raise ValueError("rows without a key have no numbers")
    parts = [
        _codes(column if not known.size else _concatenated(before, column))
        for before, column in zip(known.columns or (None,) * len(columns), columns, strict=True)
    ]
    codes, distinct = parts[0]
    if len(parts) == 1:
        return codes[known.size :], Keys((distinct,), len(distinct))
    count = len(distinct)
    for own, values in parts[1:]:
        codes, count = _renumbered(codes * len(values) + own)
    firsts = np.empty(count, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes[known.size :], Keys(tuple(_taken(values, own[firsts]) for own, values in parts), count)


def key_codes(columns: list[Column]) -> tuple[Array, int]:
    """A number for each row's key, from 0 in order of appearance, and the number of keys."""
    codes, keys = numbered(NO_KEYS, columns)
    return codes, keys.size


def _renumbered(values: Array) -> tuple[Array, int]:
    coded = pa.array(values).dictionary_encode()
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(coded.dictionary)


def _codes(column: Column) -> tuple[Array, Column]:
    """A number for each value, in order of appearance, and the values by number."""
    if isinstance(column, list):
        numbers: dict[tuple[str, object], int] = {}
        own = [numbers.setdefault(identity(value), len(numbers)) for value in column]
        return np.array(own, np.int64), [value for _, value in numbers]
    plain = _plain(column)
    if pa.types.is_integer(plain.type) and not plain.null_count and len(plain):
        values = plain.to_numpy(zero_copy_only=False)
        least, most = int(values.min()), int(values.max())
        if most - least < _SPREAD * len(values) and most < 1 << 63:
            codes, firsts = _near(values.astype(np.int64, copy=False), least, most - least + 1)
            return codes, plain.take(pa.array(firsts))
    coded = plain.dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary


@kernel
def _near(values, least, size):  # type: ignore[no-untyped-def]
    """Numbers for values within `size` of the least, in order of appearance, and the row in which each appears first."""
    known = np.full(size, -1, np.int64)
    codes, firsts = np.empty(len(values), np.int64), np.empty(min(size, len(values)), np.int64)
    count = 0
    for row in range(len(values)):
        place = values[row] - least
        if known[place] < 0:
            known[place] = count
            firsts[count] = row
            count += 1
        codes[row] = known[place]
    return codes, firsts[:count].copy()


def _concatenated(before: Column, column: Column) -> Column:
    if isinstance(before, list) or isinstance(column, list):
        return [*before, *column]
    return pa.concat_arrays([_plain(before), _plain(column).cast(before.type)])


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return equal_alike(column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column)


def equal_alike(column: pa.Array) -> pa.Array:
    """The column with equal values written alike: one zero and one NaN."""
    if not pa.types.is_floating(column.type):
        return column
    numbers = column.to_numpy(zero_copy_only=False) + 0.0
    numbers[np.isnan(numbers)] = np.nan
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    return pa.array(numbers, column.type, mask=missing)


def _item(column: Column, number: int) -> Any:
    return column[number] if isinstance(column, list) else column[number].as_py()


def _taken(column: Column, numbers: Array) -> Column:
    if isinstance(column, list):
        return [column[number] for number in numbers.tolist()]
    return column.take(pa.array(numbers))
