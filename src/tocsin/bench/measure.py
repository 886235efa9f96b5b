"""Measure engines on workloads, each in a process of its own, and check every result."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.bench import oracle
from tocsin.bench.engines import ENGINES, Engine, in_flink
from tocsin.bench.events import EventSet, SortedEvents, parquet_file
from tocsin.bench.job import Job
from tocsin.bench.processes import Outcome, run_watched
from tocsin.bench.workloads import Workload
from tocsin.errors import counted
from tocsin.spark.session.run_folder import passing_folder


@dataclass(frozen=True, slots=True)
class Measurement:
    """One engine on one workload. `seconds` is the best round; the first one warms up and counts only if it is alone."""

    workload: str
    engine: str
    rows: int
    seconds: float | None
    events_per_second: int | None
    peak_mb: int | None
    matches: int | None
    span_sum: int | None
    agrees: bool
    keys: int
    types: str
    window_ms: int
    patterns: int
    cores: int
    round_seconds: tuple[float, ...] = ()
    peak_worker_mb: int | None = None
    reason: str | None = None  # why it failed, or what it should have found

    def to_json(self) -> dict[str, Any]:
        """The measurement as one JSON object, without `reason` if there is none."""
        fields = asdict(self)
        return fields if self.reason else {name: fields[name] for name in fields if name != "reason"}


class Step(NamedTuple):
    """A description of the next step."""

    says: str


class Skipped(NamedTuple):
    """An engine that is left out of a workload, and why."""

    says: str


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure: every engine on every workload, for each window and each number of cores."""

    events: EventSet
    workloads: Sequence[Workload]
    engines: Sequence[Engine]
    windows: Sequence[int]  # milliseconds
    cores: Sequence[int]
    rounds: int  # at least
    seconds: float  # that all rounds but the first take together at least
    timeout: float  # seconds for one process
    folder: Path  # for the events


def measure(request: Request) -> Iterator[Step | Skipped | Measurement]:
    """Run the measurements; yields each step and its result."""
    path = parquet_file(request.events, request.folder)
    events = SortedEvents(path)

    @lru_cache(maxsize=1)
    def expected(workload: Workload, window: int) -> oracle.Answer:
        return oracle.answer(workload, window, events.columns)

    for workload, window, cores, engine in _combinations(request):
        if reason := engine.unable(workload):
            yield Skipped(f"{engine.name} on {workload.name}: {reason}")
            continue
        yield Step(_title(request, workload, window, cores, engine))
        job = Job(
            workload,
            engine.name,
            str(path),
            request.events.rows,
            request.events.keys,
            window,
            cores,
            request.rounds,
            request.seconds,
        )
        outcome, result = _run(job, request.timeout)
        yield _judged(request, job, outcome, result, expected(workload, window))


def _combinations(request: Request) -> Iterator[tuple[Workload, int, int, Engine]]:
    """Engines innermost, so that what is compared runs close together in time."""
    seen = set()
    for workload in request.workloads:
        for window in request.windows if workload.windowed else request.windows[:1]:
            for cores in request.cores:
                for engine in request.engines:
                    used = 1 if engine.one_core else cores
                    if (one := (workload.name, window, used, engine.name)) not in seen:
                        seen.add(one)
                        yield workload, window, used, engine


def _title(request: Request, workload: Workload, window: int, cores: int, engine: Engine) -> str:
    parts = [f"{workload.name} on {engine.name}"]
    parts += [f"window {window // 1_000} s"] if len(request.windows) > 1 else []
    parts += [f"{cores} cores" if cores > 1 else "1 core"] if len(request.cores) > 1 else []
    return ", ".join(parts)


def _run(job: Job, timeout: float) -> tuple[Outcome, dict[str, Any]]:
    """Run a job in a new process; returns its result, or why there is none."""
    with passing_folder("bench") as folder:
        job_file, answer, log = folder / "job.json", folder / "result.json", folder / "log"
        if ENGINES[job.engine].home == in_flink.__name__:
            job_file.write_text(json.dumps(in_flink.task(job)), encoding="utf-8")
            command, environment = in_flink.command(job_file, answer), in_flink.environment()
        else:
            job_file.write_text(job.to_json(), encoding="utf-8")
            command, environment = (
                [sys.executable, "-m", "tocsin.bench.child", str(job_file), str(answer)],
                None,
            )
        outcome = run_watched(command, environment, log, timeout, job.cores)
        if outcome.code is None:
            return outcome, {"failed": f"it took longer than {timeout:g} s (--timeout)"}
        if not answer.exists():
            said = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
            return outcome, {"failed": f"exit code {outcome.code}: {said[-1] if said else 'without a word'}"}
        return outcome, json.loads(answer.read_text(encoding="utf-8"))


def _judged(
    request: Request, job: Job, outcome: Outcome, result: dict[str, Any], right: oracle.Answer
) -> Measurement:
    reason = result.get("failed")
    matches, spans = result.get("matches"), result.get("span_sum")
    wrong = (matches is not None and matches != right.matches) or (
        spans is not None and spans != right.span_sum
    )
    if wrong:
        reason = (
            f"it found {counted(matches or 0, 'match', 'matches')} with spans of {spans}, "
            f"right are {right.matches} and {right.span_sum}"
        )
    rounds = tuple(round(one, 4) for one in result.get("seconds", ()))
    best = min(rounds[1:] or rounds, default=None)
    return Measurement(
        job.workload.name,
        job.engine,
        job.rows,
        best,
        round(job.rows / best) if best else None,
        outcome.peak_mb,
        matches,
        spans,
        reason is None,
        job.keys,
        request.events.types,
        job.window,
        len(job.workload.thresholds),
        job.cores,
        rounds,
        outcome.peak_worker_mb,
        reason,
    )
