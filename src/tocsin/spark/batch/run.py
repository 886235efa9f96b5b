"""Run a query by its route: one task receives all events of a key, or of a chunk, and calls the kernels.

`route` decides which of these functions is used. All of them find the same matches.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.runtime import program as rt
from tocsin.runtime.batch.chain_rows import find_links, follow_links
from tocsin.runtime.batch.leftmost_chain import chained
from tocsin.runtime.batch.looked_up_events import (
    detect_found,
    pack_found_by_key,
    pack_found_by_time,
)
from tocsin.runtime.batch.parquet_chunks import detect_laid_out
from tocsin.runtime.batch.partition import Job, detect_chunks, detect_partition, detect_shards
from tocsin.runtime.predicates.lookup import WorkerLookup
from tocsin.runtime.read.parquet_events import BIT_WORDS, ReadJob, read_events
from tocsin.runtime.transport.pack import PACKED, pack_by_key
from tocsin.runtime.transport.time_chunks import pack_by_time
from tocsin.spark.batch.shard_numbers import shard_places
from tocsin.spark.batch.time_cuts import cut_moments
from tocsin.spark.events.arrow_predicates import Lookup, asked_columns
from tocsin.spark.events.prepare import (
    has_no_type,
    is_relevant,
    is_unreadable,
    prepare,
    readable,
    without_length,
)
from tocsin.spark.events.worker_job import worker_job
from tocsin.spark.query import Query


def prepared_rows(query: Query, lookup: Lookup | None) -> DataFrame:
    """Return the rows to send to workers, with the columns a look-up needs or, without one, the bits Spark computed."""
    if lookup is None:
        return without_length(_answered(query), query.columns)
    prepared = prepare(query, asked=asked_columns(lookup, query))
    if query.all_relevant:
        used = prepared.drop("unreadable")
    elif query.unreadable == "fail":
        used = prepared  # where predicates are looked up, it is known which rows matter
    else:
        used = readable(prepared, query.unreadable)
    return without_length(used, query.columns)


def _answered(query: Query) -> DataFrame:
    """Return the relevant rows with their bits. Spark drops irrelevant rows before it prepares anything."""
    if query.all_relevant:
        return prepare(query).drop("unreadable")
    asked = is_relevant(query)
    # What is missing matters only in rows that a pattern looks at.
    wanted = asked | has_no_type(query) if query.unreadable == "fail" else asked & ~is_unreadable(query)
    used = query.table.where(wanted)
    return readable(prepare(replace(query, events=used)), query.unreadable)


def detect_in_place(query: Query, lookup: Lookup | None, together: DataFrame) -> DataFrame:
    """Return the matches in prepared rows that are already partitioned by key."""
    job, schema = _job(query, lookup)
    if lookup is None:
        return together.mapInArrow(partial(detect_partition, job), from_arrow_schema(schema))
    return together.mapInArrow(partial(detect_found, job, _asked(lookup)), from_arrow_schema(schema))


def detect_by_key(query: Query, lookup: Lookup | None, rows: DataFrame) -> DataFrame:
    """Shuffle `prepared_rows` by shard and return the matches; without keys, one task gets all rows."""
    job, schema = _job(query, lookup)
    # Events that must stay together form one shard, but all cores read and pack them.
    shards = query.partitions if job.keys else 1
    pack: Callable[..., object] = partial(pack_by_key, shards, job.keys)
    if lookup is not None:
        pack = partial(pack_found_by_key, _asked(lookup), shards, job.keys)
    packed = rows.mapInArrow(_noting(query, lookup, pack), from_arrow_schema(PACKED))  # type: ignore[arg-type]
    return detect_packed(packed, job, schema, shards)


def detect_by_time(query: Query, lookup: Lookup | None, rows: DataFrame, overlap: int) -> DataFrame:
    """Shuffle `prepared_rows` by chunk and return the matches; rows that the next chunk needs go there as well."""
    job, schema = _job(query, lookup)
    shards = query.partitions
    bounded, moments = cut_moments(query, rows, shards, overlap)
    pack: Callable[..., object] = partial(pack_by_time, overlap, moments)
    if lookup is not None:
        pack = partial(pack_found_by_time, _asked(lookup), overlap, moments)
    packed = bounded.mapInArrow(_noting(query, lookup, pack), from_arrow_schema(PACKED))  # type: ignore[arg-type]
    return detect_packed(packed, job, schema, shards, chunks=True)


def detect_read(query: Query, reading: ReadJob) -> DataFrame:
    """Return the matches in Parquet files whose row groups the tasks read with Arrow."""
    job, schema = worker_job(query)
    if reading.predicates.words > BIT_WORDS:
        job = job._replace(predicates=pickle.dumps(reading.predicates, protocol=5))
    count = len(reading.tasks if reading.layout is None else reading.layout.chunks)
    tasks = query.spark.range(0, count, 1, max(1, count))
    seen = query.types_seen
    if reading.layout is not None:
        detect: Callable[..., object] = partial(detect_laid_out, reading, job)
        if seen is not None:
            detect = seen.reading(detect_laid_out, reading, count, job)
        return tasks.mapInArrow(detect, from_arrow_schema(schema))  # type: ignore[arg-type]
    read: Callable[..., object] = partial(read_events, reading)
    if seen is not None:
        read = seen.reading(read_events, reading, count)
    packed = tasks.mapInArrow(read, from_arrow_schema(PACKED))  # type: ignore[arg-type]
    return detect_packed(packed, job, schema, reading.shards, chunks=reading.overlap is not None)


def detect_packed(
    packed: DataFrame, job: Job, schema: pa.Schema, shards: int, *, chunks: bool = False
) -> DataFrame:
    """Return the matches in packed rows (see `runtime.transport.pack`); one task gets all values of a shard.

    Args:
        packed: rows `shard int, packed binary`.
        schema: the schema of the matches.
        chunks: whether a shard is a chunk of the time axis, and not a group of keys.
    """
    placed = _by_shard(packed, shards)
    if chunks and chained(rt.from_bytes(job.plan)):
        links = placed.mapInArrow(partial(find_links, job), from_arrow_schema(PACKED))
        return links.repartition(1).mapInArrow(partial(follow_links, job), from_arrow_schema(schema))
    detect = partial(detect_chunks if chunks else detect_shards, job)
    return placed.mapInArrow(detect, from_arrow_schema(schema))


def _job(query: Query, lookup: Lookup | None) -> tuple[Job, pa.Schema]:
    """Return the worker job; with a look-up, it includes the predicate index that turns codes into bits."""
    job, schema = worker_job(query)
    return (
        job if lookup is None else job._replace(predicates=pickle.dumps(lookup.index, protocol=5))
    ), schema


def _noting(query: Query, lookup: Lookup | None, pack: Callable[..., object]) -> Callable[..., object]:
    """Return the packing of rows, with a report of the types that occur if somebody asks and Spark computed the bits."""
    if query.types_seen is None or lookup is not None:
        return pack
    found: Callable[..., object] = query.types_seen.packing(pack, query.compiled.plan.words)
    return found


def _asked(lookup: Lookup) -> WorkerLookup:
    return WorkerLookup(lookup.index, tuple(lookup.columns))


def _by_shard(packed: DataFrame, shards: int) -> DataFrame:
    """Repartition the values so that each shard is in one partition."""
    place = F.element_at(F.lit(shard_places(shards)), F.col("shard") + 1)
    placed = packed.select(place.alias("place"), "packed")
    if shards == int(str(packed.sparkSession.conf.get("spark.sql.shuffle.partitions"))):
        return placed.repartition("place")  # Spark may then coalesce partitions that turn out small
    return placed.repartition(shards, "place")
