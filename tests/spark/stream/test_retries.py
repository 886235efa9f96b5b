"""A run in which Python workers die and Spark repeats their tasks has the same matches and counters as any other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PIPELINE = """
[[source]]
name = "sensors"
format = "table"
table = "sensors"
id = "id"
limit = [{ type = "Door", by = ["room"], every = "30s" }]

[[subscription]]
name = "Cold"
key = "room"
pattern = "([Door], [Temp(temp < 15)])_{T1=20s}"

[[subscription]]
name = "ColdTwice"
events = ["Cold"]
pattern = "[Cold][Cold]"

[[sink]]
format = "parquet"
path = "matches"
mode = "overwrite"

[dead_letters]
path = "dead"
mode = "overwrite"
"""

# Spark gives up after a third failure of a task; the sessions of the other tests, after the first.
PROGRAM = """
import json, os
from pathlib import Path
from pyspark import TaskContext
from tocsin.spark.pipeline import run_pipeline
from tocsin.spark.session.session import local_session

def dies_once(batches):
    task = TaskContext.get()
    # What this attempt has handed on must not count.
    yield from batches
    if task.attemptNumber() == 0:
        (deaths / f"stage {task.stageId()}, task {task.partitionId()}").touch()
        os._exit(1)

def told():
    report = run_pipeline("pipeline.toml", session=session)
    rows = [session.read.parquet(f"matches/{name}") for name in report.matches]
    ids = [sorted(row["match_id"] for row in frame.collect()) for frame in rows]
    return report.as_dict() | {"seconds": None, "ids": ids}

deaths = Path("deaths").resolve()
deaths.mkdir()
session = local_session(shuffle_partitions=2, extra_conf={"spark.master": "local[2,3]"})
events = session.range(0, 600, 1, 2).selectExpr(
    "id",
    "case id % 3 when 0 then 'Door' when 1 then 'Temp' else 'Lamp' end as type",
    "case when id % 50 > 0 then timestamp_seconds(id) end as time",
    "concat('FE0', id % 7) as room",
    "id * 31 % 25 as temp",
)
for frame in (events, events.mapInArrow(dies_once, events.schema)):
    frame.createOrReplaceTempView("sensors")
    print(json.dumps([told(), len(list(deaths.iterdir()))], default=str))
"""


def test_tasks_that_are_repeated_count_once(tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (undisturbed, no_deaths), (repeated, deaths) = map(json.loads, done.stdout.splitlines())
    assert no_deaths == 0
    assert deaths >= 2, "every task that reads the source must have died once"
    assert repeated == undisturbed
    # So that it means something: matches of both kinds, and events of every fate.
    assert min(len(ids) for ids in repeated["ids"]) > 10
    only_in_streams = ("late", "repeated")
    assert min(count for fate, count in repeated["total"].items() if fate not in only_in_streams) > 0
