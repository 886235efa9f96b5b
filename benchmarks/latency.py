"""How long does it take from the publication of an event to the notification, at a thousand events a second?

Events go through a real NATS server. Three streams read it one after the other: one that only passes the events through
Spark, one that passes them through a stateless Python step, and one that detects `[A][B]` by key as events arrive. The
cost of a micro-batch with one row that does nothing is measured for comparison.

    python benchmarks/latency.py --seconds 60 --rate 1000
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import tocsin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.brokers import Broker, nats_server
from tocsin.spark.brokers.message import Outgoing
from tocsin.spark.brokers.nats import NatsInput, stream_nats
from tocsin.spark.brokers.nats_client import NatsServer, NatsSession, publish

PIECE = 0.05  # seconds from one group of messages to the next
KEYS = 1_000
WARM = 60.0  # seconds of warm-up that do not count, while Java compiles hot code
SCHEMA = "key int, type string, ts long"


def main() -> int:
    """Measure and print; 1 if the latency of detection is more than 2.5 times that of a pass through Python."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="for each stream, after it is warm")
    parser.add_argument("--rate", type=int, default=1_000, help="events a second")
    options = parser.parse_args()
    spark = tocsin.local_session("tocsin-latency", cores=2, shuffle_partitions=2)
    with tempfile.TemporaryDirectory(prefix="tocsin-latency-") as name:
        folder = Path(name)
        try:
            broker = nats_server(folder / "nats")
        except (pytest.skip.Exception, pytest.fail.Exception) as problem:
            print(f"latency: {problem}", file=sys.stderr)
            return 2
        with broker:
            late = measure(spark, broker, folder, options.seconds, options.rate)
    spark.stop()
    ratio = round(late["detect"] / late["python"], 2)
    print(json.dumps({"p99_of_python": ratio}), flush=True)
    return 1 if ratio > 2.5 else 0


def measure(spark: SparkSession, broker: Broker, folder: Path, seconds: float, rate: int) -> dict[str, float]:
    """Measure and print all figures; returns the 99th percentile of each stream, in milliseconds."""
    server = NatsServer((f"nats://127.0.0.1:{broker.port}",))
    session = NatsSession(server)
    session.run(lambda client: client.jetstream().add_stream(name="EVENTS", subjects=["events"]))
    stop = threading.Event()
    sender = threading.Thread(target=send, args=(session, stop, rate))
    sender.start()
    try:
        ticks = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
        _, empty = follow(ticks, folder / "empty", F.col("value"), min(seconds, 15))
        print(json.dumps({"stream": "empty", "micro_batch_ms": empty}), flush=True)
        read = partial(events_of, spark, server)
        completes = F.when(F.col("type") == "B", F.col("ts"))
        streams: dict[str, tuple[DataFrame, Column]] = {
            "spark": (read(), completes),
            "python": (read().mapInArrow(through, SCHEMA), completes),
            "detect": (
                tocsin.detect(
                    read(),
                    "[A][B]",
                    tocsin.Columns(time_unit="us"),
                    tocsin.Stream(detection="best-effort", shards=2),
                    time="ts",
                    key="key",
                ),
                F.unix_micros("end"),
            ),
        }
        p99 = {}
        for name, (stream, published) in streams.items():
            delays, batch = follow(stream, folder / name, published, seconds)
            p99[name] = round(float(np.percentile(delays, 99)), 1)
            shown = {
                "stream": name,
                "notified": len(delays),
                "p50_ms": round(float(np.percentile(delays, 50)), 1),
                "p99_ms": p99[name],
                "micro_batch_ms": batch,
                "share_of_empty": round(empty / batch, 2),
            }
            print(json.dumps(shown), flush=True)
    finally:
        stop.set()
        sender.join()
        session.close()
    return p99


def send(session: NatsSession, stop: threading.Event, rate: int) -> None:
    """Publish events at a constant rate, each with the time of its publication."""
    random = Random(1)
    due = time.monotonic()
    while not stop.is_set():
        now = time.time_ns() // 1_000
        rows = (
            {"key": random.randrange(KEYS), "type": random.choice("ABCD"), "ts": now + n}
            for n in range(int(rate * PIECE))
        )
        publish(session, [Outgoing(json.dumps(row).encode(), "events", None, {}) for row in rows])
        due += PIECE
        stop.wait(max(0.0, due - time.monotonic()))


def events_of(spark: SparkSession, server: NatsServer) -> DataFrame:
    """A stream of the events published from now on."""
    messages = stream_nats(spark, server, NatsInput("EVENTS", starting="latest"))
    return messages.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("event")).select(
        "event.*"
    )


def through(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A stateless Python step."""
    yield from batches


def follow(
    stream: DataFrame, checkpoint: Path, published: Column, seconds: float
) -> tuple[list[float], float]:
    """Run a stream; returns the latency of each notification and the duration of a micro-batch, in milliseconds."""
    delays: list[float] = []
    warm_at = time.monotonic() + WARM

    def notify(frame: DataFrame, _: int) -> None:
        moments = [row[0] for row in frame.select(published.alias("at")).where("at is not null").collect()]
        now = time.time_ns() // 1_000
        if time.monotonic() > warm_at:
            delays.extend((now - at) / 1_000 for at in moments)

    query = stream.writeStream.option("checkpointLocation", str(checkpoint)).foreachBatch(notify).start()
    query.awaitTermination(int(WARM + seconds))
    query.stop()
    taken = [p.durationMs["triggerExecution"] for p in query.recentProgress if p.numInputRows]
    return delays, float(median(taken[len(taken) // 3 :]))


if __name__ == "__main__":
    sys.exit(main())
