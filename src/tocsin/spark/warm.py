"""Detect in a small file as workers do, but without Spark, so that every kernel they need is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.automata.tokens.compile import compile
from tocsin.events import Catalog
from tocsin.languages.registry import parse
from tocsin.runtime.batch.chain_rows import find_links, follow_links
from tocsin.runtime.batch.leftmost_chain import chained
from tocsin.runtime.batch.parquet_chunks import detect_laid_out
from tocsin.runtime.batch.partition import Job, detect_chunks, detect_shards
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.program import from_bytes, to_bytes
from tocsin.runtime.read.parquet_events import ReadJob, read_events
from tocsin.runtime.results.match_rows import match_schema
from tocsin.spark.events.arrow_predicates import Lookup, arrow_predicates
from tocsin.spark.parquet.read_plan import Cluster, assign_tasks, groups_of, recipe_for
from tocsin.spark.query import EventColumns, Query
from tocsin.spark.session.run_folder import passing_folder

_EVENTS = 600  # enough for several chunks, and chains across them
_KEYS = {"int": pa.int32(), "long": pa.int64(), "text": pa.string(), "none": None}
_PATTERNS = (
    "([A], [B][C])_{T1=9s} with matches = leftmost",
    "([A], [B(v > 0.5)][C])_{T1=9s} with matches = next",
    "([A], [B][C])_{T1=9s}",
    "([A], [B];[C])_{T1=9s}",  # whose partial matches can escape the window
    "([A], [B][C])_{T1=9s} with matches = any, take = count",
)
_KINDS = {"k": "int", "v": "float"}


def rehearse() -> int:
    """Detect with the usual types of keys and without one, with and without a shuffle; return the number of matches."""
    found = 0
    with passing_folder("warm") as folder:
        for kind, type in _KEYS.items():
            path = folder / f"{kind}.parquet"
            pq.write_table(_events(type or pa.int64()), path, row_group_size=_EVENTS // 6)
            for text in _PATTERNS:
                for reading, job in _readings(path, text, type):
                    found += _detect(reading, job)
    return found


def _events(key: pa.DataType) -> pa.Table:
    numbers = list(range(_EVENTS))
    return pa.table(
        {
            "time": pa.array([number * 500_000 for number in numbers], pa.timestamp("us", "UTC")),
            "type": pa.array(["ABCD"[number * 7 % 11 % 4] for number in numbers]),
            "k": pa.array([number % 3 for number in numbers]).cast(key),
            "v": pa.array([number % 10 / 10 for number in numbers]),
        }
    )


class _Described(NamedTuple):
    """Events of which only the columns are known."""

    schema: T.StructType


def _readings(path: Path, text: str, key: pa.DataType | None) -> Iterator[tuple[ReadJob, Job]]:
    catalog = Catalog(common=_KINDS)
    compiled = compile([parse(text, catalog=catalog)], points=True)
    schema: T.StructType = from_arrow_schema(pq.read_schema(path))
    keys = () if key is None else ("k",)
    columns = EventColumns("type", "", ("time", "time"), None, keys, None, None)
    lookup = arrow_predicates(compiled, catalog, schema, columns)
    assert isinstance(lookup, Lookup), lookup
    of_matches = match_schema([] if key is None else [pa.field("k", key)], None).serialize().to_pybytes()
    job = Job(to_bytes(compiled.plan), of_matches, len(keys), MAX_TOKENS)
    query = Query(_Described(schema), columns, compiled, catalog)
    recipe = recipe_for(query, lookup, "UTC")
    groups = groups_of(recipe, [str(path)], schema)
    for cut in ("key", None):
        yield assign_tasks(recipe, groups, replace(query, cut=cut), Cluster(2, 2)), job


def _detect(reading: ReadJob, job: Job) -> int:
    count = len(reading.tasks if reading.layout is None else reading.layout.chunks)
    tasks = [pa.record_batch([pa.array(range(count))], ["id"])]
    if reading.layout is not None:
        found = detect_laid_out(reading, job, tasks)
    else:
        found = _detect_packed(reading, job, read_events(reading, tasks))
    return sum(batch.num_rows for batch in found)


def _detect_packed(reading: ReadJob, job: Job, packed: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Do without Spark what `batch.run.detect_packed` does with it."""
    if reading.overlap is None:
        return detect_shards(job, packed)
    if chained(from_bytes(job.plan)):
        return follow_links(job, find_links(job, packed))
    return detect_chunks(job, packed)
