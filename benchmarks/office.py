"""How long does Tocsin take to find cold, occupied rooms in millions of office events, and how much memory?

In the same run, Spark alone shuffles the same rows by room and sorts them by time: the least any engine on Spark has to do.
Only the ratio is meaningful; machines differ and are shared.

    python benchmarks/office.py --events 10000000
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame

import tocsin
from tocsin.spark.session.session import local_session

ROOT = Path(__file__).resolve().parent.parent
COLD_ROOM = "([Pers]|[Door], [Temp(temp < 15)])_{T1=5min}"


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    data = _data(arguments.events)
    spark = local_session("tocsin-benchmark")
    events = spark.read.parquet(str(data / "sensors.parquet"))
    rows = events.count()
    _detect(events.limit(100_000)).count()  # workers started, kernels compiled
    sort, detect, found = [], [], 0
    memory = _Memory()
    for _ in range(arguments.rounds):
        sort.append(_timed(lambda: _write(_shuffle_and_sort(events))))
        with memory:
            detect.append(_timed(lambda: _write(_detect(events))))
    found = _detect(events).count()
    print(
        json.dumps(
            {
                "events": rows,
                "matches": found,
                "spark_shuffle_and_sort_seconds": [round(s, 2) for s in sort],
                "tocsin_seconds": [round(s, 2) for s in detect],
                "ratio": round(min(detect) / min(sort), 2),
                "events_per_second": round(rows / min(detect)),
                "peak_python_worker_mb": memory.peak_mb,
            },
            indent=2,
        )
    )


def _data(events: int) -> Path:
    """A day at the office with this many events, generated once."""
    folder = ROOT / "benchmarks" / "data" / f"office-{events}"
    if not (folder / "summary.json").exists():
        simulate = ROOT / "examples" / "active_office" / "simulate.py"
        subprocess.run(
            [sys.executable, str(simulate), "--out", str(folder), "--events", str(events)], check=True
        )
    return folder


def _detect(events: DataFrame) -> DataFrame:
    return tocsin.detect(
        events,
        COLD_ROOM,
        tocsin.Columns(id="id", attributes=["temp"]),
        tocsin.Run(unreadable="drop"),
        key="location",
    )


def _shuffle_and_sort(events: DataFrame) -> DataFrame:
    """The columns that detection needs, shuffled by room and sorted by time."""
    rows = events.select("location", "time", "type", "temp", "id").where("location is not null")
    return rows.repartition("location").sortWithinPartitions("location", "time", "id")


def _write(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _timed(action: Callable[[], None]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


class _Memory:
    """The largest Python worker seen while the block runs, sampled from /proc."""

    peak_mb = 0

    def __enter__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(0.1):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if b"pyspark.daemon" in (process / "cmdline").read_bytes():
                        pages = int((process / "statm").read_text().split()[1])
                        self.peak_mb = max(self.peak_mb, pages * 4096 // 2**20)
                except OSError:
                    continue  # it ended meanwhile


if __name__ == "__main__":
    main()
