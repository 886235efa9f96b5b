"""Chunks of the time axis, for patterns without a key: each chunk is handled by a task of its own.

A *chunk* is the time after one moment until another. It travels with the events that ended in it and those that ended shortly
before, so that every match that ends in it can be found (see `automata.tokens.span`); a match that ends earlier is left
to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.moments import FOREVER
from tocsin.runtime.program import Array
from tocsin.runtime.rows.total_order import ascend
from tocsin.runtime.transport.pack import pack_rows, units

BOUNDS = "bounds"  # the column in which the first row of each partition has the moments to cut at, or null
_AFTER, _UNTIL = b"after", b"until"


class Chunk(NamedTuple):
    """The time after `after` up to and including `until`, in microseconds."""

    after: int
    until: int


ALWAYS = Chunk(-FOREVER, FOREVER)


class Layout(NamedTuple):
    """Where events are by time: row groups with bounds on the times they cover, and the chunks of the tasks."""

    files: tuple[str, ...]
    file: Array  # int64 (G,), into files
    group: Array  # int64 (G,), its number in the file
    least: Array  # int64 (G,), microseconds; no event of the group ended earlier
    most: Array  # int64 (G,)
    chunks: tuple[Chunk, ...]
    longest: int  # microseconds from the first event of a match to its last at most


def pack_by_time(
    overlap: int, known: Sequence[int] | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Worker entry point: rows with travelling columns in, rows `shard, packed` out; a shard is a chunk.

    Args:
        known: the moments to cut at, if they are known without a column of them.
    """
    bounds = None if known is None else far_apart(known, overlap)
    for table in units(batches):
        if bounds is None:
            bounds = far_apart(table.column(BOUNDS)[0].as_py() or [], overlap)
        yield from pack_chunks(table if known is not None else table.drop_columns([BOUNDS]), bounds, overlap)


def far_apart(bounds: Sequence[int], overlap: int) -> Array:
    """The moments that are at least `overlap` after the one before, so that no event goes to three chunks."""
    kept: list[int] = []
    for bound in sorted(bounds):
        if not kept or bound - kept[-1] >= max(overlap, 1):
            kept.append(bound)
    return np.array(kept, np.int64)


def pack_chunks(table: pa.Table, bounds: Array, overlap: int) -> Iterator[pa.RecordBatch]:
    """Pack the rows of each chunk, and those that ended at most `overlap` before it, into rows `shard, packed`."""
    end = table.column("end").combine_chunks().to_numpy(zero_copy_only=False)
    in_order = ascend(end)
    edges = [ALWAYS.after, *bounds.tolist(), ALWAYS.until]
    for shard, (after, until) in enumerate(pairwise(edges)):
        if in_order:
            first, stop = np.searchsorted(end, [after - overlap, until], "right").tolist()
            own = table.slice(first, stop - first)
        else:
            own = table.filter(pa.array((end > after - overlap) & (end <= until)))
        chunk = {_AFTER: str(after), _UNTIL: str(until)}
        yield from pack_rows(own.replace_schema_metadata(chunk), shard)


def chunk_of(table: pa.Table) -> Chunk:
    """The chunk that an unpacked table belongs to."""
    return Chunk(int(table.schema.metadata[_AFTER]), int(table.schema.metadata[_UNTIL]))
