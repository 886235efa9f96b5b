"""Detection in a stream: each shard of keys remembers what it needs in Spark's state store, and answers as time passes.

Workers load this module for `ShardProcessor`; so it imports nothing that compiles patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.errors import InputError
from tocsin.events import parse_duration
from tocsin.runtime.pack import from_ipc, pack, to_ipc, unpack
from tocsin.runtime.shard import LONG_AGO, ShardJob, advance

if TYPE_CHECKING:
    from tocsin.automata.compile import Compiled
    from tocsin.spark.columns import EventColumns

_MILLISECOND = 1000
_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def with_watermark(prepared: DataFrame, delay: str) -> DataFrame:
    """Prepared rows with a column `moment`, by which Spark tells how far time has come: `delay` behind the latest."""
    microseconds = parse_duration(delay)
    if microseconds is None:
        raise InputError("bad-option", f"delay cannot be {delay!r}", hint="a duration, as in 10s, 5min or 1h")
    moments = prepared.withColumn("moment", F.timestamp_micros("end"))
    return moments.withWatermark("moment", f"{microseconds} microseconds")


def after_watermark(condition: Column) -> Column:
    """The condition, which Spark now checks after it has looked at the time of a row.

    Otherwise it would move the filter down, and events that no pattern looks at would not let time go on. The second half
    is never true, but Spark cannot know that.
    """
    return condition | (F.col("moment") < F.timestamp_micros(F.lit(-(2**62))))


def run_stream(
    used: DataFrame,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
    shards: int | None,
    late: str,
) -> DataFrame:
    """The matches in prepared rows of a stream that has its watermark; `job.run` is the same for a table."""
    # Imported here, because it brings the compiler along.
    from tocsin.spark.job import job_of

    job, schema = job_of(used, events, columns, compiled, carried, limit)
    spark = used.sparkSession
    _use_rocksdb(spark)
    count = int(str(spark.conf.get("spark.sql.shuffle.partitions"))) if shards is None else shards
    if count < 1:
        raise InputError("bad-option", f"shards cannot be {count}", hint="1 or more")
    keys = [F.col(f"key{i}") for i in range(job.keys)]
    shard = F.pmod(F.hash(*keys), F.lit(count)) if keys else F.lit(0)
    found = (
        used.drop("moment")
        .withColumn("shard", shard)
        .mapInArrow(pack, "shard int, packed binary")
        .groupBy("shard")
        .transformWithStateInPandas(
            ShardProcessor(ShardJob(job, count, late)), "packed binary", "append", "eventtime"
        )
    )
    return found.mapInArrow(unpack, from_arrow_schema(schema))


def _use_rocksdb(spark: SparkSession) -> None:
    """The settings that state in Python needs, or that suit it; what the user has set stays."""
    for name, value in _SETTINGS.items():
        if spark.conf.get(name, None) is None:
            spark.conf.set(name, value)


class ShardProcessor(StatefulProcessor):
    """Keeps the memory of a shard in Spark's state store, and one timer for what is due next."""

    def __init__(self, job: ShardJob) -> None:
        self._job = job

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._memory = handle.getValueState("memory", "packed binary")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        arrived = pa.concat_tables(from_ipc(packed) for frame in rows for packed in frame["packed"])
        yield from self._advance(arrived, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        yield from self._advance(None, timerValues)

    def _advance(self, arrived: pa.Table | None, times: TimerValues) -> Iterator[pd.DataFrame]:
        # Spark says 0 as long as it has not seen an event.
        watermark = times.getCurrentWatermarkInMs() * _MILLISECOND or LONG_AGO
        before = self._memory.get()
        memory, matches, wakeup = advance(
            self._job, None if before is None else bytes(before[0]), arrived, watermark
        )
        self._memory.update((memory,))
        self._wake_at(wakeup)
        if matches.num_rows:
            yield pd.DataFrame({"packed": [to_ipc(matches)]})

    def _wake_at(self, wakeup: int | None) -> None:
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        if wakeup is not None:
            # Rounded up, as the watermark is rounded down. A timer at 0, where the watermark begins, would never rest.
            self._handle.registerTimer(max(1, -(-wakeup // _MILLISECOND)))
