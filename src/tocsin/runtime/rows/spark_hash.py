"""The hash of a row, equal to that of Spark's function `xxhash64`, so that an event has the same id whoever reads it.

XXH64 of the first column with the seed 42, then of each next column with the hash so far as the seed. A missing value
leaves the hash as it is. Whole numbers of up to 32 bits, truth values and dates are hashed as 4 bytes; larger numbers,
times and decimals of up to 18 digits as 8 bytes; texts and bytes as they are. Structs and lists are hashed by what is in them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.compiling import inlined, kernel
from tocsin.runtime.program import Array

_SEED = np.uint64(42)
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_LONG_DIGITS = 18  # decimals of more digits do not fit a long
_NONE = np.empty(0, np.bool_)
_EVERY = np.empty(0, np.int64)


def is_hashable(type: pa.DataType) -> bool:
    """Whether `row_hash` supports columns of a type."""
    if pa.types.is_struct(type):
        return all(is_hashable(field.type) for field in type)
    if pa.types.is_list(type):
        return not pa.types.is_nested(type.value_type) and is_hashable(type.value_type)
    return bool(
        pa.types.is_signed_integer(type)
        or pa.types.is_float32(type)
        or pa.types.is_float64(type)
        or pa.types.is_boolean(type)
        or pa.types.is_date32(type)
        or type == pa.timestamp("us", getattr(type, "tz", None))
        or pa.types.is_string(type)
        or pa.types.is_binary(type)
        or (pa.types.is_decimal128(type) and type.precision <= _LONG_DIGITS)
        or (pa.types.is_dictionary(type) and pa.types.is_string(type.value_type))
    )


def row_hash(columns: list[pa.Array], rows: int, first: int | None = None) -> Array:
    """The hash of each row, int64. `first`, if given, is a whole number that is hashed before the columns."""
    hashes = np.full(rows, _SEED, np.uint64)
    if first is not None:
        _hash_ints(hashes, np.full(rows, first, np.int64), _NONE, _EVERY)
    for column in columns:
        _add(hashes, column, _EVERY)
    return hashes.view(np.int64)


def _add(hashes: Array, column: pa.Array, rows: Array) -> None:
    """Hash a column into the rows; element `i` belongs to row `rows[i]`, or to row `i` if `rows` is empty."""
    type = column.type
    if pa.types.is_struct(type):
        for field in column.flatten():
            _add(hashes, field, rows)
        return
    if pa.types.is_list(type):
        # The elements of a missing list are not among those of `flatten`.
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        owners = np.arange(len(column), dtype=np.int64) if not len(rows) else rows
        inside = column.flatten()
        if len(inside):
            _add(hashes, inside, np.repeat(owners, lengths))
        return
    if pa.types.is_dictionary(type):
        column = column.cast(type.value_type)
        type = column.type
    valid = _NONE if column.null_count == 0 else column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_string(type) or pa.types.is_binary(type):
        offsets = np.frombuffer(column.buffers()[1], np.int32, len(column) + 1, 4 * column.offset)
        data = column.buffers()[2]
        _hash_bytes(hashes, np.frombuffer(data or b"\0", np.uint8), offsets, valid, rows)
        return
    numbers, wide = _as_integers(column)
    (_hash_longs if wide else _hash_ints)(hashes, numbers, valid, rows)


def _as_integers(column: pa.Array) -> tuple[Array, bool]:
    """The values as whole numbers, arbitrary where one is missing, and whether 8 bytes of each are hashed."""
    type = column.type
    if pa.types.is_decimal(type):
        # The low half of the decimal as one number, which holds up to 18 digits entirely.
        halves = np.frombuffer(column.buffers()[1], np.int64, 2 * len(column), 16 * column.offset)
        return halves[::2].copy(), True
    if pa.types.is_floating(type):
        wide = pa.types.is_float64(type)
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        values = np.where(values == 0, 0, values)  # both zeros hash alike, and so do all NaN
        values = np.where(np.isnan(values), np.nan, values).astype(np.float64 if wide else np.float32)
        return values.view(np.int64 if wide else np.int32).astype(np.int64), wide
    if pa.types.is_boolean(type):
        return column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64), False
    wide = type.bit_width == 64
    plain = column.cast(pa.int32()) if pa.types.is_date32(type) else column
    plain = column.cast(pa.int64()) if pa.types.is_timestamp(type) else plain
    values = plain.fill_null(0).to_numpy(zero_copy_only=False)
    return values.astype(np.int64, copy=False), wide


@inlined
def _rotate(x, by):  # type: ignore[no-untyped-def]
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


@inlined
def _finish(x):  # type: ignore[no-untyped-def]
    x = (x ^ (x >> np.uint64(33))) * _P2
    x = (x ^ (x >> np.uint64(29))) * _P3
    return x ^ (x >> np.uint64(32))


@inlined
def _round(lane, word):  # type: ignore[no-untyped-def]
    return _rotate(lane + word * _P2, 31) * _P1


@inlined
def _take_word(x, word):  # type: ignore[no-untyped-def]
    return _rotate(x ^ _round(np.uint64(0), word), 27) * _P1 + _P4


@kernel
def _hash_ints(hashes, values, valid, rows):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        if len(valid) and not valid[i]:
            continue
        row = rows[i] if len(rows) else i
        x = hashes[row] + _P5 + np.uint64(4)
        x ^= (np.uint64(values[i]) & np.uint64(0xFFFFFFFF)) * _P1
        hashes[row] = _finish(_rotate(x, 23) * _P2 + _P3)


@kernel
def _hash_longs(hashes, values, valid, rows):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        if len(valid) and not valid[i]:
            continue
        row = rows[i] if len(rows) else i
        hashes[row] = _finish(_take_word(hashes[row] + _P5 + np.uint64(8), np.uint64(values[i])))


@inlined
def _word(data, at, size):  # type: ignore[no-untyped-def]
    """The `size` bytes from `at` on as a number, the least significant first."""
    word = np.uint64(0)
    for k in range(size):
        word |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return word


@kernel
def _hash_bytes(hashes, data, offsets, valid, rows):  # type: ignore[no-untyped-def]
    for i in range(len(offsets) - 1):
        if len(valid) and not valid[i]:
            continue
        row = rows[i] if len(rows) else i
        at, end = offsets[i], offsets[i + 1]
        length = np.uint64(end - at)
        seed = hashes[row]
        if end - at >= 32:
            a, b, c, d = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
            while at + 32 <= end:
                a = _round(a, _word(data, at, 8))
                b = _round(b, _word(data, at + 8, 8))
                c = _round(c, _word(data, at + 16, 8))
                d = _round(d, _word(data, at + 24, 8))
                at += 32
            x = _rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)
            for lane in (a, b, c, d):
                x = (x ^ _round(np.uint64(0), lane)) * _P1 + _P4
        else:
            x = seed + _P5
        x += length
        while at + 8 <= end:
            x = _take_word(x, _word(data, at, 8))
            at += 8
        if at + 4 <= end:
            x = _rotate(x ^ (_word(data, at, 4) * _P1), 23) * _P2 + _P3
            at += 4
        while at < end:
            x = _rotate(x ^ (np.uint64(data[at]) * _P5), 11) * _P1
            at += 1
        hashes[row] = _finish(x)
