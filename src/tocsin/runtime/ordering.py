"""Sorting events by key and then in the total order: end, start, unique id."""

from __future__ import annotations

import numba as nb
import numpy as np
import pyarrow as pa

from tocsin.runtime.interning import Column
from tocsin.runtime.program import Array
from tocsin.values import kind


def encode_keys(columns: list[Column]) -> tuple[Array, list[tuple[object, ...]]]:
    """A number for each row's key, counted from 0, and the keys in the order of their numbers."""
    codes: Array | None = None
    keys: list[tuple[object, ...]] = [()]
    for column in columns:
        own, distinct = _codes(column)
        if codes is None:
            codes, keys = own, [(value,) for value in distinct]
            continue
        pairs, codes = np.unique(codes * len(distinct) + own, return_inverse=True)
        keys = [(*keys[pair // len(distinct)], distinct[pair % len(distinct)]) for pair in pairs.tolist()]
    assert codes is not None
    return codes, keys


def _codes(column: Column) -> tuple[Array, list[object]]:
    if isinstance(column, list):
        numbers: dict[tuple[str, object], int] = {}
        own = [numbers.setdefault((kind(value), value), len(numbers)) for value in column]
        return np.array(own, np.int64), [value for _, value in numbers]
    coded = column.dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary.to_pylist()


def total_order(
    codes: Array, keys: int, start: Array, end: Array, ids: pa.Array | Array | None
) -> tuple[Array, Array]:
    """The rows sorted by key and in the total order within each key, and where each key's rows begin."""
    by_end = np.argsort(end, kind="stable")
    order, offsets = _bucket(codes, keys, by_end)
    runs = _ties(order, offsets, end)
    if len(runs):
        ranks = np.arange(len(end), dtype=np.int64) if ids is None else _ranks(ids)
        for first, last in runs:
            tied = order[first:last]
            order[first:last] = tied[np.lexsort((ranks[tied], start[tied]))]
    return order, offsets


def _ranks(ids: pa.Array | Array) -> Array:
    """Numbers that order the ids."""
    if isinstance(ids, np.ndarray):
        return ids
    if pa.types.is_integer(ids.type):
        return ids.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    coded = ids.dictionary_encode()
    by_value = np.argsort(np.array(coded.dictionary.to_pylist(), dtype=object), kind="stable")
    places = np.empty(len(by_value), np.int64)
    places[by_value] = np.arange(len(by_value))
    return places[coded.indices.to_numpy(zero_copy_only=False)]  # type: ignore[no-any-return]


@nb.njit(cache=True)
def _bucket(codes, keys, by_end):  # type: ignore[no-untyped-def]
    """A stable counting sort by key."""
    offsets = np.zeros(keys + 1, np.int64)
    for code in codes:
        offsets[code + 1] += 1
    for key in range(keys):
        offsets[key + 1] += offsets[key]
    place = offsets[:-1].copy()
    order = np.empty(len(codes), np.int64)
    for row in by_end:
        order[place[codes[row]]] = row
        place[codes[row]] += 1
    return order, offsets


@nb.njit(cache=True)
def _ties(order, offsets, end):  # type: ignore[no-untyped-def]
    """Runs of rows of one key that end at the same moment."""
    runs = []
    for key in range(len(offsets) - 1):
        at = offsets[key]
        while at < offsets[key + 1]:
            stop = at + 1
            while stop < offsets[key + 1] and end[order[stop]] == end[order[at]]:
                stop += 1
            if stop - at > 1:
                runs.append((at, stop))
            at = stop
    out = np.empty((len(runs), 2), np.int64)
    for number, (first, last) in enumerate(runs):
        out[number, 0], out[number, 1] = first, last
    return out
