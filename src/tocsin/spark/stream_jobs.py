"""Several jobs in one query over a stream that is read once (see `runtime.gather`): their shards share a state store.

Workers load this module for `JobsProcessor`; so it imports nothing that compiles patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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

from tocsin.runtime.arrivals import ArrivalJob
from tocsin.runtime.gather import GATHERED, Gathering, gather, passed
from tocsin.runtime.tally import TOLD, tell
from tocsin.spark.places import shard_places
from tocsin.spark.stream import use_rocksdb


def run_jobs(
    events: DataFrame,
    jobs: Sequence[tuple[ArrivalJob, StatefulProcessor]],
    shards: int,
    dead: str,
) -> DataFrame:
    """Rows as `runtime.gather` takes them become rows `kind, name, rows, packed` (see `runtime.tally`)."""
    use_rocksdb(events.sparkSession)
    places = [shard_places(shards, number)[: arriving.shards] for number, (arriving, _) in enumerate(jobs)]
    tallied = shard_places(shards, len(jobs))
    what = Gathering(tuple(arriving for arriving, _ in jobs), tuple(map(tuple, places)), tuple(tallied), dead)
    homes = {place: (job, shard) for job, own in enumerate(places) for shard, place in enumerate(own)}
    processor = JobsProcessor(tuple(processor for _, processor in jobs), homes)
    return (
        events.mapInArrow(partial(gather, what), from_arrow_schema(GATHERED))
        .groupBy("place")
        .transformWithStateInPandas(processor, from_arrow_schema(TOLD), "append", "none")
    )


class JobsProcessor(StatefulProcessor):
    """Lets the processor of each job do what is to be done in the places of its shards; the tally passes through."""

    def __init__(
        self, processors: tuple[StatefulProcessor, ...], homes: Mapping[int, tuple[int, int]]
    ) -> None:
        self._processors = processors
        self._homes = homes  # the job and the shard of each place

    def init(self, handle: StatefulProcessorHandle) -> None:
        variables: Any = _Variables(handle)
        for processor in self._processors:
            processor.init(variables)

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
        job, shard = home
        found = self._processors[job].handleInputRows((shard,), rows, timerValues)
        batches = (pa.RecordBatch.from_pandas(frame, preserve_index=False) for frame in found)
        yield from (told.to_pandas() for told in tell(job, batches))


class _Variables:
    """The variables of a state, each made once, however many ask for it: a place is of one job only."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._made: dict[str, Any] = {}

    def getValueState(self, name: str, schema: str) -> Any:  # noqa: N802
        return self._once(name, lambda: self._handle.getValueState(name, schema))

    def getMapState(self, name: str, key: str, value: str) -> Any:  # noqa: N802
        return self._once(name, lambda: self._handle.getMapState(name, key, value))

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]
