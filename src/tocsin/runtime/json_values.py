"""What Spark calls to read the JSON values of messages: columns of fields, and the values that are left to another reader.

Arrow has a reader of JSON as well. It takes several times as long, a value `null` that is alone ends its process, and it reads
lines: a value of two objects and one of none would make the events of others change places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.json_text import ABSENT, FILLED, REAL, TEXT, TRUTH, WHOLE, read_objects, texts_at
from tocsin.runtime.program import Array

_WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_KINDS = {**dict.fromkeys(_WHOLE, WHOLE), pa.float64(): REAL, pa.string(): TEXT, pa.bool_(): TRUTH}


class JsonJob(NamedTuple):
    """What a worker is told."""

    value: str  # the column of the values, binary
    kept: tuple[str, ...]  # the columns that go on as they are
    fields: tuple[tuple[str, pa.DataType], ...]
    added: tuple[str, str]  # what the two columns are called that are added


def read_values(job: JsonJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The columns that are kept, then the event, a struct, and the value if it is not decided here.

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
    """Values as structs, with nulls where there is no value or one that is not decided here.

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
        data,
        offsets,
        values.is_valid().to_numpy(zero_copy_only=False),
        np.frombuffer(b"".join(names) or b"\0", np.uint8),
        np.cumsum([0, *map(len, names)]).astype(np.int32),
        kinds,
        np.array([low for low, _ in limits], np.int64),
        np.array([high for _, high in limits], np.int64),
        read,
        filled,
        numbers,
        starts,
        stops,
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
    """The bytes of all values, and where each begins and ends."""
    if not len(values):
        return np.zeros(1, np.uint8), np.zeros(1, np.int32)
    _, offsets, data = values.buffers()
    own = np.frombuffer(data or b"\0", np.uint8)
    places = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset)
    for array in (own, places):
        array.flags.writeable = False  # whosever it is: kernels are compiled for one kind only
    return own, places


def _limits(type: pa.DataType) -> tuple[int, int]:
    """The least and the largest number of a type of whole numbers."""
    if type not in _WHOLE:
        return 0, 0
    info = np.iinfo(type.to_pandas_dtype())
    return int(info.min), int(info.max)


def _texts(data: Array, starts: Array, stops: Array, filled: Array, type: pa.DataType) -> pa.Array:
    """A column of texts, or of the numbers that texts are."""
    text, offsets = texts_at(data, starts, stops, filled, type == pa.string())
    there = np.packbits(filled == FILLED, bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(offsets), pa.py_buffer(text)]
    # Arrow reads a number as Java does: the nearest that there is.
    return pa.StringArray.from_buffers(len(starts), *buffers[1:], buffers[0]).cast(type)
