"""Does the state of a stream stay flat while keys come and go?

In each micro-batch some keys have their last events and as many new keys their first. The figures about the state are those
that `tocsin.watch` reports; the first micro-batches fill it and do not count.

    python benchmarks/state.py --events 20000000
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tocsin
from tocsin.bench.events import SHARES
from tocsin.bench.workloads import WORKLOADS
from tocsin.spark.observe.record import Seen

WARM = 6  # micro-batches that fill the state
SCHEMA = "key long, ts long, type string, v double"
STAY = 4  # micro-batches that a key has events in


def main() -> int:
    """Measure and print; 1 if the state has grown by more than a tenth since it was warm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--batch", type=int, default=500_000, help="events in a micro-batch")
    parser.add_argument("--keys", type=int, default=20_000, help="that have events in a micro-batch")
    parser.add_argument("--workload", default="W1")
    options = parser.parse_args()
    spark = tocsin.local_session("tocsin-state", cores=2, shuffle_partitions=2)
    seen: list[Seen] = []
    done = threading.Event()
    batches = options.events // options.batch

    def told(one: Seen) -> None:
        seen.append(one)
        if len(seen) >= batches:
            done.set()

    with tempfile.TemporaryDirectory(prefix="tocsin-state-") as name:
        folder = Path(name)
        write_files(folder / "in", batches, options.batch, options.keys)
        files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
        found = tocsin.detect(
            files,
            WORKLOADS[options.workload].patterns(),
            tocsin.Columns(time_unit="ms", attributes=[]),
            tocsin.Stream(delay="1s", shards=2),
            key="key",
            time="ts",
        )
        with tocsin.watch(spark, told):
            query = (
                found.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
                .trigger(availableNow=True)
                .start(str(folder / "out"), format="parquet")
            )
            query.awaitTermination()
            done.wait(60)  # listeners are notified with a delay
        on_disk = sum(file.stat().st_size for file in (folder / "checkpoint" / "state").rglob("*.*"))
    spark.stop()
    sizes = [one.state["bytes"] for one in seen][WARM:]
    grown = max(sizes[len(sizes) // 2 :]) / max(sizes[: len(sizes) // 2])
    shown = {
        "events": options.events,
        "keys_in_all": options.keys + (batches - 1) * (options.keys // STAY),
        "micro_batches": len(seen),
        "keys": [one.state["keys"] for one in seen][WARM :: max(1, len(sizes) // 8)],
        "state_kb": [size >> 10 for size in sizes[:: max(1, len(sizes) // 8)]],
        "grown": round(grown, 3),
        "checkpoint_mb": on_disk >> 20,
    }
    print(json.dumps(shown), flush=True)
    return 1 if grown > 1.1 or len(seen) < batches else 0


def write_files(folder: Path, batches: int, size: int, keys: int) -> None:
    """Write a file for each micro-batch; a quarter of its keys are new."""
    folder.mkdir()
    draw = np.random.default_rng(7)
    kinds, shares = np.array(list(SHARES)), list(SHARES.values())
    for number in range(batches):
        first = number * (keys // STAY)
        rows = {
            "key": draw.integers(first, first + keys, size),
            # As many events a second for each key as in the other workloads: one every two seconds.
            "ts": np.sort(draw.integers(0, 2_000 * size // keys, size)) + number * (2_000 * size // keys),
            "type": kinds[draw.choice(len(kinds), size, p=shares)],
            "v": draw.random(size) * 100,
        }
        pq.write_table(pa.table(rows), folder / f"{number:05d}.parquet")


if __name__ == "__main__":
    sys.exit(main())
