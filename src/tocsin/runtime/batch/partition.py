"""Worker entry point: a partition of events in, matches out.

The columns that travel: `start` and `end` (microseconds; without `start` events have no length), `bits0`, `bits1`, … (whole
numbers of any width) or, where there are many predicates, `code0`, … (see `predicates.index`), `key0`, … , `id`, `type`,
`value:NAME` for attributes that kernels compare, `field:NAME` for attributes that conditions and outputs read, and
`attributes`, a struct that is only carried along.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.feed import Batch, ByKey, Result, feed
from tocsin.runtime.predicates.index import Index, signatures
from tocsin.runtime.program import Array, Plan, from_bytes, travelling
from tocsin.runtime.results.match_rows import OF_EVENTS, to_arrow
from tocsin.runtime.rows.keys import Keys, equal_alike, key_codes
from tocsin.runtime.rows.signatures import narrow_signatures
from tocsin.runtime.rows.signatures import signatures as distinct_rows
from tocsin.runtime.rows.total_order import placed, places, same_moment, total_order
from tocsin.runtime.state import initial
from tocsin.runtime.transport.pack import unpack, unpack_tables
from tocsin.runtime.transport.time_chunks import ALWAYS, Chunk, chunk_of

SLICE = 250_000  # rows per call of a kernel, which bounds what one call allocates
OUTPUT_ROWS = 50_000
_WIDE = 1 << 30  # columns of this many bytes or more get wide offsets for their texts
_REPORTED = ("id", "copy", "type", "start", "end", "attributes")


class Job(NamedTuple):
    """The input of a worker: the plan as bytes, the schema of the matches, and the limit on partial matches per key."""

    plan: bytes
    schema: bytes
    keys: int
    limit: int
    predicates: bytes = b""  # a pickled `predicates.index.Index`, if `code0`, … travel instead of `bits0`, …
    wanted: tuple[str, ...] | None = None  # the columns of the schema that are reported; None for all


class Sorted(NamedTuple):
    """The events of a partition sorted by key and in the total order, and where each key begins."""

    events: pa.Table
    offsets: Array  # int64 (keys+1,)


def detect_shards(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The matches in a partition of packed rows (see `pack`), which holds every event of each of its keys."""
    return detect_partition(job, unpack(batches))


def detect_chunks(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The matches in packed chunks of the time axis (see `time_chunks`): for each chunk, those that end in it."""
    for chunk, events in chunks_of(batches):
        yield from detect_partition(job, events, chunk)


def chunks_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Chunk, list[pa.RecordBatch]]]:
    """Unpack the events of each chunk, earliest chunk first."""
    by_chunk: dict[Chunk, list[pa.RecordBatch]] = {}
    for table in unpack_tables(batches):
        by_chunk.setdefault(chunk_of(table), []).extend(table.replace_schema_metadata().to_batches())
    for chunk in sorted(by_chunk):
        yield chunk, by_chunk.pop(chunk)


def detect_partition(
    job: Job, batches: Iterable[pa.RecordBatch], chunk: Chunk = ALWAYS
) -> Iterator[pa.RecordBatch]:
    """The matches in a partition, which holds every event of each of its keys, that end in a chunk of time."""
    collected = [batch for batch in batches if batch.num_rows]
    if not collected:
        return
    plan = from_bytes(job.plan)
    yield from reported(plan, job, results(plan, sort_events(collected, job.keys), job, chunk.until), chunk)


def reported(plan: Plan, job: Job, found: Iterable[Result], chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """The matches that end in a chunk of time, as rows."""
    schema = pa.ipc.read_schema(pa.py_buffer(job.schema))
    for result in found:
        for number in range(len(plan.outputs)):
            within = None if chunk == ALWAYS else chunk
            own = to_arrow(plan, result, number, schema, wanted=job.wanted, chunk=within)
            yield from own.to_batches(max_chunksize=OUTPUT_ROWS)


def reports_events(plan: Plan, job: Job) -> bool:
    """Whether anything about the events of matches is reported other than their times."""
    wanted = job.wanted is None or not OF_EVENTS.isdisjoint(job.wanted)
    return wanted or any(detector.emissions for detector in plan.detectors)


def results(
    plan: Plan,
    events: Sorted,
    job: Job,
    last: int,
    *,
    whole_keys: bool = False,
    begins: Mapping[int, Array] | None = None,
) -> Iterator[Result]:
    """Feed the partition slice by slice: whole keys together, a key of many events in several slices.

    Args:
        last: the time up to which detectors are fed.
        whole_keys: no key is cut, however many events it has.
        begins: for some detectors the first row of each key that they are fed; only for whole keys.
    """
    end = numbers(events.events, "end")
    state = initial(plan)
    index = pickle.loads(job.predicates) if job.predicates else None
    fresh = True  # the slice begins with a new key
    for first, stop, whole in _slices(events.offsets, end, whole_keys=whole_keys):
        until = last if whole else int(end[stop - 1])
        part = events.events.slice(first, stop - first)
        batch = batch_of(plan, part, None, job.keys, index)
        if whole and fresh:
            batch = batch._replace(by_key=_by_key(batch, events.offsets, first, stop))
        if begins is not None:
            keys = slice(*np.searchsorted(events.offsets, [first, stop]).tolist())
            batch = batch._replace(begins={number: rows[keys] - first for number, rows in begins.items()})
        result = feed(plan, state, batch, until, keep=not whole, limit=job.limit)
        state, fresh = initial(plan) if result.state is None else result.state, whole
        yield result


def _by_key(batch: Batch, offsets: Array, first: int, stop: int) -> ByKey:
    """Where each key begins in the rows from `first` to `stop`, and the keys."""
    own = offsets[np.searchsorted(offsets, first) : np.searchsorted(offsets, stop) + 1] - first
    return ByKey(own, Keys(tuple(batch.keys), stop - first).take(own[:-1]))


def _slices(offsets: Array, end: Array, *, whole_keys: bool = False) -> Iterator[tuple[int, int, bool]]:
    """The ranges of rows to feed at once, and whether each completes its keys. No moment is cut in two."""
    first, last = 0, int(offsets[-1])
    while first < last:
        key = int(np.searchsorted(offsets, first + SLICE, "right")) - 1
        stop = int(offsets[key])
        if stop <= first:  # this key alone has more
            stop = int(offsets[key + 1])
            while stop - first > SLICE and not whole_keys:
                # The first row that ends later than the last of the slice.
                cut = first + int(np.searchsorted(end[first:stop], end[first + SLICE - 1], "right"))
                if cut == stop:
                    break
                yield first, cut, False
                first = cut
        yield first, stop, True
        first = stop


class TiedError(Exception):
    """Events of a key have the same time, and no ids to order them by."""


def sort_events(batches: list[pa.RecordBatch], keys: int) -> Sorted:
    """Sort the rows of the batches, with a column `copy` if rows are equal; `batches` is emptied as they are used.

    Rows may lack an `id` unless it is needed to break a tie, which raises `TiedError`. Columns are sorted one after the other,
    so that at most one of them exists twice at any time.
    """
    # Batches that cover different times are put in their order, so that often nothing is left to sort by time.
    pieces = sorted((one for one in batches if one.num_rows), key=lambda one: one.column("end")[0].as_py())
    table = _joined(pieces or batches[:1])
    batches.clear()
    pieces.clear()
    end = numbers(table, "end")
    start = numbers(table, "start") if "start" in table.column_names else end
    codes, count = np.zeros(len(end), np.int64), 1
    if keys:
        codes, count = key_codes([_whole(table.column(f"key{i}")) for i in range(keys)])
    if (found := places(codes, count, end)) is not None:
        return Sorted(_at_places(table, found[0]), found[1])
    ids = _whole(table.column("id")) if "id" in table.column_names else None
    order, offsets, ties = total_order(codes, count, start, end, ids, given_order(table))
    if ties and ids is None:
        raise TiedError
    if ties:
        table = with_copies(table, order, codes, end)
    del start, end, codes
    names, taken, rows = table.column_names, [], pa.array(order)
    while table.num_columns:
        column = _whole(table.column(0))
        table = table.remove_column(0)
        taken.append(column.take(rows))
    return Sorted(pa.table(taken, names), offsets)


def given_order(table: pa.Table) -> pa.Array | None:
    """The column that orders rows of the same time, if there is one."""
    return _whole(table.column("order")) if "order" in table.column_names else None


def _at_places(table: pa.Table, place: Array) -> pa.Table:
    """The table with each row moved to its place."""
    names, sorted_columns, rows = table.column_names, [], None
    while table.num_columns:
        column = table.column(0)
        table = table.remove_column(0)
        if pa.types.is_integer(column.type) and not column.null_count:
            sorted_columns.append(pa.array(placed(column, place)))
            continue
        if rows is None:
            order = np.empty(len(place), np.int64)
            order[place] = np.arange(len(place))
            rows = pa.array(order)
        sorted_columns.append(_whole(column).take(rows))
    return pa.table(sorted_columns, names)


def _joined(batches: list[pa.RecordBatch]) -> pa.Table:
    """Join batches into one table; their types are text or dictionaries that differ from batch to batch."""
    if len({batch.schema for batch in batches}) > 1:
        batches = [_coded(batch) for batch in batches]
    return pa.Table.from_batches(batches).unify_dictionaries()


def _coded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with its types dictionary-encoded, with indices of one width however many there are."""
    at = batch.schema.get_field_index("type")
    column = batch.column(at)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), column.dictionary)
    return batch.set_column(at, "type", column)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """The column as a single array. More than 2 GB of text fit one array only with wide offsets."""
    if (wide := _wide(column.type)) != column.type and column.nbytes > _WIDE:
        column = column.cast(wide)
    # Combining would copy a single piece.
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _wide(type: pa.DataType) -> pa.DataType:
    if pa.types.is_string(type):
        return pa.large_string()
    if pa.types.is_binary(type):
        return pa.large_binary()
    if pa.types.is_list(type):
        return pa.large_list(_wide(type.value_type))
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_wide(field.type)) for field in type])
    return type


def numbers(table: pa.Table, name: str) -> Array:
    """A column of whole numbers as an array."""
    return _whole(table.column(name)).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def batch_of(plan: Plan, table: pa.Table, rows: Array | None, keys: int, index: Index | None = None) -> Batch:
    """The given rows of a partition, in this order, or all of them, as input for the kernels."""
    part = table if rows is None else table.take(pa.array(rows))
    which, bits = _signatures(part, plan.words) if index is None else signatures(index, part)
    reported = [name for name in part.column_names if name in _REPORTED or name.startswith("field:")]
    end = numbers(part, "end")
    return Batch(
        part.select(reported),
        [equal_alike(_whole(part.column(f"key{i}"))) for i in range(keys)],
        numbers(part, "start") if "start" in part.column_names else end,
        end,
        None,
        bits,
        [_whole(part.column(travelling("value", name))) for name in plan.columns],
        ordered=True,
        signatures=which,
    )


def _signatures(part: pa.Table, words: int) -> tuple[Array, Array]:
    """The signature number of each row, and the bits of each signature."""
    if words == 1 and part.schema.field("bits0").type == pa.int8():
        return narrow_signatures(numbers(part, "bits0"))
    return distinct_rows(bits_of(part, words))


def bits_of(part: pa.Table, words: int) -> Array:
    """The bits of all predicates: uint64 (rows, words)."""
    columns = [numbers(part, f"bits{word}").astype(np.int64).view(np.uint64) for word in range(words)]
    return np.stack(columns, axis=1)


def with_copies(table: pa.Table, order: Array, codes: Array, end: Array) -> pa.Table:
    """Add a column `copy` that numbers rows that are equal in every column: 0 for the first, 1 for the next, …

    Such rows share an id, and are neighbours in the order. Usually there are none, and no column.
    """
    same = same_moment(order, codes, end)
    tied = np.flatnonzero(same)
    if not len(tied):
        return table
    ids = _whole(table.column("id"))
    equal = pc.equal(ids.take(pa.array(order[tied])), ids.take(pa.array(order[tied + 1]))).fill_null(False)
    same[tied] = equal.to_numpy(zero_copy_only=False)
    if not same.any():
        return table
    place = np.arange(len(order))
    first = np.maximum.accumulate(np.where(np.concatenate([[True], ~same]), place, 0))
    copies = np.empty(len(order), np.int64)
    copies[order] = place - first
    return table.append_column("copy", pa.array(copies))
