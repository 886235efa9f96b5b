"""What does it cost a running stream when ten thousand rules come at once?

A real `tocsin run` reads files of events that arrive all the time. When its micro-batches go steadily, the rules are written
into its rules folder, all in one go. Measured are the CPU time of all its processes until every change is decided, beyond what
the stream took before in the same time, and the longest time between two commits. Rules are of several shapes, and each has a
threshold of its own.

    python benchmarks/rules_at_once.py --rules 10000

Exit code 1 if a rule was refused or is still undecided, or if a limit is passed (`--cpu`, `--gap`; 0 for none).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from chaos import TOCSIN, kill_session

PIPELINE = """
[[source]]
name = "doors"
format = "jsonl"
path = "doors"
stream = true
id = "id"

[event.Open]
room = "int"
level = "int"

[event.Close]
room = "int"
level = "int"

[[subscription]]
name = "Through"
key = "room"
pattern = "([Open], [Close])_{T1=2s}"

[[sink]]
format = "parquet"
path = "out"
together = true

[stream]
checkpoint = "checkpoint"
delay = "1s"
shards = 2
rules = "rules"
"""
SHAPES = (
    "([Open(level > N)], [Close])_{T1=2s}",
    "([Open], [Close(level > N)])_{T1=2s}",
    "([Open(level > N)], [T1 in {T1, Close}])_{T1=2s}",
    "([Open], ([Close(level > N)] | [Open(level > N)]))_{T1=2s}",
    "[Close(level > N)]",
)
PIECE, EVENTS = 0.25, 50  # seconds from one file of events to the next, and events in it
STEADY = 6  # micro-batches before it counts as steady, and as many to measure what is usual
START, PATIENCE = 600.0, 900.0  # seconds
_TICK = os.sysconf("SC_CLK_TCK")


class Stream:
    """A pipeline that runs in processes of its own, and the events that it reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("doors", "rules", "tmp"):
            (folder / name).mkdir()
        (folder / "pipeline.toml").write_text(PIPELINE)
        self.commits: dict[int, float] = {}  # micro-batch -> when it was committed
        self._enough = threading.Event()
        command = [sys.executable, "-c", TOCSIN, "run", str(folder / "pipeline.toml"), "--quiet"]
        # A killed process cannot clean up, so everything it leaves behind is kept inside the folder.
        environment = os.environ | {"TMPDIR": str(folder / "tmp")}
        with (folder / "said").open("wb") as said:
            self.process = subprocess.Popen(
                [*command, "--log", str(folder / "log")],
                stdout=said,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        self._sender = threading.Thread(target=self._send)
        self._sender.start()

    def _send(self) -> None:
        number, chance = 0, Random(29)
        while not self._enough.wait(PIECE):
            now = time.time()
            lines = [
                json.dumps(
                    {
                        "id": f"e{number}-{n}",
                        "type": ("Open", "Close")[n % 2],
                        "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{n:06}Z",
                        "room": n // 2,
                        "level": chance.randrange(1_000_000),
                    }
                )
                for n in range(EVENTS)
            ]
            beside = self.folder / "tmp" / "next"
            beside.write_text("\n".join(lines) + "\n")
            beside.rename(self.folder / "doors" / f"{number}.jsonl")
            number += 1

    def close(self) -> None:
        self._enough.set()
        self._sender.join()
        kill_session(self.process)

    def wait(self, done: Callable[[], bool], what: str, seconds: float) -> None:
        """Note commits until `done` holds."""
        until = time.monotonic() + seconds
        while not done():
            if self.process.poll() is not None or time.monotonic() > until:
                said = (self.folder / "said").read_text(errors="replace")[-2000:]
                raise SystemExit(f"rules_at_once: {what}: not within {seconds:g} s, or it ended: {said}")
            self.look()
            time.sleep(0.02)
        self.look()

    def look(self) -> None:
        for file in (self.folder / "checkpoint" / "commits").glob("[0-9]*"):
            if int(file.name) not in self.commits:
                self.commits[int(file.name)] = file.stat().st_mtime

    def cpu(self) -> float:
        """Seconds of CPU of all its processes, those that have ended included."""
        total = 0
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            if int(fields[3]) == self.process.pid:  # its session
                total += sum(map(int, fields[11:15]))
        return total / _TICK

    def decisions(self) -> list[dict[str, Any]]:
        try:
            lines = (self.folder / "log").read_text().splitlines()
        except OSError:
            return []
        return [change for line in lines for change in json.loads(line).get("rules", [])]

    def longest_gap(self, since: float, until: float) -> float:
        """The longest time between two commits, of those that lie in a time or around it."""
        times = sorted(self.commits.values())
        pairs = list(itertools.pairwise(times))
        return max((b - a for a, b in pairs if b > since and a < until), default=0.0)


def rule(number: int) -> str:
    """A rule that rarely finds something, as alerts do."""
    text = SHAPES[number % len(SHAPES)]
    return text.replace("N", str(999_000 + number % 1000)).replace("2s", f"{2 + number // 1000}s")


def measured(stream: Stream, rules: int) -> dict[str, Any]:
    """Let it go steadily, add the rules, and wait until all are decided."""
    stream.wait(lambda: len(stream.commits) >= STEADY, "it goes steadily", START)
    began, cpu = time.time(), stream.cpu()
    stream.wait(lambda: len(stream.commits) >= 2 * STEADY, "what is usual", START)
    usual, usual_gap = (stream.cpu() - cpu) / (time.time() - began), stream.longest_gap(began, time.time())
    beside = stream.folder / "beside"
    beside.mkdir()
    for number in range(rules):
        change = {"action": "add", "name": f"R{number}", "text": rule(number)}
        (beside / f"{number:06}.json").write_text(json.dumps(change))
    began, cpu = time.time(), stream.cpu()
    for file in sorted(beside.iterdir()):
        shutil.move(file, stream.folder / "rules" / file.name)
    last = [0.0]

    def decided() -> bool:
        # Reading the log costs time, too.
        if time.monotonic() < last[0] + 0.5:
            return False
        last[0] = time.monotonic()
        return len(stream.decisions()) >= rules

    stream.wait(decided, "all are decided", PATIENCE)
    took, ended = time.time() - began, time.time()
    extra = stream.cpu() - cpu - usual * took
    after = len(stream.commits) + 3
    stream.wait(lambda: len(stream.commits) >= after, "it goes on", START)
    made = stream.decisions()
    return {
        "rules": rules,
        "decided": len(made),
        "refused": sum(1 for one in made if one.get("code")),
        "seconds": round(took, 1),
        "micro_batches": len({one.get("batch") for one in made}),
        "extra_cpu_seconds": round(extra, 1),
        "usual_cpu": round(usual, 2),
        "longest_gap_seconds": round(stream.longest_gap(began, ended), 1),
        "usual_gap_seconds": round(usual_gap, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> int:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--cpu", type=float, default=60.0, help="seconds of extra CPU at most")
    parser.add_argument("--gap", type=float, default=10.0, help="seconds between two commits at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tocsin-rules-", ignore_cleanup_errors=True) as name:
        stream = Stream(Path(name))
        try:
            found = measured(stream, options.rules)
        finally:
            stream.close()
    print(json.dumps(found, indent=2), flush=True)
    late = options.cpu and found["extra_cpu_seconds"] > options.cpu
    late = late or (options.gap and found["longest_gap_seconds"] > options.gap)
    return 1 if late or found["refused"] or found["decided"] != options.rules else 0


if __name__ == "__main__":
    sys.exit(main())
