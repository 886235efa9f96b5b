"""Rows packed as Arrow bytes, so that Spark moves few large opaque values.

A *shard* is a group of keys. Rows of a shard travel together, several thousand in one value; a row on its own would cost
Spark a copy and a hash on each side of its shuffle, and a sort there costs more than one here. Which shard a key belongs to is
decided here and not by Spark, so that rows that Spark has never seen, such as those a task reads from a file, join the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array
from tocsin.runtime.rows.stable_hash import hash_values
from tocsin.runtime.rows.total_order import bucket

UNIT_BYTES = 48 << 20  # rows are packed once this many bytes have come, which bounds the memory of a task
BLOB_BYTES = 16 << 20  # no packed value is much larger; Spark accepts none of 2 GB
_FEW = 1000  # a dictionary travels with every value; one with more entries than this is not worth it
PACKED = pa.schema([pa.field("shard", pa.int32()), pa.field("packed", pa.binary())])


def to_ipc(table: pa.Table) -> bytes:
    """A table as Arrow bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def from_ipc(data: bytes | pa.Buffer) -> pa.Table:
    """The table that `to_ipc` wrote."""
    return pa.ipc.open_stream(data).read_all()


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of the tables in the column `packed`."""
    for table in unpack_tables(batches):
        yield from table.to_batches()


def unpack_tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The tables in the column `packed`; they are views of the input, not copies."""
    for batch in batches:
        for data in batch.column("packed"):
            yield from_ipc(data.as_buffer())


def units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches until they are large enough to pack."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            size += batch.nbytes
        if size >= UNIT_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def pack_by_key(shards: int, keys: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: rows with travelling columns, in batches of any size, in; rows `shard, packed` out."""
    for table in units(batches):
        yield from pack_table(table, shards, keys)


def pack_table(table: pa.Table, shards: int, keys: int) -> Iterator[pa.RecordBatch]:
    """Pack rows with travelling columns (see `partition`) into rows `shard int, packed binary`.

    Args:
        keys: the number of key columns, `key0`, `key1`, …; without any, all rows are of shard 0.
    """
    per_unit = _rows_within(table, UNIT_BYTES)
    for first in range(0, table.num_rows, per_unit):
        unit = _coded(table.slice(first, per_unit)).combine_chunks()
        order, offsets = bucket(shard_of(unit, shards, keys), shards)
        yield _packed(unit if shards == 1 or not keys else unit.take(pa.array(order)), offsets)


def pack_rows(table: pa.Table, shard: int) -> Iterator[pa.RecordBatch]:
    """Pack rows that all belong to one shard into rows `shard int, packed binary`."""
    if table.num_rows:
        offsets = np.zeros(shard + 2, np.int64)
        offsets[-1] = table.num_rows
        yield _packed(_coded(table).combine_chunks(), offsets)


def shard_of(table: pa.Table, shards: int, keys: int) -> Array:
    """The shard of each row: int64, from 0 to `shards` - 1."""
    if not keys:
        return np.zeros(table.num_rows, np.int64)
    columns = [_one(table.column(f"key{number}")) for number in range(keys)]
    return _scaled(hash_keys(columns, table.num_rows), shards)  # type: ignore[no-any-return]


def hash_keys(columns: list[pa.Array], count: int) -> Array:
    """The hashes of `count` keys, given by the columns of their parts: uint64."""
    mixed = np.zeros(count, np.uint64)
    for column in columns:
        mixed = _join(mixed, hash_values(column)[:, 0])
    return mixed


def _one(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, its texts dictionary-encoded, so that each distinct text is hashed once."""
    whole = column.combine_chunks()
    plain = pa.types.is_primitive(whole.type) or pa.types.is_nested(whole.type)
    return whole if plain else whole.dictionary_encode()


def _rows_within(table: pa.Table, size: int) -> int:
    return max(1, int(table.num_rows * size // max(1, table.nbytes)))


def _coded(table: pa.Table) -> pa.Table:
    """The table with its types as a dictionary, if few are distinct."""
    at = table.schema.get_field_index("type")
    if at < 0 or pa.types.is_dictionary(table.schema.field(at).type):
        return table
    coded = table.column(at).dictionary_encode()
    if len(coded.chunk(0).dictionary) > _FEW:
        return table
    narrow = pa.dictionary(pa.int16(), coded.type.value_type)
    return table.set_column(at, "type", coded.cast(narrow))


def _packed(rows: pa.Table, offsets: Array) -> pa.RecordBatch:
    """Pack rows sorted by shard, those of each shard as one value, or several if they are many."""
    most = _rows_within(rows, BLOB_BYTES)
    sink = pa.BufferOutputStream()
    shards, places = [], [0]
    for shard in np.flatnonzero(np.diff(offsets)).tolist():
        stop = int(offsets[shard + 1])
        for first in range(int(offsets[shard]), stop, most):
            with pa.ipc.new_stream(sink, rows.schema) as writer:
                writer.write_table(rows.slice(first, min(most, stop - first)))
            shards.append(shard)
            places.append(sink.tell())
    packed = pa.BinaryArray.from_buffers(
        pa.binary(), len(shards), [None, pa.array(places, pa.int32()).buffers()[1], sink.getvalue()]
    )
    return pa.record_batch([pa.array(shards, pa.int32()), packed], schema=PACKED)


@kernel
def _join(before, lane):  # type: ignore[no-untyped-def]
    """The hash of several columns, from the hash of all but the last, and that of the last."""
    joined = np.empty_like(before)
    for row in range(len(before)):
        joined[row] = (before[row] << np.uint64(7) | before[row] >> np.uint64(57)) ^ lane[row]
    return joined


@kernel
def _scaled(hashes, shards):  # type: ignore[no-untyped-def]
    """Hashes mapped evenly to numbers below `shards`."""
    scaled = np.empty(len(hashes), np.int64)
    for row in range(len(hashes)):
        scaled[row] = np.int64((hashes[row] >> np.uint64(32)) * np.uint64(shards) >> np.uint64(32))
    return scaled
