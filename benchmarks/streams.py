"""How fast does a stream catch up on a backlog of files, and what does detection add to a pass through Python without state?

Both run on Structured Streaming over the same Parquet files, one after the other in one session; the first micro-batches of
each warm up and do not count. The matches are held against those of the same events as a table.

    python benchmarks/streams.py --events 6000000 --keys 10000 --workloads W1,W3
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import tocsin
from tocsin.bench.events import EventSet
from tocsin.bench.workloads import WORKLOADS
from tocsin.spark.checkpoint import read_state

WARM = 2  # micro-batches that do not count
SCHEMA = "key int, ts long, type string, v double"


def main() -> int:
    """Measure and print; 1 if a stream found something else than the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=6_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=1_000_000, help="events in a micro-batch")
    parser.add_argument("--workloads", default="W1,W3")
    options = parser.parse_args()
    spark = tocsin.local_session("tocsin-streams", cores=2, shuffle_partitions=2)
    wrong = False
    with tempfile.TemporaryDirectory(prefix="tocsin-streams-") as name:
        folder = Path(name)
        files = write_files(EventSet(options.events, options.keys), folder / "in", options.batch)
        passed = rate(run(spark, folder, "pass", through_python(read(spark, folder))), options.batch)
        print(json.dumps({"stream": "pass", "files": files, "events_per_second": passed}), flush=True)
        for workload in options.workloads.split(","):
            patterns = WORKLOADS[workload].patterns()
            asked = {"key": "key", "time": "ts", "time_unit": "ms", "attributes": []}
            told = tocsin.detect(read(spark, folder), patterns, delay="1s", shards=2, **asked)
            speed = rate(run(spark, folder, workload, told), options.batch)
            # The last second is not decided yet.
            last = spark.read.parquet(str(folder / "in")).agg({"ts": "max"}).first()[0]
            table = spark.read.parquet(str(folder / "in")).where(f"ts <= {last - 1000}")
            right = tocsin.detect(table, patterns, **asked).select("match_id")
            found = spark.read.parquet(str(folder / f"{workload}-out")).select("match_id")
            same = sorted(right.collect()) == sorted(found.collect())
            wrong |= not same
            state = read_state(spark, folder / f"{workload}-checkpoint")
            shown = {
                "stream": workload,
                "events_per_second": speed,
                "of_pass": round(speed / passed, 2),
                "matches": found.count(),
                "agrees": same,
                "keys": sum(state.column("keys").to_pylist()),
                "state_mb": round(sum(state.column("bytes").to_pylist()) / 2**20, 1),
            }
            print(json.dumps(shown), flush=True)
    spark.stop()
    return 1 if wrong else 0


def write_files(events: EventSet, folder: Path, batch: int) -> int:
    """The events as files of one micro-batch each, in the order of time."""
    folder.mkdir()
    table = events.table()
    for number, first in enumerate(range(0, table.num_rows, batch)):
        file = folder / f"{number:05d}.parquet"
        pq.write_table(table.slice(first, batch), file, row_group_size=batch // 4)
        os.utime(file, (1_000 + number, 1_000 + number))  # files are taken by their times
    return number + 1


def read(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))


def through_python(events: DataFrame) -> DataFrame:
    """The same rows through a Python step that lets few of them out."""

    def few(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.slice(0, 1)

    return events.select("key", "ts", "type", "v").mapInArrow(few, SCHEMA)


def run(spark: SparkSession, folder: Path, name: str, told: DataFrame) -> list[dict[str, Any]]:
    """Run a query over all files; what Spark says of each micro-batch."""
    query = (
        told.writeStream.option("checkpointLocation", str(folder / f"{name}-checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / f"{name}-out"), format="parquet")
    )
    query.awaitTermination()
    return [json.loads(progress.json) for progress in query.recentProgress]


def rate(batches: list[dict[str, Any]], size: int) -> int:
    """Events a second, from the median of whole micro-batches that are not the first."""
    whole = [one["durationMs"]["triggerExecution"] for one in batches if one["numInputRows"] == size][WARM:]
    return round(size / median(whole) * 1000)


if __name__ == "__main__":
    sys.exit(main())
