"""Compared values as small numbers, with ranks that order those of a kind as `values.compare` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tocsin.runtime.program import Array
from tocsin.runtime.rows.microseconds import DAY, as_micros
from tocsin.values import Time, Value, canonical, kind, sort_key

Column: TypeAlias = "pa.Array | pa.ChunkedArray | list[Value]"  # a list may hold values of several kinds
_EXACT = 2**53  # up to which every whole number is a floating point number
_KINDS = ("bool", "number", "string", "time")  # in the order of their names


class Values(NamedTuple):
    """Kind and rank of each value, by number, for kernels: comparable values share a kind, and ranks order them."""

    kind: Array  # int64
    rank: Array  # int64


@dataclass
class Interned:
    """The values seen so far, by number. A number stands for the same value as long as this object lives.

    Values that are written differently have different numbers, so that what a variable was bound to does not depend on other
    rows; if they are equal, as 1 and 1.0 are, they have the same rank.
    """

    values: list[Value] = field(default_factory=list)
    _numbers: dict[tuple[type, Value], int] = field(default_factory=dict)
    _ranked: Values | None = None  # of the first values; many detectors ask for the same

    def number(self, value: Value) -> int:
        """The number of a value, -1 for a missing one."""
        if value is None:
            return -1
        value = canonical(value)
        known = self._numbers.setdefault((type(value), value), len(self.values))
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
        before = np.empty(0, np.int64) if self._ranked is None else self._ranked.kind
        if self._ranked is not None and len(before) == len(self.values):
            return self._ranked
        new = [_KINDS.index(kind(value)) for value in self.values[len(before) :]]
        kinds = np.concatenate([before, np.array(new, np.int64)])
        ranks = np.zeros(len(self.values), np.int64)
        for code in np.unique(kinds).tolist():
            own = np.flatnonzero(kinds == code)
            ranks[own] = _ranks([self.values[number] for number in own.tolist()])
        self._ranked = Values(kinds, ranks)
        return self._ranked


def _ranks(values: list[Value]) -> Array:
    """Ranks of values of one kind, none of which is written twice."""
    types = set(map(type, values))
    if types == {float} or (types == {int, float} and _all_exact(values)):
        # Sorts NaN last.
        return np.unique(np.array(values, np.float64), return_inverse=True)[1]
    ranks = np.empty(len(values), np.int64)
    if len(types) == 1:
        order = sorted(range(len(values)), key=lambda number: values[number])  # type: ignore[arg-type,return-value]
        ranks[order] = np.arange(len(values))
        return ranks
    keys = [sort_key(value) for value in values]
    order = sorted(range(len(values)), key=lambda number: keys[number])
    ranks[order] = np.cumsum([0, *(keys[a] != keys[b] for a, b in pairwise(order))])
    return ranks


def _all_exact(values: list[Value]) -> bool:
    """Whether every whole number among the values is a floating point number, too."""
    return all(-_EXACT <= value <= _EXACT for value in values if isinstance(value, int))


def _plain(array: pa.Array) -> Iterable[Value]:
    """The values as Python values; a time of day becomes ISO text, and a duration the number of its microseconds."""
    type = array.type
    if pa.types.is_date(type):
        days = array.cast(pa.date32()).cast(pa.int32()).to_pylist()
        return [None if day is None else Time(day * DAY) for day in days]
    if pa.types.is_timestamp(type):
        return [None if micros is None else Time(micros) for micros in as_micros(array).to_pylist()]
    if pa.types.is_time(type):
        return [None if v is None else v.isoformat() for v in array.to_pylist()]
    if pa.types.is_duration(type):
        return array.cast(pa.duration("us")).cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    return array.to_pylist()  # type: ignore[no-any-return]
