"""Several jobs in one query over a stream that is read once (see `runtime.stream.fan_out`), with one state store.

Workers load this module for `JobsProcessor`, so it imports nothing that compiles patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.runtime.stream.arrivals import ArrivalJob
from tocsin.runtime.stream.fan_out import GATHERED, Gathering, gather, passed
from tocsin.runtime.stream.tally import OUTPUT, packed_output
from tocsin.runtime.transport.pack import UNIT_BYTES
from tocsin.spark.batch.shard_numbers import shard_places
from tocsin.spark.stream.shard_head import Home
from tocsin.spark.stream.shard_processor import ShardProcessor, arrow_frame
from tocsin.spark.stream.state_store import Memory
from tocsin.spark.stream.stream_query import use_rocksdb

SharedJob = tuple[ArrivalJob, ShardProcessor]  # how a job's events are sent to its shards, and what those do


def run_jobs(events: DataFrame, jobs: Sequence[SharedJob], shards: int, dead: str) -> DataFrame:
    """Turn the input of `runtime.stream.fan_out` into rows `kind, name, rows, packed` (see `runtime.stream.tally`)."""
    use_rocksdb(events.sparkSession)
    places = [shard_places(shards, number)[: arriving.shards] for number, (arriving, _) in enumerate(jobs)]
    tallied = shard_places(shards, len(jobs))
    what = Gathering(tuple(arriving for arriving, _ in jobs), tuple(map(tuple, places)), tuple(tallied), dead)
    homes = {place: Home(job, shard) for job, own in enumerate(places) for shard, place in enumerate(own)}
    processor = JobsProcessor(tuple(processor for _, processor in jobs), homes)
    return (
        events.mapInArrow(partial(gather, what), from_arrow_schema(GATHERED))
        .groupBy("place")
        .transformWithStateInPandas(processor, from_arrow_schema(OUTPUT), "append", "none")
    )


class JobsProcessor(StatefulProcessor):
    """Runs each job's processor for the places of its shards; passes the tally through."""

    def __init__(self, jobs: tuple[ShardProcessor, ...], homes: Mapping[int, Home]) -> None:
        self._jobs = jobs
        self._homes = homes  # the job and the shard of each place

    def init(self, handle: StatefulProcessorHandle) -> None:
        memory = Memory(handle)  # shared by all jobs, because a place belongs to one job only
        for job in self._jobs:
            job.remember_in(memory)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        home = self._homes.get(int(key[0]))
        if home is None:
            yield from (_frame(passed(packed)) for frame in rows for packed in frame["packed"])
            return
        yield from _joined(packed_output(home.job, self._jobs[home.job].take_in(home, rows)))


def _joined(rows: Iterator[pa.RecordBatch]) -> Iterator[pd.DataFrame]:
    """Join rows into few frames, none much larger than Spark handles well."""
    waiting: list[pa.RecordBatch] = []
    for row in rows:
        waiting.append(row)
        if sum(one.nbytes for one in waiting) >= UNIT_BYTES:
            yield _frame(pa.Table.from_batches(waiting))
            waiting = []
    if waiting:
        yield _frame(pa.Table.from_batches(waiting))


def _frame(rows: pa.Table) -> pd.DataFrame:
    return arrow_frame({name: rows.column(name).combine_chunks() for name in rows.column_names})
