"""Several jobs in one query over a stream that is read once (see `runtime.gather`): their shards share a state store.

Workers load this module for `JobsProcessor`; so it imports nothing that compiles patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.runtime.arrivals import ArrivalJob
from tocsin.runtime.gather import GATHERED, Gathering, gather, passed
from tocsin.runtime.tally import TOLD, tell
from tocsin.spark.memory import Home, Memory
from tocsin.spark.places import shard_places
from tocsin.spark.stream import use_rocksdb


def run_jobs(
    events: DataFrame,
    jobs: Sequence[tuple[ArrivalJob, JobProcessor]],
    shards: int,
    dead: str,
) -> DataFrame:
    """Rows as `runtime.gather` takes them become rows `kind, name, rows, packed` (see `runtime.tally`)."""
    use_rocksdb(events.sparkSession)
    places = [shard_places(shards, number)[: arriving.shards] for number, (arriving, _) in enumerate(jobs)]
    tallied = shard_places(shards, len(jobs))
    what = Gathering(tuple(arriving for arriving, _ in jobs), tuple(map(tuple, places)), tuple(tallied), dead)
    homes = {place: Home(job, shard) for job, own in enumerate(places) for shard, place in enumerate(own)}
    processor = JobsProcessor(tuple(processor for _, processor in jobs), homes)
    return (
        events.mapInArrow(partial(gather, what), from_arrow_schema(GATHERED))
        .groupBy("place")
        .transformWithStateInPandas(processor, from_arrow_schema(TOLD), "append", "none")
    )


class JobProcessor(Protocol):
    """The processor of one job, which does not keep its memory by itself."""

    def remember_in(self, memory: Memory) -> None:
        """Keep everything there."""

    def take_in(self, home: Home, rows: Iterator[Any]) -> pd.DataFrame:
        """What a shard tells of the rows of a micro-batch."""


class JobsProcessor(StatefulProcessor):
    """Lets the processor of each job do what is to be done in the places of its shards; the tally passes through."""

    def __init__(self, jobs: tuple[JobProcessor, ...], homes: Mapping[int, Home]) -> None:
        self._jobs = jobs
        self._homes = homes  # the job and the shard of each place

    def init(self, handle: StatefulProcessorHandle) -> None:
        memory = Memory(handle)  # one for all: a place is of one job only
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
            yield from (passed(packed).to_pandas() for frame in rows for packed in frame["packed"])
            return
        found = self._jobs[home.job].take_in(home, rows)
        batch = pa.RecordBatch.from_pandas(found, preserve_index=False)
        yield from (told.to_pandas() for told in tell(home.job, [batch]))
