"""Prefilters: repeated events are held back until their time has passed. Checked against a plain Python version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.runtime.batch.hold_back import LimitJob, limit_partition
from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB = LimitJob((10, 25), "limit", "group", "start", "end", "id", "held_back")
SCHEMA = pa.schema(
    [
        ("limit", pa.int32()),
        ("group", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("id", pa.int64()),
        ("what", pa.string()),
    ]
)

Row = tuple[int | None, str | None, int, int, int, str]


@st.composite
def partitions(draw: st.DrawFn) -> list[list[Row]]:
    """Batches of rows in any order, with ties; a group belongs to one limit."""
    rows: list[Row] = []
    for id in range(draw(st.integers(0, 40))):
        limit = draw(st.sampled_from([None, 0, 1]))
        end = draw(st.integers(0, 60))
        group = None if limit is None else f"{limit}{draw(st.sampled_from('abc'))}"
        rows.append((limit, group, end - draw(st.integers(0, 5)), end, id, "x"))
    cut = draw(st.integers(0, len(rows)))
    shuffled = draw(st.permutations(rows))
    return [shuffled[:cut], shuffled[cut:]]


def held_back(rows: list[Row]) -> set[int]:
    """The ids of the rows that are held back, in the most obvious way."""
    last: dict[str, int] = {}
    found: set[int] = set()
    for limit, group, _, end, id, _ in sorted(rows, key=lambda row: (row[3], row[2], row[4])):
        if limit is None or group is None:
            continue
        if group in last and end - last[group] < JOB.every[limit]:
            found.add(id)
        else:
            last[group] = end
    return found


def batches(parts: list[list[Row]]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        columns = list(zip(*part, strict=True)) if part else [()] * len(SCHEMA)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


@given(partitions())
def test_the_kernel_holds_back_what_the_plain_version_does(parts: list[list[Row]]) -> None:
    found = list(limit_partition(JOB, batches(parts)))
    rows = [row for batch in found for row in batch.to_pylist()]
    assert sorted(row["id"] for row in rows) == sorted(row[4] for part in parts for row in part)
    assert {row["id"] for row in rows if row["held_back"]} == held_back(
        [row for part in parts for row in part]
    )
    assert all(set(row) == {"start", "end", "id", "what", "held_back"} for row in rows)


PIPELINE = """
[event.Seen]
name = "string"
room = "string"

[event.Badge]
extends = "Seen"

[event.Left]
name = "string"

[[source]]
name = "badges"
format = "jsonl"
path = "badges.jsonl"
time_unit = "s"
id = "id"
limit = [
    { type = "Badge", by = ["name"], every = "20s" },
    { type = "Seen", by = ["name", "room"], every = "1min" },
]

[[subscription]]
name = "Someone"
attributes = []
pattern = "[Seen]"
"""


@pytest.mark.spark
@pytest.mark.slow
def test_limits_of_a_source_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    events = [
        (1, "Seen", 0, "Jean", "A"),
        (2, "Seen", 30, "Jean", "A"),  # repeats 1
        (3, "Seen", 30, "Jean", "B"),  # another room
        (4, "Badge", 30, "Jean", "A"),  # another type, and a limit of its own
        (5, "Badge", 45, "Jean", "B"),  # repeats 4, whatever the room
        (6, "Badge", 50, "Jean", "B"),  # 20 s after 4
        (7, "Seen", 59, "Jean", "A"),  # repeats 1 still: 2 was not kept
        (8, "Seen", 60, "Jean", "A"),  # a minute after 1
        (9, "Seen", 61, "Jean", None),  # without a room it repeats nothing
        (10, "Seen", 62, "Jean", None),
        (11, "Left", 63, "Jean", None),  # no limit, and no pattern looks at it
        (12, "Seen", 64, "Peter", "A"),
    ]
    with (tmp_path / "badges.jsonl").open("w") as file:
        for id, type, time, name, room in events:
            file.write(json.dumps({"id": id, "type": type, "time": time, "name": name, "room": room}) + "\n")
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark)
    counters = report.sources["badges"]
    assert (counters.read, counters.used, counters.irrelevant, counters.limited) == (12, 8, 4, 3)
    assert report.matches == {"Someone": 8}
