"""The workloads as MATCH_RECOGNIZE of Flink SQL. Flink runs with its own Python, in `flink_script`.

Its patterns have no groups, no alternatives and no negation, so what may lie between two events is expressed by reluctant
fillers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from tocsin.bench.events import csv_files
from tocsin.bench.job import Job
from tocsin.bench.peers import flink_python
from tocsin.bench.workloads import Workload

_TABLE = Template("""
CREATE TEMPORARY TABLE events (
  `key` INT, ts BIGINT, `type` STRING, v DOUBLE, moment AS TO_TIMESTAMP_LTZ(ts, 3),
  WATERMARK FOR moment AS moment - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$path', 'format' = 'csv')""")
_QUERY = Template("""
SELECT COUNT(*), SUM(stop - start_) FROM events MATCH_RECOGNIZE (
  PARTITION BY `key` ORDER BY moment MEASURES $measures ONE ROW PER MATCH AFTER MATCH SKIP $skip
  PATTERN ($pattern) $within DEFINE $define) AS found""")
_ABC = {
    "measures": "A.ts AS start_, C.ts AS stop",
    "pattern": "A X*? B Y*? C",
    "define": "A AS A.`type` = 'A', X AS X.`type` <> 'B', B AS B.`type` = 'B', Y AS Y.`type` <> 'C', C AS C.`type` = 'C'",
}
_SHAPES: Mapping[str, Mapping[str, str]] = {
    "abc": _ABC,
    "ac_without_b": {
        "measures": "A.ts AS start_, C.ts AS stop",
        "pattern": "A X*? C",
        "define": "A AS A.`type` = 'A', X AS X.`type` <> 'B' AND X.`type` <> 'C', C AS C.`type` = 'C'",
    },
    "all_three": {
        "measures": "P.ts AS start_, R.ts AS stop",
        "pattern": "P X*? Q Y*? R",
        "define": (
            "P AS P.`type` IN ('A', 'B', 'C'), "
            "X AS X.`type` NOT IN ('A', 'B', 'C') OR X.`type` = P.`type`, "
            "Q AS Q.`type` IN ('A', 'B', 'C') AND Q.`type` <> P.`type`, "
            "Y AS Y.`type` NOT IN ('A', 'B', 'C') OR Y.`type` = P.`type` OR Y.`type` = Q.`type`, "
            "R AS R.`type` IN ('A', 'B', 'C') AND R.`type` <> P.`type` AND R.`type` <> Q.`type`"
        ),
    },
}


def command(job_file: Path, result_file: Path) -> list[str]:
    """The command that runs a job written by `task`."""
    python = flink_python()
    assert python is not None, "only engines that are there are started"
    return [str(python), str(Path(__file__).with_name("flink_script.py")), str(job_file), str(result_file)]


def environment() -> dict[str, str]:
    """The environment of that process: the Java that Spark would use, and none of our own packages."""
    from tocsin.spark.session.java import find_java  # only here: the others need no Java

    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**own, "JAVA_HOME": str(find_java().home)}


def task(job: Job) -> dict[str, Any]:
    """The input of `flink_script`, which knows nothing of Tocsin."""
    return {
        "streaming": job.engine == "flink-streaming",
        "cores": job.cores,
        "rounds": job.rounds,
        "seconds": job.seconds,
        "table": _TABLE.substitute(path=csv_files(Path(job.path)).as_uri().replace("'", "''")),
        "query": query(job.workload, job.window),
    }


def query(workload: Workload, window: int) -> str:
    """The query of a workload."""
    return _QUERY.substitute(
        _SHAPES[workload.shape],
        skip="PAST LAST ROW" if workload.selection == "leftmost" else "TO NEXT ROW",
        within=f"WITHIN INTERVAL '{window // 1_000}' SECOND(8)" if workload.windowed else "",
    )
