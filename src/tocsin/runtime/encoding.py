"""Plain values as bytes, for data that outlives a process: checkpoints, rule folders, messages of a broker.

The bytes name no module or class, so code may move and old bytes stay readable; and reading them cannot run code.
`decode` returns the value that `encode` took, or raises an `InputError`: `checkpoint-damaged` if bytes are missing, flipped or
foreign, `checkpoint-version` if another version of Tocsin wrote them.

All numbers of the header are little-endian:

| offset | bytes | field | meaning |
|---|---|---|---|
| 0 | 4 | magic | `TOCS` |
| 4 | 1 | layout | version of this table, `LAYOUT` |
| 5 | 1 | packing | 0 as it is, 1 an LZ4 frame |
| 6 | 2 | version | version of the contents, chosen by the caller |
| 8 | 8 | size | bytes of the body before packing |
| 16 | 4 | checksum | CRC-32 of all other bytes, header included |
| 20 | 1 | n | length of the kind |
| 21 | n | kind | ASCII: what the contents are, such as `state` |
| 21 + n | | body | the value, below |

The body is MessagePack. None, booleans, integers of 64 bits, floats, text, bytes and dicts are what MessagePack has for them (a
dict keeps its order); an array of MessagePack is a tuple. Everything else is an extension type:

| type | value | payload |
|---|---|---|
| 1 | a larger integer | two's complement, little-endian |
| 2 | list | its items as a MessagePack array |
| 3, 4 | set, frozenset | its items, each encoded, in the order of their bytes |
| 5 | numpy array | MessagePack (kind and size as in `i8`, shape, items in C order, little-endian) |
| 6 | Decimal | its text |
| 7 | date | its day, counted from 0001-01-01 as 1 |
| 8 | datetime | MessagePack (text without a zone, microseconds ahead of UTC or nil, fold) |
| 9 | timedelta | MessagePack (days, seconds, microseconds) |
| 10 | Arrow table | Arrow's IPC stream |
| 11 | Arrow array | the IPC stream of a table with this one column |
| 12 | Arrow schema | Arrow's IPC stream without a batch |
| 13 | a time as a value (`values.Time`) | microseconds since 1970-01-01 UTC |

>>> decode(encode((1, "a", {"b": None}), kind="note", version=3), kind="note", version=3)
(1, 'a', {'b': None})
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any

import msgpack
import numpy as np
import pyarrow as pa

from tocsin.errors import InputError
from tocsin.values import Time

MAGIC = b"TOCS"
LAYOUT = 1
_HEADER = struct.Struct("<4sBBHQ")  # up to the checksum
_CHECKSUM = struct.Struct("<I")
_AS_IT_IS, _LZ4 = 0, 1
_LZ4_RATIO = 255  # no frame unpacks to more than this many times its size
_CODEC = pa.Codec("lz4")  # written after every micro-batch of a stream, so speed counts for more than size

_INT, _LIST, _SET, _FROZENSET, _NUMPY, _DECIMAL, _DATE, _DATETIME, _TIMEDELTA, _TABLE, _ARROW, _SCHEMA = (
    range(1, 13)
)
_TIME = 13
_SIZES = {
    "b": (1,),
    "i": (1, 2, 4, 8),
    "u": (1, 2, 4, 8),
    "f": (2, 4, 8),
}  # bytes of an item, by numpy's kind


def encode(value: Any, *, kind: str, version: int, packed: bool = True) -> bytes:
    """The bytes of a plain value. Equal values of equal order give equal bytes.

    Args:
        kind: what the value is; `decode` must be given the same.
        version: of the contents; raise it when their meaning changes.
        packed: whether to compress the body, if that makes it smaller.
    """
    body, packing = _pack(value), _AS_IT_IS
    size = len(body)
    if packed:
        smaller = _CODEC.compress(body, asbytes=True)
        if len(smaller) < size:
            body, packing = smaller, _LZ4
    header = _HEADER.pack(MAGIC, LAYOUT, packing, version, size)
    name = kind.encode("ascii")
    tail = bytes((len(name),)) + name
    return b"".join((header, _CHECKSUM.pack(_checksum(header, tail, body)), tail, body))


def decode(data: bytes, *, kind: str, version: int) -> Any:
    """The value that was passed to `encode`, made of new and writable parts."""
    if data[: len(MAGIC)] != MAGIC:
        if data[:1] == b"\x80":  # the first byte of a pickle, the former format of checkpoints
            raise _other_version(kind, "an older version, which had no written-down layout", version)
        raise damaged(f"it does not begin as a {kind} does")
    name_at = _HEADER.size + _CHECKSUM.size
    if len(data) <= name_at or len(data) < name_at + 1 + data[name_at]:
        raise damaged("it ends within its header")
    _, layout, packing, written, size = _HEADER.unpack_from(data)
    if layout != LAYOUT:
        raise _other_version(kind, f"layout {layout} (this build reads layout {LAYOUT})", version)
    body_at = name_at + 1 + data[name_at]
    tail, body = data[name_at:body_at], memoryview(data)[body_at:]
    if _CHECKSUM.unpack_from(data, _HEADER.size)[0] != _checksum(data[: _HEADER.size], tail, body):
        raise damaged("its checksum is wrong: bytes are missing or have changed")
    if tail[1:] != kind.encode("ascii"):
        raise damaged(f"it is a {tail[1:].decode('ascii', 'replace')}, where a {kind} was expected")
    if written != version:
        raise _other_version(kind, f"version {written}", version)
    return _unpack(_plain_body(body, packing, size))


def damaged(why: str) -> InputError:
    """The error for bytes that cannot be read."""
    return InputError(
        "checkpoint-damaged",
        f"this checkpoint cannot be read: {why}",
        hint="restore it from a copy, or start with a new checkpoint folder",
    )


def _other_version(kind: str, written: str, version: int) -> InputError:
    return InputError(
        "checkpoint-version",
        f"this {kind} was written by {written}; this build of tocsin reads version {version}",
        hint="go on with the version of tocsin that wrote it, or start with a new checkpoint folder",
    )


def _checksum(header: bytes, tail: bytes, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(tail, zlib.crc32(header)))


def _plain_body(body: memoryview, packing: int, size: int) -> bytes | memoryview:
    if packing == _AS_IT_IS and size == len(body):
        return body
    if packing != _LZ4 or size > _LZ4_RATIO * len(body):
        raise damaged("its body has another size than its header says")
    try:
        return _CODEC.decompress(body, size, asbytes=True)  # type: ignore[no-any-return]
    except (OSError, pa.ArrowException) as error:
        raise damaged(str(error)) from error


def _pack(value: Any) -> bytes:
    return msgpack.packb(_plain(value), use_bin_type=True, unicode_errors="surrogatepass")  # type: ignore[no-any-return]


def _unpack(body: bytes | memoryview) -> Any:
    try:
        return msgpack.unpackb(
            body,
            raw=False,
            use_list=False,
            strict_map_key=False,
            unicode_errors="surrogatepass",
            ext_hook=_from_payload,
        )
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(str(error) or type(error).__name__) from error


# To bytes.

_ATOMS = frozenset((type(None), bool, float, str, bytes))


def _plain(value: Any) -> Any:
    """The value in MessagePack's types. Types are compared exactly, so that the value read equals the value written."""
    own = type(value)
    if own in _ATOMS:
        return value
    if own is int:
        return value if -(1 << 63) <= value < 1 << 63 else _large(value)
    if own is tuple:
        return value if _ATOMS.issuperset(map(type, value)) else [_plain(item) for item in value]
    if own is dict:
        return {_hashable(key): _plain(item) for key, item in value.items()}
    # Each Arrow type has an array class of its own.
    to_payload = _TO_PAYLOAD.get(pa.Array if isinstance(value, pa.Array) else own)
    if to_payload is None or isinstance(value, pa.ExtensionArray):
        raise TypeError(f"a checkpoint cannot hold a {own.__module__}.{own.__qualname__}: {value!r:.100}")
    code, payload = to_payload
    return msgpack.ExtType(code, payload(value))


def _hashable(key: Any) -> Any:
    plain = _plain(key)
    return _frozen(plain) if type(plain) is list else plain


def _frozen(items: list[Any]) -> tuple[Any, ...]:
    return tuple(_frozen(item) if type(item) is list else item for item in items)


def _large(value: int) -> Any:
    return msgpack.ExtType(_INT, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))


def _items(value: Any) -> bytes:
    return _pack(tuple(value))


def _sorted_items(value: Any) -> bytes:
    return _pack(tuple(sorted(_pack(item) for item in value)))


def _numpy(value: np.ndarray[Any, Any]) -> bytes:
    if value.dtype.itemsize not in _SIZES.get(value.dtype.kind, ()):
        raise TypeError(f"a checkpoint cannot hold an array of {value.dtype}")
    plain = value.astype(value.dtype.newbyteorder("<"), copy=False)
    return _pack((f"{plain.dtype.kind}{plain.dtype.itemsize}", plain.shape, plain.tobytes()))


def _datetime(value: datetime) -> bytes:
    offset = value.utcoffset()
    ahead = None if offset is None else offset // timedelta(microseconds=1)
    return _pack((value.replace(tzinfo=None).isoformat(), ahead, value.fold))


def _table(value: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, value.schema) as writer:
        writer.write_table(value)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _arrow(value: pa.Array) -> bytes:
    return _table(pa.table({"": value}))


_TO_PAYLOAD: dict[type, tuple[int, Callable[[Any], bytes]]] = {
    list: (_LIST, _items),
    set: (_SET, _sorted_items),
    frozenset: (_FROZENSET, _sorted_items),
    np.ndarray: (_NUMPY, _numpy),
    Decimal: (_DECIMAL, lambda value: str(value).encode("ascii")),
    date: (_DATE, lambda value: _pack(value.toordinal())),
    datetime: (_DATETIME, _datetime),
    timedelta: (_TIMEDELTA, lambda value: _pack((value.days, value.seconds, value.microseconds))),
    pa.Table: (_TABLE, _table),
    pa.Array: (_ARROW, _arrow),
    pa.Schema: (_SCHEMA, lambda value: _table(value.empty_table())),
    Time: (_TIME, lambda value: _pack(value.micros)),
}


# From bytes.


def _from_payload(code: int, payload: bytes) -> Any:
    from_payload = _FROM_PAYLOAD.get(code)
    if from_payload is None:
        raise damaged(f"it holds a value of the unknown type {code}")
    try:
        return from_payload(payload)
    except (ValueError, TypeError, OverflowError, OSError, InvalidOperation, pa.ArrowException) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(str(error) or type(error).__name__) from error


def _numpy_from(payload: bytes) -> np.ndarray[Any, Any]:
    described, shape, items = _unpack(payload)
    kind, size = described[:1], int(described[1:])
    if size not in _SIZES.get(kind, ()):
        raise damaged(f"it holds an array of unknown items, {described}")
    # `reshape` raises if the number of items does not fit the shape. The copy is writable.
    return np.frombuffer(items, np.dtype(f"<{kind}{size}")).reshape(shape).copy()


def _datetime_from(payload: bytes) -> datetime:
    text, ahead, fold = _unpack(payload)
    zone = None if ahead is None else timezone(timedelta(microseconds=ahead))
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _table_from(payload: bytes) -> pa.Table:
    table = pa.ipc.open_stream(payload).read_all()
    table.validate()
    return table


def _arrow_from(payload: bytes) -> pa.Array:
    return _table_from(payload).column(0).combine_chunks()


_FROM_PAYLOAD: dict[int, Callable[[bytes], Any]] = {
    _INT: lambda payload: int.from_bytes(payload, "little", signed=True),
    _LIST: lambda payload: list(_unpack(payload)),
    _SET: lambda payload: {_unpack(item) for item in _unpack(payload)},
    _FROZENSET: lambda payload: frozenset(_unpack(item) for item in _unpack(payload)),
    _NUMPY: _numpy_from,
    _DECIMAL: lambda payload: Decimal(payload.decode("ascii")),
    _DATE: lambda payload: date.fromordinal(_unpack(payload)),
    _DATETIME: _datetime_from,
    _TIMEDELTA: lambda payload: timedelta(*_unpack(payload)),
    _TABLE: _table_from,
    _ARROW: _arrow_from,
    _SCHEMA: lambda payload: _table_from(payload).schema,
    _TIME: lambda payload: Time(int(_unpack(payload))),
}
