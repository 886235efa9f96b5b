"""The driver of `test_cluster`: finds matches on the cluster it is told, and waits in the middle until a worker was killed.

A program of its own, because a process has one Spark, and that of the tests is local.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PATTERNS = {
    "Pair": "([A], [B])_{T1=20s}",
    "Silence": "([A], [T1 in {T1, B}])_{T1=5s}",
}
PARTITIONS = 6
PATIENCE = 120  # seconds


def events(spark: SparkSession) -> DataFrame:
    """Events of fifty keys, the same on every Spark."""
    return spark.range(0, 30_000, 1, PARTITIONS).selectExpr(
        "id",
        "case pmod(hash(id), 5) when 0 then 'A' when 1 then 'B' else 'C' end as type",
        "timestamp_seconds(id) as time",
        "concat('device ', pmod(hash(id, 7), 50)) as device",
    )


def matches(frame: DataFrame, *, key: str | None) -> list[str]:
    """The ids of everything that is found, and where it ends."""
    import tocsin

    found = tocsin.detect(frame, PATTERNS, tocsin.Columns(id="id"), key=key)
    return sorted(f"{row.match_id} {row.pattern} {row.end}" for row in found.collect())


def main(master: str, folder: Path) -> None:
    """Find matches by key, and wait in the later half of the first tasks; then over all events."""
    from pyspark import TaskContext

    from tocsin.spark.session.session import local_session

    def waits(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = TaskContext.get()
        assert task is not None
        (folder / "begun" / f"{task.partitionId()} {uuid.uuid4().hex}").touch()
        deadline = time.monotonic() + PATIENCE
        # The first tasks get done on both workers; so the one that dies takes finished work with it.
        while task.partitionId() >= PARTITIONS // 2 and not (folder / "killed").exists():
            if time.monotonic() > deadline:
                raise TimeoutError("no worker was killed")
            time.sleep(0.05)
        yield from batches

    spark = local_session(
        "cluster",
        shuffle_partitions=4,
        extra_conf={
            "spark.master": master,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "100s",
            "spark.cores.max": "2",
        },
    )
    table = events(spark)
    by_key = matches(table.mapInArrow(waits, table.schema), key="device")
    found = {"by_key": by_key, "over_all": matches(table, key=None)}
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
