"""How fast does a stream catch up on a backlog, compared with a stateless pass through Python and with Flink?

The streams run on Structured Streaming over the same events, one after the other in one session; the first micro-batches of
each warm up and do not count. The matches are compared with those of the same events as a table. Flink's MATCH_RECOGNIZE in
streaming mode then runs on the same cores, over events of the same kind from CSV files, if it is installed
(`tocsin bench --install-peers`). Its figure includes its start-up, so it always gets a million events, whatever we get.

    python benchmarks/streams.py --events 6000000 --keys 10000 --workloads W1,W3
    python benchmarks/streams.py --workloads many_1,many_1000
    python benchmarks/streams.py --source kafka
    python benchmarks/streams.py --events 40000000 --keys 1000000 --workloads W1
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import tocsin
from tocsin.bench.engines import in_flink
from tocsin.bench.events import EventSet
from tocsin.bench.job import Job
from tocsin.bench.peers import flink_python
from tocsin.bench.workloads import MINUTE, Workload, workload
from tocsin.spark.brokers.kafka import KafkaInput, KafkaServer, stream_kafka
from tocsin.spark.brokers.values import read_json
from tocsin.spark.stream.inspect import read_state

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.brokers import make_certificates
from support.kafka_node import connector_jars, kafka_node

WARM = 2  # micro-batches that do not count
CORES = 2
SCHEMA = "key int, ts long, type string, v double"
ASKED: dict[str, Any] = {"key": "key", "time": "ts"}
COLUMNS = tocsin.Columns(time_unit="ms", attributes=[])
TOPIC = "events"

Read = Callable[[], DataFrame]


def main() -> int:
    """Measure and print; 1 if a stream, or Flink, found anything other than the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=6_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=1_000_000, help="events in a micro-batch")
    parser.add_argument("--workloads", default="W1,W3")
    parser.add_argument("--source", choices=("files", "kafka"), default="files")
    parser.add_argument("--flink-events", type=int, default=1_000_000, help="0 to leave Flink out")
    options = parser.parse_args()
    of_kafka = options.source == "kafka"
    jars = {"spark.jars": ",".join(connector_jars(fetch=True))} if of_kafka else {}
    spark = tocsin.local_session("tocsin-streams", cores=CORES, shuffle_partitions=CORES, extra_conf=jars)
    right = True
    with tempfile.TemporaryDirectory(prefix="tocsin-streams-") as temporary, ExitStack() as open_things:
        folder = Path(temporary)
        write_files(EventSet(options.events, options.keys), folder / "in", options.batch)
        read: Read = lambda: of_files(spark, folder)  # noqa: E731  (one of two)
        if of_kafka:
            try:
                broker, _, _ = kafka_node(folder / "kafka", "secret", make_certificates(folder))
            except (pytest.skip.Exception, pytest.fail.Exception) as problem:
                print(f"streams: {problem}", file=sys.stderr)
                return 2
            open_things.enter_context(broker)
            address = f"127.0.0.1:{broker.port}"
            fill(spark, folder / "in", address)
            read = lambda: of_topic(spark, address, options.batch)  # noqa: E731
        passed = rate(run(folder, "pass", through_python(read())), options.batch)
        show({"stream": "pass", "source": options.source, "events_per_second": passed})
        for name in options.workloads.split(","):
            own = measure(spark, folder, read, workload(name), options.batch)
            show({**own, "of_pass": round(own["events_per_second"] / passed, 2)})
            right &= own["agrees"]
            if flink_python() is not None and options.flink_events:
                peer = in_streaming_flink(spark, folder, workload(name), options)
                times = own["events_per_second"] / peer["events_per_second"]
                show({**peer, "times_flink": round(times, 1)})
                right &= peer["agrees"]
    spark.stop()
    return 0 if right else 1


def show(found: dict[str, Any]) -> None:
    print(json.dumps(found), flush=True)


def measure(spark: SparkSession, folder: Path, read: Read, workload: Workload, batch: int) -> dict[str, Any]:
    """Measure the throughput of a workload as a stream, and check its matches against those of the table."""
    patterns = workload.patterns()
    told = tocsin.detect(read(), patterns, COLUMNS, tocsin.Stream(delay="1s", shards=CORES), **ASKED)
    speed = rate(run(folder, workload.name, told), batch)
    # The last second is not decided yet.
    events = spark.read.parquet(str(folder / "in"))
    last = events.agg({"ts": "max"}).first()[0]  # type: ignore[index]
    right = tocsin.detect(events.where(f"ts <= {last - 1000}"), patterns, COLUMNS, **ASKED).select("match_id")
    found = spark.read.parquet(str(folder / f"{workload.name}-out")).select("match_id").cache()
    differ = right.exceptAll(found).count() + found.exceptAll(right).count()
    state = read_state(spark, folder / f"{workload.name}-checkpoint")
    return {
        "stream": workload.name,
        "events_per_second": speed,
        "matches": found.count(),
        "agrees": not differ,
        "keys": sum(state.column("keys").to_pylist()),
        "state_mb": round(sum(state.column("bytes").to_pylist()) / 2**20, 1),
    }


def in_streaming_flink(
    spark: SparkSession, folder: Path, workload: Workload, options: argparse.Namespace
) -> dict[str, Any]:
    """Measure a workload on Flink over its own number of events, with the same event rate per key as for us."""
    path = folder / "flink.parquet"
    rows = options.flink_events
    if not path.exists():
        pq.write_table(EventSet(rows, options.keys).table(), path)
    job = Job(workload, "flink-streaming", str(path), rows, options.keys, MINUTE, CORES, 1)
    task, result = folder / "task.json", folder / "result.json"
    task.write_text(json.dumps(in_flink.task(job)), encoding="utf-8")
    subprocess.run(in_flink.command(task, result), env=in_flink.environment(), capture_output=True)
    told = json.loads(result.read_text(encoding="utf-8"))
    if "failed" in told:
        raise RuntimeError(f"Flink: {told['failed']}")
    own = tocsin.detect(spark.read.parquet(str(path)), workload.patterns(), COLUMNS, **ASKED).count()
    return {
        "stream": "flink",
        "events": rows,
        "events_per_second": round(rows / told["seconds"][0]),
        "matches": told["matches"],
        "agrees": told["matches"] == own,
    }


def write_files(events: EventSet, folder: Path, batch: int) -> None:
    """Write the events as files of one micro-batch each, in time order."""
    folder.mkdir()
    table = events.table()
    for number, first in enumerate(range(0, table.num_rows, batch)):
        file = folder / f"{number:05d}.parquet"
        pq.write_table(table.slice(first, batch), file, row_group_size=batch // 4)
        os.utime(
            file, (1_000 + number, 1_000 + number)
        )  # files are read in the order of their modification times


def fill(spark: SparkSession, folder: Path, address: str) -> None:
    """Write the events of the files to a topic of two partitions, in time order and alternating."""
    turn = (F.monotonically_increasing_id() % 2).cast("int").alias("partition")
    for file in sorted(folder.glob("*.parquet")):
        # Through this process, because Spark tasks that share a file would mix up its order.
        for piece in pq.ParquetFile(file).iter_batches(100_000):
            rows = spark.createDataFrame(pa.Table.from_batches([piece])).coalesce(1)
            values = rows.select(F.to_json(F.struct("key", "ts", "type", "v")).alias("value"), turn)
            sink = values.write.format("kafka").option("kafka.bootstrap.servers", address)
            sink.option("topic", TOPIC).save()


def of_files(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))


def of_topic(spark: SparkSession, address: str, batch: int) -> DataFrame:
    messages = stream_kafka(spark, KafkaServer(address), KafkaInput((TOPIC,), max_per_batch=batch))
    read = read_json(messages, StructType.fromDDL(SCHEMA), keep=())
    return read.where("problem is null").select("event.*")


def through_python(events: DataFrame) -> DataFrame:
    """Pass the rows through a Python step that returns few of them."""

    def few(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.slice(0, 1)

    return events.select("key", "ts", "type", "v").mapInArrow(few, SCHEMA)


def run(folder: Path, name: str, told: DataFrame) -> list[dict[str, Any]]:
    """Run a query over all events; returns Spark's progress report of each micro-batch."""
    query = (
        told.writeStream.option("checkpointLocation", str(folder / f"{name}-checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / f"{name}-out"), format="parquet")
    )
    query.awaitTermination()
    return [json.loads(progress.json) for progress in query.recentProgress]


def rate(batches: list[dict[str, Any]], size: int) -> int:
    """Events a second, from the median of whole micro-batches that are not the first."""
    whole = [one for one in batches if one["numInputRows"] > 0.9 * size]
    speeds = [one["numInputRows"] / one["durationMs"]["triggerExecution"] for one in whole]
    return round(median(speeds[WARM:] or speeds) * 1000)


if __name__ == "__main__":
    sys.exit(main())
