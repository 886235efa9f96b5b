"""The process in which one engine runs one workload: `python -m tocsin.bench.child JOB RESULT`, two files of JSON."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

from tocsin.bench.engines import ENGINES
from tocsin.bench.job import Job, Round, write_result
from tocsin.errors import TocsinError


def main(job_file: str, result_file: str) -> int:
    """Run the rounds of a job; the result is the exit code."""
    job = Job.from_json(Path(job_file).read_text(encoding="utf-8"))
    try:
        prepare = importlib.import_module(ENGINES[job.engine].home).prepare
        result = _measure(prepare(job), job.rounds, job.seconds)
    except TocsinError as problem:
        result = {"failed": f"{problem.code}: {problem.message}"}
    except Exception as problem:  # noqa: BLE001  (any failure is this engine's result)
        result = {"failed": _told(problem)}
    write_result(Path(result_file), result)
    return 1 if "failed" in result else 0


def _measure(round: Round, rounds: int, at_least: float) -> dict[str, Any]:
    seconds: list[float] = []
    answers = []
    while len(seconds) < rounds or sum(seconds[1:]) < at_least:
        began = time.perf_counter()
        found = round()
        seconds.append(time.perf_counter() - began)
        answers.append(found())
    if len(set(answers)) > 1:
        return {"failed": f"the rounds found different things: {answers}"}
    return {"seconds": seconds, **answers[0]._asdict()}


def _told(problem: Exception) -> str:
    if "pyspark" in sys.modules:
        # Imported here, because it loads Spark.
        from tocsin.spark.session.failures import explain_failure, is_from_spark

        if is_from_spark(problem):
            return explain_failure(problem)
    return f"{type(problem).__name__}: {problem}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
