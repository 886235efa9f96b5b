"""Runs one query in Flink: `python flink_script.py TASK RESULT`, two files of JSON. Needs pyflink and nothing of ours."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def main(task_file: str, result_file: str) -> int:
    """Run the rounds of a task; the result is the exit code."""
    task = json.loads(Path(task_file).read_text(encoding="utf-8"))
    try:
        result = _measure(task)
    except Exception as problem:  # noqa: BLE001  (any failure is this engine's result)
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        causes = [line for line in lines if line.startswith("Caused by: ")]
        result = {"failed": (causes or lines or [type(problem).__name__])[-1]}
    Path(result_file).write_text(json.dumps(result), encoding="utf-8")
    return 1 if "failed" in result else 0


def _measure(task: dict[str, Any]) -> dict[str, Any]:
    from pyflink.table import EnvironmentSettings, TableEnvironment

    streaming = bool(task["streaming"])
    settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    tables = TableEnvironment.create(settings)
    options = {"parallelism.default": str(task["cores"]), "table.local-time-zone": "UTC"}
    if streaming:
        # Flink emits running sums; in larger steps, so that this costs next to nothing.
        options["table.exec.mini-batch.enabled"] = "true"
        options["table.exec.mini-batch.allow-latency"] = "1 s"
        options["table.exec.mini-batch.size"] = "10000"
    for name, value in options.items():
        tables.get_config().set(name, value)
    tables.execute_sql(task["table"])
    seconds: list[float] = []
    answers = []
    while len(seconds) < task["rounds"] or sum(seconds[1:]) < task["seconds"]:
        began = time.perf_counter()
        last = None
        with tables.execute_sql(task["query"]).collect() as rows:
            for row in rows:
                last = row
        seconds.append(time.perf_counter() - began)
        answers.append((int(last[0]), int(last[1] or 0)) if last else (0, 0))
    if len(set(answers)) > 1:
        return {"failed": f"the rounds found different things: {answers}"}
    return {"seconds": seconds, "matches": answers[0][0], "span_sum": answers[0][1]}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
