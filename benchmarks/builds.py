"""Is this build slower than another one? Both run beside each other and take turns.

Each build is a checkout. A round runs a workload of `tocsin bench` once with each of them, in processes that stay alive, so
both are equally warm; which one goes first alternates. The first rounds warm up and do not count. With `--streams` and
`--latency`, the benchmarks of those names run in each checkout by turns.

    git worktree add /tmp/before COMMIT
    python benchmarks/builds.py --before /tmp/before --rows 10000000
    python benchmarks/builds.py --before /tmp/before --streams 3 --latency 5
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WARM = 4  # rounds that do not count, while Java compiles hot code
ENGINES = ("tocsin-kernel", "tocsin-dataframe", "tocsin-parquet")
# The benchmark of latency with its last stream alone: the others are there to compare with, and take most of its time.
DETECT_ONLY = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("latency", sys.argv[1])
latency = importlib.util.module_from_spec(spec)
spec.loader.exec_module(latency)
follow = latency.follow
latency.follow = lambda stream, folder, *rest: follow(stream, folder, *rest) if folder.name == "detect" else ([1.0], 1.0)
sys.argv[1:] = ["--seconds", "40"]
latency.main()
"""
# What the process of a build runs: it takes "engine workload" on a line, and prints the seconds of one round.
CHILD = """
import importlib, json, sys, time
from tocsin.bench.engines import ENGINES
from tocsin.bench.job import Job
from tocsin.bench.workloads import MINUTE, workload
path, rows, keys = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
out, sys.stdout = sys.stdout, sys.stderr
ready = {}
for line in sys.stdin:
    engine, name = line.split()
    if (engine, name) not in ready:
        cores = 1 if ENGINES[engine].one_core else 2
        job = Job(workload(name), engine, path, rows, keys, MINUTE, cores, 1)
        ready[engine, name] = importlib.import_module(ENGINES[engine].home).prepare(job)
    began = time.perf_counter()
    found = ready[engine, name]()
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "found": found()._asdict()}), file=out, flush=True)
"""


def main() -> int:
    """Measure and print; 1 if the two builds find different things."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the other build")
    parser.add_argument("--rows", type=int, default=0, help="events of the workloads; 0 to leave them out")
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--workloads", default="W1,W3,W4")
    parser.add_argument("--rounds", type=int, default=9, help="that count")
    parser.add_argument("--streams", type=int, default=0, help="runs of benchmarks/streams.py, W1 from files")
    parser.add_argument("--latency", type=int, default=0, help="runs of benchmarks/latency.py")
    options = parser.parse_args()
    checkouts = {"before": options.before.resolve(), "after": ROOT}
    same = batch(checkouts, options) if options.rows else True
    if options.streams:
        by_turns(checkouts, streams, options.streams, "streams W1, events a second")
    if options.latency:
        by_turns(checkouts, latency, options.latency, "latency of detection, p99 in ms")
    return 0 if same else 1


def batch(checkouts: dict[str, Path], options: argparse.Namespace) -> bool:
    """Workloads by turns; whether both builds find the same."""
    # Imported here: the other measurements need nothing of this checkout's package.
    from tocsin.bench.events import EventSet, parquet_file
    from tocsin.bench.peers import bench_folder

    events = str(parquet_file(EventSet(options.rows, options.keys), bench_folder()))
    same = True
    with ExitStack() as running:
        builds = {
            name: running.enter_context(started(path, events, options)) for name, path in checkouts.items()
        }
        for workload in options.workloads.split(","):
            for engine in ENGINES:
                seconds: dict[str, list[float]] = {name: [] for name in builds}
                found = set()
                for turn in range(WARM + options.rounds):
                    for name in sorted(builds, reverse=bool(turn % 2)):
                        result = ask(builds[name], f"{engine} {workload}")
                        seconds[name].append(result["seconds"])
                        found.add(json.dumps(result["found"]))
                same &= len(found) == 1
                counted = {name: median(taken[WARM:]) for name, taken in seconds.items()}
                show(f"{workload} {engine}, seconds", counted, agrees=len(found) == 1)
    return same


@contextmanager
def started(checkout: Path, events: str, options: argparse.Namespace) -> Iterator[subprocess.Popen[str]]:
    """The process of a build, which ends with the block."""
    command = [sys.executable, "-c", CHILD, events, str(options.rows), str(options.keys)]
    process = subprocess.Popen(
        command, env=environment(checkout), cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.stdin:
            process.stdin.close()
        process.wait()


def ask(process: subprocess.Popen[str], line: str) -> dict[str, Any]:
    """One round of a build."""
    assert process.stdin
    assert process.stdout
    print(line, file=process.stdin, flush=True)
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError("the process of a build has ended; see above")
    result: dict[str, Any] = json.loads(answer)
    return result


def by_turns(checkouts: dict[str, Path], measure: Any, runs: int, what: str) -> None:
    """A benchmark of each checkout by turns."""
    figures: dict[str, list[float]] = {name: [] for name in checkouts}
    for turn in range(runs):
        for name in sorted(checkouts, reverse=bool(turn % 2)):
            figures[name].append(measure(checkouts[name]))
            print(json.dumps({"run": what, "build": name, "figure": figures[name][-1]}), flush=True)
    show(what, {name: median(taken) for name, taken in figures.items()})


def streams(checkout: Path) -> float:
    """Events a second of W1 as a stream from files."""
    script = str(checkout / "benchmarks" / "streams.py")
    lines = benchmark(checkout, script, "--workloads", "W1", "--flink-events", "0")
    return float(next(line["events_per_second"] for line in lines if line.get("stream") == "W1"))


def latency(checkout: Path) -> float:
    """The 99th percentile of the latency of detection, in milliseconds."""
    lines = benchmark(checkout, "-c", DETECT_ONLY, str(checkout / "benchmarks" / "latency.py"))
    return float(next(line["p99_ms"] for line in lines if line.get("stream") == "detect"))


def benchmark(checkout: Path, *command: str) -> list[dict[str, Any]]:
    """The lines that a benchmark of a checkout prints."""
    done = subprocess.run(
        [sys.executable, *command],
        env=environment(checkout),
        cwd=checkout,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def environment(checkout: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout / "src")}


def show(what: str, figures: dict[str, float], **more: Any) -> None:
    ratio = round(figures["after"] / figures["before"], 3)
    print(json.dumps({"what": what, **figures, "after_of_before": ratio, **more}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
