"""Worker entry point: reads the JSON values of messages into columns, and passes on the values left to another reader.

Arrow has a JSON reader as well. It takes several times as long, a lone value `null` crashes its process, and it reads
lines: a value of two objects and one of none would shift the events of other messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.program import Array
from tocsin.runtime.read.json_columns import Fields, Filled, Texts
from tocsin.runtime.read.json_text import (
    ABSENT,
    FILLED,
    REAL,
    TEXT,
    TRUTH,
    WHOLE,
    read_objects,
    texts_at,
)

_WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_KINDS = {**dict.fromkeys(_WHOLE, WHOLE), pa.float64(): REAL, pa.string(): TEXT, pa.bool_(): TRUTH}


class JsonJob(NamedTuple):
    """The input of a worker."""

    value: str  # the column of the values, binary
    kept: tuple[str, ...]  # the columns that are passed on unchanged
    fields: tuple[tuple[str, pa.DataType], ...]
    added: tuple[str, str]  # the names of the two columns that are added


def read_values(job: JsonJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The kept columns, then the event, a struct, and the value if it is left to another reader.

    A row that has neither had no value.
    """
    for batch in batches:
        values = batch.column(job.value)
        event = events_of(values, job.fields)
        rest = pa.nulls(len(values), pa.binary())
        if event.null_count > values.null_count:
            rest = pc.if_else(event.is_null(), values, rest)
        columns = [*(batch.column(name) for name in job.kept), event, rest]
        yield pa.RecordBatch.from_arrays(columns, [*job.kept, *job.added])


def events_of(values: pa.Array, fields: tuple[tuple[str, pa.DataType], ...]) -> pa.StructArray:
    """Values as structs; null where there is no value, or one that is left to another reader.

    >>> values = pa.array([b'{"room": "A", "celsius": 14}', b'{"room": 7}', None])
    >>> events_of(values, (("room", pa.string()), ("celsius", pa.float64()))).to_pylist()
    [{'room': 'A', 'celsius': 14.0}, None, None]
    """
    rows = len(values)
    data, offsets = _bytes(values)
    names = [name.encode() for name, _ in fields]
    kinds = np.array([_KINDS[type] for _, type in fields], np.int8)
    limits = [_limits(type) for _, type in fields]
    filled = np.full((len(fields), rows), ABSENT, np.int8)
    numbers = np.empty((len(fields), rows), np.int64)
    starts = np.empty((len(fields), rows), np.int32)
    stops = np.empty((len(fields), rows), np.int32)
    read = np.zeros(rows, np.bool_)
    read_objects(
        Texts(data, offsets, values.is_valid().to_numpy(zero_copy_only=False)),
        Fields(
            np.frombuffer(b"".join(names) or b"\0", np.uint8),
            np.cumsum([0, *map(len, names)]).astype(np.int32),
            kinds,
            np.array([low for low, _ in limits], np.int64),
            np.array([high for _, high in limits], np.int64),
        ),
        Filled(read, filled, numbers, starts, stops),
    )
    columns = []
    for at, (_, type) in enumerate(fields):
        if kinds[at] in (TEXT, REAL):
            columns.append(_texts(data, starts[at], stops[at], filled[at], type))
        else:
            own = numbers[at].astype(type.to_pandas_dtype())
            columns.append(pa.array(own, type, mask=filled[at] != FILLED))
    struct = [pa.field(name, type) for name, type in fields]
    return pa.StructArray.from_arrays(columns, fields=struct, mask=pa.array(~read))


def _bytes(values: pa.Array) -> tuple[Array, Array]:
    """The bytes of all values, and the offsets of each."""
    if not len(values):
        return np.zeros(1, np.uint8), np.zeros(1, np.int32)
    _, offsets, data = values.buffers()
    own = np.frombuffer(data or b"\0", np.uint8)
    places = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset)
    for array in (own, places):
        array.flags.writeable = False  # kernels are compiled for read-only arrays only
    return own, places


def _limits(type: pa.DataType) -> tuple[int, int]:
    """The least and the largest number of an integer type."""
    if type not in _WHOLE:
        return 0, 0
    info = np.iinfo(type.to_pandas_dtype())
    return int(info.min), int(info.max)


def _texts(data: Array, starts: Array, stops: Array, filled: Array, type: pa.DataType) -> pa.Array:
    """A column of texts, or of the numbers that the texts spell."""
    text, offsets = texts_at(data, starts, stops, filled, type == pa.string())
    there = np.packbits(filled == FILLED, bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(offsets), pa.py_buffer(text)]
    # Arrow parses a number as Java does: to the nearest double.
    return pa.StringArray.from_buffers(len(starts), *buffers[1:], buffers[0]).cast(type)
