"""Hashes of values: 128 bits that are the same in every process, on every engine and for every cut of the input.

A value becomes two words of 64 bits, its *lanes*. Whole numbers are mixed as they are; text is read eight bytes at a time;
everything else is the text that Arrow makes of it. Kinds are kept apart, so the number 1, the text `1` and true differ, but
widths are not: 1 is 1 in eight bits and in sixty-four. A sequence folds in its members one after the other, so that their
order and number matter.

The steps are multiplications by odd constants, shifts and rotations, each of which is invertible: two sequences that differ
in one whole number never collide in a lane, and otherwise collide with a probability of 2**-64 per lane; the lanes are mixed
with different constants. Two values with equal lanes can be constructed on purpose; the hashes are ids, not signatures.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array

LANES = 2
DIGITS = 32
_NUMBER, _TEXT, _TRUTH, _FRACTION, _MISSING, _TIMER, _COPY = range(1, 8)  # tags that keep the kinds apart

_C0 = np.uint64(0xD6E8FEB86659FD93)
_C1 = np.uint64(0xA0761D6478BD642F)
_C2 = np.uint64(0xE7037ED1A0B428DB)
_STEP = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, which keeps multiples apart
_HALF = np.uint64(32)
_EIGHT = np.uint64(8)


@kernel
def _stir(word):  # type: ignore[no-untyped-def]
    """Spread every bit of a word over the whole of it, injectively."""
    word ^= word >> _HALF
    word *= _C0
    word ^= word >> np.uint64(29)
    word *= _C1
    word ^= word >> _HALF
    return word


@kernel
def _fold(lanes, at, first, second):  # type: ignore[no-untyped-def]
    """Fold two more words into the lanes of a row."""
    a, b = lanes[at, 0], lanes[at, 1]
    a = _stir(a ^ first) * _C2 + _STEP
    b = _stir(b + second * _C0)
    lanes[at, 0] = a
    lanes[at, 1] = (b << np.uint64(23) | b >> np.uint64(41)) ^ _C1


@kernel
def _hash_words(words, tag):  # type: ignore[no-untyped-def]
    lanes = np.empty((len(words), LANES), np.uint64)
    for row in range(len(words)):
        lanes[row, 0] = lanes[row, 1] = np.uint64(tag) * _STEP
        _fold(lanes, row, words[row], words[row])
    return lanes


@kernel
def _hash_texts(data, offsets, tag):  # type: ignore[no-untyped-def]
    """The lanes of each text. data: uint8 with the bytes of all texts; offsets: int64 (texts+1,)."""
    lanes = np.empty((len(offsets) - 1, LANES), np.uint64)
    for row in range(len(lanes)):
        at, stop = offsets[row], offsets[row + 1]
        lanes[row, 0] = lanes[row, 1] = np.uint64(tag) * _STEP + np.uint64(stop - at)
        while at < stop:
            word = np.uint64(0)
            last = min(at + 8, stop)
            for place in range(last - 1, at - 1, -1):
                word = word << _EIGHT | np.uint64(data[place])
            _fold(lanes, row, word, word)
            at = last
    return lanes


@kernel
def _hash_sequences(prefixes, prefix, keys, key, offsets, members):  # type: ignore[no-untyped-def]
    """Lanes of one prefix, one key and several members for each sequence, as hexadecimal digits: uint8 (sequences, 32)."""
    digits = np.empty((len(key), DIGITS), np.uint8)
    lanes = np.empty((1, LANES), np.uint64)
    for row in range(len(key)):
        lanes[0, 0], lanes[0, 1] = prefixes[prefix[row], 0], prefixes[prefix[row], 1]
        _fold(lanes, 0, keys[key[row], 0], keys[key[row], 1])
        for at in range(offsets[row], offsets[row + 1]):
            _fold(lanes, 0, members[at, 0], members[at, 1])
        length = np.uint64(offsets[row + 1] - offsets[row])
        _fold(lanes, 0, length, length)
        for lane in range(LANES):
            # The final value of a lane depends on the other one too, so that all 128 bits depend on everything.
            word = _stir(lanes[0, lane] ^ _stir(lanes[0, 1 - lane] + np.uint64(lane) * _STEP))
            for place in range(16):
                digit = np.uint8(word >> np.uint64(60 - 4 * place) & np.uint64(15))
                digits[row, 16 * lane + place] = digit + (48 if digit < 10 else 87)
    return digits


@kernel
def _fold_some(lanes, rows, words):  # type: ignore[no-untyped-def]
    """Fold one more word into the lanes of some rows."""
    for at in range(len(rows)):
        _fold(lanes, rows[at], words[at], words[at])


@kernel
def _fold_all(lanes, others):  # type: ignore[no-untyped-def]
    """Fold the lanes of another column into those of each row."""
    for row in range(len(lanes)):
        _fold(lanes, row, others[row, 0], others[row, 1])


def match_ids(
    prefixes: list[str], prefix: Array, keys: Array, key: Array, offsets: Array, members: Array
) -> pa.Array:
    """The ids of matches, as 32 hexadecimal digits.

    Args:
        prefixes: the fingerprints of what is found; `prefix` gives the index for each match.
        keys: the lanes of keys (see `hash_rows`); `key` gives the index for each match.
        members: the lanes of the events and timers of matches (see `hash_members`), from `offsets[i]` to `offsets[i+1]`.
    """
    words = b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in prefixes)
    lanes = np.frombuffer(words, "<u8").reshape(-1, LANES).astype(np.uint64)
    digits = _hash_sequences(lanes, prefix, keys, key, offsets, members)
    places = np.arange(0, DIGITS * len(digits) + 1, DIGITS, dtype=np.int32)
    return pa.StringArray.from_buffers(len(digits), pa.py_buffer(places), pa.py_buffer(digits))


def hash_rows(columns: list[pa.Array], rows: int) -> Array:
    """The lanes of rows of several columns; without columns, those of the empty row."""
    lanes = _no_lanes(rows)
    for column in columns:
        _fold_all(lanes, hash_values(column))
    return lanes


def hash_members(ids: pa.Array, copies: Array | None, timers: Array, names: pa.Array, times: Array) -> Array:
    """The lanes of events and timers.

    Args:
        ids: the ids of the events, null for timers.
        copies: the copy number of each event among equal ones, from 0; None if no events are equal.
        timers: the positions of the timers, with their `names` and the `times` at which they ran out.
    """
    lanes = hash_values(ids)
    if copies is not None:
        rows = np.flatnonzero(copies)
        _fold_some(lanes, rows, copies[rows].astype(np.uint64) * np.uint64(_COPY))
    if len(timers):
        lanes[timers] = hash_values(names) ^ np.uint64(_TIMER)
        _fold_some(lanes, timers, times.view(np.uint64))
    return lanes


def fold_paths(members: Array, paths: pa.Array) -> None:
    """Fold in the positions of members that belong to nested composites: the same events can be grouped in several ways.

    >>> members = np.ones((3, LANES), np.uint64)
    >>> fold_paths(members, pa.array([[1], [2, 1], [2, 2]], pa.list_(pa.int32())))
    >>> len({tuple(lanes) for lanes in members.tolist()})
    3
    """
    inside = np.flatnonzero(paths.value_lengths().to_numpy() > 1)
    if len(inside):
        _fold_some(members, inside, hash_values(paths.take(pa.array(inside)))[:, 0].copy())


def hash_values(values: pa.Array) -> Array:
    """The lanes of each value of a column: uint64 (values, 2).

    >>> small, wide = pa.array([1, 2], pa.int8()), pa.array([1, 2], pa.int64())
    >>> bool((hash_values(small) == hash_values(wide)).all()), bool((hash_values(small)[0] == hash_values(small)[1]).any())
    (True, False)
    """
    if pa.types.is_dictionary(values.type):
        places = values.indices.fill_null(0).to_numpy(zero_copy_only=False)
        lanes = hash_values(values.dictionary)[places] if len(values.dictionary) else _no_lanes(len(values))
    else:
        lanes = _hash_plain(values)
    if values.null_count:
        lanes[values.is_null().to_numpy(zero_copy_only=False)] = np.uint64(_MISSING)
    return lanes


def _hash_plain(values: pa.Array) -> Array:
    type = values.type
    if pa.types.is_boolean(type):
        return _hash_words(values.cast(pa.uint8()).fill_null(0).to_numpy().astype(np.uint64), _TRUTH)  # type: ignore[no-any-return]
    if pa.types.is_integer(type):
        wide = values.cast(pa.uint64() if type == pa.uint64() else pa.int64()).fill_null(0)
        return _hash_words(wide.to_numpy(zero_copy_only=False).view(np.uint64), _NUMBER)  # type: ignore[no-any-return]
    if pa.types.is_floating(type):
        # Adding zero makes the two zeros equal; one NaN stands for all.
        numbers = values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return _hash_words(numbers.view(np.uint64), _FRACTION)  # type: ignore[no-any-return]
    if pa.types.is_null(type):
        return _no_lanes(len(values))
    return _hash_texts(*_bytes_of(_as_bytes(values)), _TEXT)  # type: ignore[no-any-return]


def _no_lanes(rows: int) -> Array:
    return np.zeros((rows, LANES), np.uint64)


def _as_bytes(values: pa.Array) -> pa.Array:
    """Text as bytes; other types are converted to text first."""
    if pa.types.is_nested(values.type):
        values = pa.array([repr(value) for value in values.to_pylist()], pa.string())
    elif not (_is_text(values.type) or _is_bytes(values.type)):
        values = values.cast(pa.string())
    return values.cast(pa.large_binary())


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type))


def _is_bytes(type: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(type) or pa.types.is_large_binary(type) or pa.types.is_fixed_size_binary(type)
    )


def _bytes_of(values: pa.Array) -> tuple[Array, Array]:
    """The bytes of a large_binary column, and the offset of each value."""
    _, offsets, data = values.buffers()
    if not len(values):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    own = np.frombuffer(offsets, np.int64, len(values) + 1, values.offset * 8)
    return (np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)), own
