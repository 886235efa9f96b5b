"""Does a stream find what a table has, each match once, when its driver and its broker are killed again and again?

A real `tocsin run` reads events from a broker and writes Parquet. Its processes are killed together at random moments: a
quarter of the times while it starts, a quarter while a checkpoint is written (just after the offsets, the state, the ledger
or the commit of a micro-batch), the others at any moment; the broker, and on a cluster the workers, are killed and started
again; events come out of order, twice, or malformed. In the end the same events, each once, are detected as a table, and the
counters are held against what was sent.

    python benchmarks/chaos.py --seconds 600 --kills 20
    python benchmarks/chaos.py --broker kafka --seconds 180 --kills 6

Lives are as long as `--seconds` allows for that many kills. If there were not enough kills by then, the run continues for
up to about three times as long; Ctrl-C or SIGTERM ends the killing. Exit code 1 if anything is missing, duplicated or
wrong, or if there were too few kills.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from chaos_events import DELAY, SUBSCRIPTIONS, Story

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from chaos_brokers import Field, open_broker  # noqa: E402

from support.standalone import Cluster  # noqa: E402

TOCSIN = "import sys; from tocsin.cli import main; sys.exit(main(sys.argv[1:]))"
NAMES = ("Through", "LeftOpen", "Entered")
LONGEST = 300  # maximum seconds of a life, even on a slow machine
PATIENCE = 2  # times `--seconds`, plus one life: how long to wait for further kills
FINISHED = (0, 0, 1, 2, 4)  # micro-batches that the other lives finish at least
STARTING, WRITING, ANY = "start-up", "checkpointing", "any moment"
# When lives end, in turn: half of them during start-up or checkpointing.
MOMENTS = (ANY, STARTING, ANY, WRITING)
START = 8.0  # seconds that a start takes, until one was measured
# What is written last in a micro-batch, in this order: a kill strikes just after one of them has changed.
STEPS = ("offsets", "state", "tocsin/ledger", "commits")
# A life of half a minute is too short for Java's optimising compiler to pay off; it would take half of the machine.
JAVA = {"driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
MOST_STOPS = 5
PIECE = 0.25  # seconds from one group of messages to the next


def main() -> int:
    """Run the chaos, then compare and count; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--kills", type=int, default=20, help="at least so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=200, help="events a second")
    parser.add_argument("--broker", choices=("nats", "kafka"), default="nats")
    parser.add_argument("--cluster", action="store_true", help="on two workers, which are killed, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tocsin-chaos-") as name, ExitStack() as stack:
        try:
            field = stack.enter_context(open_broker(options.broker, Path(name)))
        except (pytest.skip.Exception, pytest.fail.Exception) as problem:
            print(f"chaos: {problem}", file=sys.stderr)
            return 2
        chaos = Chaos(Path(name), field, Random(options.seed))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: setattr(chaos, "enough", True))
        if options.cluster:
            chaos.start_cluster(stack)
        chaos.run(options.seconds, options.kills, options.rate)
        found = chaos.verdict()
    print(json.dumps(found), flush=True)
    if found["kills"] < options.kills:
        text = f"chaos: only {found['kills']} of {options.kills} kills: is this machine busy with something else?"
        print(text, file=sys.stderr)
        return 1
    wrong = found["missing"] + found["doubled"] + found["wrong"]
    return 1 if wrong or not found["counters_add_up"] else 0


class Chaos:
    """One run: a pipeline in a folder, a broker, and a sender."""

    def __init__(self, folder: Path, field: Field, random: Random) -> None:
        self.folder, self.field, self.random = folder, field, random
        self.story = Story(Random(random.random()))
        self.kills = self.restarts = self.worker_kills = 0
        self.in_batches = 0  # kills while a micro-batch ran
        self.moments: Counter[str] = Counter()  # kills by the moment that was chosen
        # How often the pipeline gave up by itself, as when a busy machine is too slow for Spark.
        self.stops = 0
        self.enough = False
        self._stop_sending = threading.Event()
        self._sending_failed: list[BaseException] = []
        self._settings: dict[str, str] = JAVA | field.settings
        self._started_in = 0.0  # seconds from the start of the last life to its first micro-batch
        self._cluster: Cluster | None = None

    def start_cluster(self, stack: ExitStack) -> None:
        """Start a cluster of two workers to run on, instead of one process."""
        self._cluster = stack.enter_context(Cluster(self.folder / "cluster"))
        self._settings |= {
            "master": self._cluster.address,
            "driver.host": "127.0.0.1",
            "driver.memory": "768m",
            "executor.memory": "640m",
            "executor.cores": "1",
            "cores.max": "2",
        }

    def run(self, seconds: float, kills: int, rate: int) -> None:
        """Send, kill and restart for the given time; then let the pipeline finish."""
        (self.folder / "pipeline.toml").write_text(self._pipeline())
        sender = threading.Thread(target=self._send, args=(rate,))
        sender.start()
        began = time.monotonic()
        until = began + seconds
        try:
            while not self.enough and (self.kills < kills or time.monotonic() < until):
                if time.monotonic() > until + PATIENCE * seconds + LONGEST:
                    break
                self._live_and_die((until - time.monotonic()) / max(1, kills - self.kills))
        finally:
            self._stop_sending.set()
            sender.join()
        if self._sending_failed:
            raise self._sending_failed[0]
        self.field.send(list(self.story.last()))
        self.field.finish()

    def _send(self, rate: int) -> None:
        try:
            while not self._stop_sending.wait(PIECE):
                self.field.send(list(self.story.messages(max(1, int(rate * PIECE)))))
        except BaseException as problem:  # noqa: BLE001  (reported by the main thread)
            self._sending_failed.append(problem)

    def _live_and_die(self, seconds: float) -> None:
        """Start the pipeline and kill it after about `seconds`."""
        began, before = time.monotonic(), self._planned()
        moment = MOMENTS[self.kills % len(MOMENTS)]
        early = moment == STARTING
        end = began + (self.random.uniform(0, self._started_in or START) if early else LONGEST)
        log = self.folder / f"life-{self.kills + self.stops}.log"
        with log.open("wb") as file:
            life = self._start("pipeline.toml", file)
        try:
            started = self._wait(life, lambda: self._planned() > before, end)
            if started and not early:
                self._started_in = time.monotonic() - began
                self._strike_others()
                # Some die in their first micro-batch, the others later, so even a slow machine makes progress.
                done = self._committed() + self.random.choice(FINISHED)
                self._wait(life, lambda: self._committed() >= done, began + LONGEST)
                if moment == WRITING:
                    self._wait_for_a_step(life, began + LONGEST)
                else:
                    left = max(3.0, 2 * (seconds - (time.monotonic() - began)))
                    self._wait(life, lambda: False, time.monotonic() + self.random.uniform(0, left))
            if life.poll() is not None:
                self._stopped(log)
                return
        finally:
            kill_session(life)
        self.kills += 1
        self.moments[moment] += 1
        begun, open = self._planned() - before, self._planned() > self._committed()
        self.in_batches += open and begun > 0
        print(
            f"kill {self.kills} ({moment}): after {time.monotonic() - began:.1f} s, {begun} micro-batches begun",
            "(one was open)" if open else "",
            file=sys.stderr,
            flush=True,
        )

    def _wait(self, life: subprocess.Popen[bytes], done: Callable[[], bool], until: float) -> bool:
        """Wait until `done` holds, the process has ended, or its time is up; returns whether `done` holds."""
        while not (found := done()) and life.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def _wait_for_a_step(self, life: subprocess.Popen[bytes], until: float) -> None:
        """Wait until one step of writing a checkpoint has just been made, and up to a tenth of a second more."""
        step = self.random.choice(STEPS)
        before = self._written(step)
        while self._written(step) == before and life.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(self.random.choice((0.0, 0.0, self.random.uniform(0, 0.1))))

    def _written(self, step: str) -> int:
        """When a folder of the checkpoint, or one of those in it, was last changed."""
        folder = self.folder / "checkpoint" / step
        inner = folder.glob("*/*") if step == "state" else ()
        try:
            return max(one.stat().st_mtime_ns for one in (folder, *inner))
        except OSError:  # it is not there yet, or a file of it has gone meanwhile
            return 0

    def _strike_others(self) -> None:
        """Kill the broker or a worker now and then, and start it again."""
        if self.random.random() < 0.5:
            self.field.restart(self.random)
            self.restarts += 1
        if self._cluster is not None and self.random.random() < 0.5:
            name = self.random.choice(sorted(self._cluster.workers))
            self._cluster.kill_worker(name)
            self.worker_kills += 1
            self._cluster.add_worker(f"{name}-{self.worker_kills}")

    def _stopped(self, log: Path) -> None:
        """Record that the pipeline stopped by itself. A supervisor would restart it, but not indefinitely."""
        self.stops += 1
        print(f"it stopped by itself: {log.read_text(errors='replace')[-500:]}", file=sys.stderr, flush=True)
        if self.stops > MOST_STOPS:
            raise SystemExit("chaos: the pipeline cannot go on")

    def _planned(self) -> int:
        """Number of micro-batches Spark has begun so far."""
        return self._noted("offsets")

    def _committed(self) -> int:
        """Number of micro-batches Spark has committed so far."""
        return self._noted("commits")

    def _noted(self, log: str) -> int:
        files = (self.folder / "checkpoint" / log).glob("[0-9]*")
        return max((int(file.name) + 1 for file in files), default=0)

    def _start(self, file: str, log: Any, *words: str) -> subprocess.Popen[bytes]:
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        # A killed process cannot clean up, so everything it leaves behind is kept inside the folder of the run.
        environment = os.environ | {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
        command = [sys.executable, "-c", TOCSIN, "run", str(self.folder / file), *words]
        command.append("--allow-spark-settings")  # for a cluster, and for the jars of Kafka
        return subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )

    def _pipeline(self) -> str:
        spark = "".join(f'"{name}" = "{value}"\n' for name, value in self._settings.items())
        return f"""
{SUBSCRIPTIONS}
[[source]]
name = "doors"
time_unit = "ms"
id = "id"
{self.field.source}
[[sink]]
format = "parquet"
path = "found"

[dead_letters]
path = "dead"

[late]
path = "late"

[stream]
checkpoint = "checkpoint"
delay = "{DELAY}ms"
repeated = "drop"
shards = 2

[spark]
{spark}"""

    def _finished(self, file: str, *words: str) -> dict[str, Any]:
        """Run a pipeline to its end and return its report."""
        out = self.folder / f"{file}.json"
        while True:
            with out.open("wb") as log:
                if not self._start(file, log, "--quiet", "--json", *words).wait():
                    break
            self._stopped(out)
        # Spark's workers may have said something before the report.
        text = out.read_text()
        report: dict[str, Any] = json.loads(text[text.index("\n{") + 1 if not text.startswith("{") else 0 :])
        return report

    def verdict(self) -> dict[str, Any]:
        """Compare the matches found with those expected, and the counters with what was sent."""
        report = self._finished("pipeline.toml", "--once")
        (self.folder / "events.jsonl").write_text(
            "".join(json.dumps(event) + "\n" for event in self.story.events)
        )
        table = f"""
{SUBSCRIPTIONS}
[[source]]
name = "doors"
format = "jsonl"
path = "events.jsonl"
time_unit = "ms"
id = "id"

[[sink]]
format = "parquet"
path = "right"
"""
        (self.folder / "table.toml").write_text(table)
        self._finished("table.toml")
        found, right = self._matches("found"), self._matches("right")
        counters, story = report["total"], self.story
        dead = sum(1 for _ in self._lines("dead"))
        expected = {
            "read": story.sent,
            "used": story.relevant,
            "irrelevant": story.irrelevant,
            "dead": story.dead,
        }
        as_sent = all(counters[name] == number for name, number in expected.items())
        aside = counters["late"] + counters["repeated"] == story.again
        told = sum(found.values()) == sum(report["matches"].values()) and dead == story.dead
        return {
            "kills": self.kills,
            "kills_by_moment": dict(self.moments),
            "kills_in_micro_batches": self.in_batches,
            "broker_restarts": self.restarts,
            "stopped_by_itself": self.stops,
            **({"worker_kills": self.worker_kills} if self._cluster is not None else {}),
            "micro_batches": report["batches"],
            "events": story.sent,
            "out_of": expected | {"repeated": story.again},
            "counters": {name: counters[name] for name in (*expected, "late", "repeated")},
            "counters_add_up": as_sent and aside and told,
            "matches": len(right),
            "missing": len(right.keys() - found.keys()),
            "doubled": sum(count - 1 for count in found.values()),
            "wrong": len(found.keys() - right.keys()),
        }

    def _matches(self, folder: str) -> Counter[tuple[str, str]]:
        """Number of occurrences of each match, by subscription and id."""
        return Counter(
            (name, id)
            for name in NAMES
            for file in (self.folder / folder / name).glob("**/part-*.parquet")
            if not any(part.startswith(".") for part in file.relative_to(self.folder).parts)
            for id in pq.read_table(file, columns=["match_id"], partitioning=None).column(0).to_pylist()
        )

    def _lines(self, folder: str) -> list[str]:
        files = (self.folder / folder).glob("batch=*/part-*.json")
        return [line for file in files for line in file.read_text().splitlines()]


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and everything it started, Java and Python workers, as if the machine had lost power."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == process.pid:  # its session
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue  # it is gone already
    process.wait()


if __name__ == "__main__":
    sys.exit(main())
