"""Compared values as small numbers: equal values share a number, and ranks order those of a kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tocsin.runtime.program import Array
from tocsin.values import Value, kind

Column: TypeAlias = "pa.Array | pa.ChunkedArray | list[Value]"  # a list may hold values of several kinds
_KINDS = ("bool", "number", "string")  # in the order of their names


class Values(NamedTuple):
    """Kind and rank of each value, by number, for kernels: comparable values share a kind, and ranks order them."""

    kind: Array  # int64
    rank: Array  # int64


@dataclass
class Interned:
    """The values seen so far, by number. A number stands for the same value as long as this object lives."""

    values: list[Value] = field(default_factory=list)
    _numbers: dict[tuple[str, Value], int] = field(default_factory=dict)

    def number(self, value: Value) -> int:
        """The number of a value, -1 for a missing one."""
        if value is None:
            return -1
        known = self._numbers.setdefault((kind(value), value), len(self.values))
        if known == len(self.values):
            self.values.append(value)
        return known

    def column(self, array: Column) -> Array:
        """The numbers of a column of values. In an Arrow column only distinct values are processed one by one."""
        if isinstance(array, list):
            return np.array([self.number(value) for value in array], np.int32)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if pa.types.is_null(array.type):
            return np.full(len(array), -1, np.int32)
        coded = array.dictionary_encode()
        table = np.array([self.number(value) for value in _plain(coded.dictionary)] + [-1], np.int32)
        codes: Array = coded.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)
        numbers: Array = table[codes]
        return numbers

    def arrays(self) -> Values:
        """Kinds and ranks for the kernel."""
        kinds = np.array([_KINDS.index(kind(value)) for value in self.values], np.int64)
        ranks = np.zeros(len(self.values), np.int64)
        for code in range(len(_KINDS)):
            own = [number for number, k in enumerate(kinds) if k == code]
            own.sort(key=lambda number: self.values[number])  # type: ignore[arg-type,return-value]  # one kind, so ordered
            ranks[own] = np.arange(len(own))
        return Values(kinds, ranks)


def _plain(array: pa.Array) -> Iterable[Value]:
    """The values as plain Python values; times become ISO text, decimals floats."""
    if pa.types.is_temporal(array.type):
        return [None if v is None else v.isoformat() for v in array.to_pylist()]
    if pa.types.is_decimal(array.type):
        return [None if v is None else float(v) for v in array.to_pylist()]
    return array.to_pylist()  # type: ignore[no-any-return]
