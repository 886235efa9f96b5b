"""Detection in the stream of a pipeline: beside the matches, the events that came too late, and figures of the state.

Workers load this module; so it imports nothing that compiles patterns.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import TimerValues

from tocsin.events import format_duration
from tocsin.runtime.pack import pack, to_ipc
from tocsin.runtime.shard import LONG_AGO, ShardJob, advance
from tocsin.runtime.tally import FIGURES, LATE, MATCH
from tocsin.spark.stream import ShardProcessor, _use_rocksdb, after_watermark, with_watermark

if TYPE_CHECKING:
    from tocsin.automata.compile import Compiled
    from tocsin.spark.columns import EventColumns


@dataclass(frozen=True, slots=True)
class Following:
    """How a stream is followed: the delay in microseconds, what becomes of late events, the number of shards."""

    delay: int
    late: str
    shards: int


def follow(
    prepared: DataFrame,
    wanted: Column,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
    following: Following,
) -> DataFrame:
    """Rows `kind, packed`: matches, late events with their `reason`, and figures of each shard that did something.

    Args:
        prepared: rows as `job.prepare` makes them, also of events that no pattern looks at: they tell the time.
        wanted: whether some pattern looks at a row.
    """
    # Imported here, because it brings the compiler along.
    from tocsin.spark.job import job_of

    job, _ = job_of(prepared, events, columns, compiled, carried, limit)
    _use_rocksdb(prepared.sparkSession)
    timed = with_watermark(prepared, format_duration(following.delay)).where(after_watermark(wanted))
    keys = [F.col(f"key{i}") for i in range(job.keys)]
    shard = F.pmod(F.hash(*keys), F.lit(following.shards)) if keys else F.lit(0)
    processor = TellingProcessor(ShardJob(job, following.shards, following.late))
    return (
        timed.drop("moment", "wanted", "unreadable")
        .withColumn("shard", shard)
        .mapInArrow(pack, "shard int, packed binary")
        .groupBy("shard")
        .transformWithStateInPandas(processor, "kind string, packed binary", "append", "eventtime")
    )


class TellingProcessor(ShardProcessor):
    """A shard that tells of the events that came too late, and of itself."""

    def _advance(self, arrived: pa.Table | None, times: TimerValues) -> Iterator[pd.DataFrame]:
        watermark = times.getCurrentWatermarkInMs() * 1000 or LONG_AGO
        before = self._memory.get()
        memory = None if before is None else bytes(before[0])
        until = LONG_AGO if memory is None else int(pickle.loads(memory)[1])
        late = None
        if arrived is not None and self._job.late != "fail":
            late = arrived.filter(pc.less_equal(arrived.column("end"), until))
        job = self._job if self._job.late == "fail" else self._job._replace(late="drop")
        memory, matches, wakeup = advance(job, memory, arrived, watermark)
        self._memory.update((memory,))
        self._wake_at(wakeup)
        told = [(MATCH, matches)] if matches.num_rows else []
        if late is not None and late.num_rows:
            reason = f"everything up to {np.datetime64(until, 'us')}Z was decided"
            told.append((LATE, late.append_column("reason", pa.array([reason] * late.num_rows))))
        figures = {
            "until": max(until, watermark),
            "bytes": len(memory),
            "arrived": 0 if arrived is None else arrived.num_rows,
            "late": 0 if late is None else late.num_rows,
        }
        told.append(
            (FIGURES, pa.table({name: pa.array([value], pa.int64()) for name, value in figures.items()}))
        )
        yield pd.DataFrame(
            {"kind": [kind for kind, _ in told], "packed": [to_ipc(table) for _, table in told]}
        )
