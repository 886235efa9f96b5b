"""Try random texts, files, checkpoints and values on everything that reads them, for as long as you like.

    python tests/fuzz.py --seconds 60
    python tests/fuzz.py --seconds 3600 --seed 7
    python tests/fuzz.py --seconds 60 --target core --target pipeline

What is tried is accepted, or refused with an error of ours that has a place; it takes at most 2 s of CPU and 500 MB.
Whatever does otherwise is printed and written to `tests/fuzz_cases/new`: fix it, and move the file to `tests/fuzz_cases`,
where a test tries it for ever. The target `values` compares values by every route with the reference instead. The exit code
is 1 if anything was found. Without `--seed` a new one is taken, and printed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import resource
import secrets
import signal
import sys
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple

from support.fuzz_targets import targets

CASES = Path(__file__).resolve().parent / "fuzz_cases"
MOST_SECONDS = 2.0  # of CPU for one text
MOST_BYTES = 500 * 1024**2
HOPELESS = 10.0  # seconds of CPU after which a text is given up
STUCK = 60.0  # seconds without a sign of life after which a process is ended
SHARE = 0.25  # of the time, for comparisons of values
VALUES = "values"


class Finding(NamedTuple):
    """What went wrong with one text."""

    target: str
    data: bytes
    what: str


class TooSlowError(BaseException):
    """The text takes too long; not an `Exception`, so that nothing on the way catches it."""


def _give_up(_: int, __: FrameType | None) -> None:
    raise TooSlowError


def attempt(target: str, data: bytes) -> str | None:
    """Try one text; returns what is wrong, None if nothing is."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, HOPELESS)
    try:
        targets()[target].try_one(data)
    except TooSlowError:
        return f"more than {HOPELESS:g} s of CPU"
    except Exception:  # noqa: BLE001  (that is what is looked for)
        return traceback.format_exc(limit=-4)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    took = time.process_time() - began
    if took > MOST_SECONDS:
        return f"{took:.1f} s of CPU"
    unit = 1 if sys.platform == "darwin" else 1024
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * unit
    return f"{grown / 1024**2:.0f} MB" if grown > MOST_BYTES else None


def work(names: list[str], seed: int, until: float, told: Connection) -> None:
    """Try texts of some targets in turn until the time is up; tells each number it begins, findings and counts."""
    signal.signal(signal.SIGVTALRM, _give_up)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    known, tried = targets(), Counter[str]()
    number = 0
    warmed = set[str]()
    while time.monotonic() < until:
        name = names[number % len(names)]
        random = Random(f"{seed} {name} {number}")
        number += 1
        try:
            data = known[name].make(random)
        except RecursionError:
            continue  # a text that could not even be made
        if name not in warmed:  # imports and caches are not the text's fault
            warmed.add(name)
            attempt(name, data)
        if number % 50 == 1:
            told.send(tried)  # so that what was tried counts even if the process dies
            told.send((name, data, None))
            tried = Counter()
        what = attempt(name, data)
        tried[name] += 1
        if what is not None:
            told.send((name, data, what))
    told.send(tried)
    told.close()


class Fuzzer:
    """The processes that try texts, and what they found."""

    def __init__(self, names: list[str], seed: int) -> None:
        self.names, self.seed = names, seed
        self.tried: Counter[str] = Counter()
        self.findings: list[Finding] = []
        self._seen: set[tuple[str, str]] = set()

    def run(self, seconds: float, processes: int) -> None:
        """Try texts for so long in so many processes; one that is stuck or has died is replaced."""
        until = time.monotonic() + seconds
        alive = [self._start(number, until) for number in range(processes)]
        born = processes
        while alive:
            for one in list(alive):
                process, told, heard = one
                ended = not process.is_alive()  # asked first: what it said at its end is heard below
                with contextlib.suppress(EOFError):
                    while told.poll(0.05):
                        one[2] = (time.monotonic(), self._heard(told.recv()) or one[2][1])
                stuck = time.monotonic() - one[2][0] > STUCK
                if not ended and not stuck:
                    continue
                alive.remove(one)
                died = not ended or process.exitcode != 0
                process.kill()
                process.join()
                if died:
                    last = one[2][1] or heard[1]
                    what = f"the process {'was stuck' if stuck else 'died'} within 50 texts of this one"
                    self._note(Finding(*(last or ("unknown", b"")), what))
                    if time.monotonic() < until:
                        alive.append(self._start(born, until))
                        born += 1

    def _start(self, number: int, until: float) -> list[Any]:
        here, there = multiprocessing.get_context("spawn").Pipe(duplex=False)
        own = self.names[number % len(self.names) :] + self.names[: number % len(self.names)]
        arguments = (own, self.seed * 1000 + number, until, there)
        process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
        process.start()
        there.close()
        return [process, here, (time.monotonic() + STUCK, None)]  # imports take their time

    def _heard(self, message: Any) -> tuple[str, bytes] | None:
        if isinstance(message, Counter):
            self.tried += message
            return None
        name, data, what = message
        if what is not None:
            self._note(Finding(name, data, what))
        return name, data

    def _note(self, finding: Finding) -> None:
        """Keep a finding, unless one like it is known: the same target, and the same last line."""
        like = (finding.target, finding.what.strip().splitlines()[-1][:60])
        if like in self._seen:
            return
        self._seen.add(like)
        self.findings.append(finding)
        name = f"{finding.target}-{hashlib.sha256(finding.data).hexdigest()[:12]}"
        folder = CASES / "new"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(finding.data)
        print(f"FOUND {folder / name}\n{finding.what}\n{finding.data[:300]!r}\n", flush=True)


def compare_values(seconds: float, seed: int, at_once: int) -> tuple[dict[str, int], list[str]]:
    """Compare values by each route with the reference for so long; returns how many, and what differs."""
    from support.hostile_routes import ON_SPARK, ROUTES, differences
    from tocsin.spark.session.session import local_session

    spark = local_session("tocsin-fuzz")
    done: dict[str, int] = dict.fromkeys(ROUTES, 0)
    wrong: list[str] = []
    # At least once each, and then for as long as there is time.
    until, turn = time.monotonic() + seconds, 0
    try:
        while turn == 0 or time.monotonic() < until:
            for route in ROUTES:
                wrong += differences(route, seed + turn, at_once, spark if route in ON_SPARK else None)
                done[route] += at_once
            turn += 1
    finally:
        spark.stop()
    for one in wrong[:20]:
        print(f"FOUND a difference: {one}", flush=True)
    return done, wrong


def main() -> int:
    """Try what was asked for; 1 if anything was found."""
    every = [*targets(), VALUES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", action="append", choices=every, help="by default all of them")
    parser.add_argument("--seed", type=int, help="by default a new one")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--at-once",
        type=int,
        default=2000,
        help="comparisons of a route at a time; most of it is Spark's start of a job",
    )
    options = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    chosen = options.target or every
    print(f"fuzz: seed {seed}, {options.seconds:g} s, {', '.join(chosen)}", flush=True)
    texts = [name for name in chosen if name != VALUES]
    fuzzer = Fuzzer(texts, seed)
    compared: dict[str, int] = {}
    wrong: list[str] = []
    share = 0.0 if VALUES not in chosen else SHARE if texts else 1.0
    if VALUES in chosen:
        compared, wrong = compare_values(options.seconds * share, seed, options.at_once)
    if texts:
        fuzzer.run(options.seconds * (1 - share), options.processes)
    found = len(fuzzer.findings) + len(wrong)
    figures = {
        "seed": seed,
        "texts": sum(fuzzer.tried.values()),
        "by_target": dict(sorted(fuzzer.tried.items())),
        "comparisons": sum(compared.values()),
        "by_route": compared,
        "found": found,
    }
    print(json.dumps(figures), flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
