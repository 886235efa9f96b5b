"""A stream gives the answer of the table on Structured Streaming, across restarts; options and errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tocsin
from tocsin.errors import InputError
from tocsin.spark.failures import explain_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABSENCE = "([A], [T1 in {T1, B}])_{T1=5s}"


def test_a_worker_of_a_stream_loads_no_compiler() -> None:
    code = (
        "import sys, tocsin.spark.stream; print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {module.split(".")[1] for module in loaded} == {"errors", "events", "runtime", "spark", "values"}
    own = {module.removeprefix("tocsin.spark.") for module in loaded if module.startswith("tocsin.spark.")}
    assert own == {"memory", "places", "stream"}


# Structured Streaming

SCHEMA = "id long, type string, t long, room string, floor int, v int"
EVENTS = [
    [(1, "A", 1, "x", 1, 5), (4, "B", 4, "x", 1, 6), (2, "A", 2, "y", 1, None), (0, "A", 0, "z", 1, 5)],
    [(3, "A", 3, "x", 2, 7), (9, "B", 9, "y", 1, 5), (6, "A", 6, "x", 1, 8)],
    [(7, "B", 7, "x", 2, 7), (14, "A", 14, "y", 1, 9), (12, "C", 12, "x", 1, 5)],
    # No pattern looks at the last event, and yet it says that time has passed.
    [(99, "Z", 99, "z", 0, 0)],
]
PATTERNS = {
    "sequence": "[A];[B]",
    "same": "[A(v = $v)][C(v = $v)]",
    "absence": ABSENCE,
    "parts": "[A];[B] || [C]",
}
BY_ROOM = {"time": "t", "time_unit": "s", "id": "id", "key": ["room", "floor"]}


def write(folder: Path, pieces: Sequence[Sequence[tuple[Any, ...]]], first: int = 0) -> None:
    """A file a piece; the file source takes them by the time they were changed."""
    folder.mkdir(exist_ok=True)
    names = [column.split()[0] for column in SCHEMA.split(", ")]
    for number, piece in enumerate(pieces, first):
        file = folder / f"{number}.json"
        file.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in piece))
        os.utime(file, (1_000 + number, 1_000 + number))


@pytest.fixture
def few_partitions(spark: SparkSession) -> Iterator[None]:
    """Each partition of the state costs time in every micro-batch."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "in"))


def table(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.schema(SCHEMA).json(str(folder / "in"))


def run(matches: DataFrame, folder: Path) -> None:
    """Run a query from its checkpoint until it has used every file."""
    query = (
        matches.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"), format="parquet")
    )
    query.awaitTermination()


def told(matches: DataFrame) -> list[str]:
    return sorted(repr(row) for row in matches.collect())


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_a_stream_gives_the_answer_of_the_table_across_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "in", EVENTS[:2])
    found = tocsin.detect(stream(spark, tmp_path), PATTERNS, delay="5s", **BY_ROOM)
    run(found, tmp_path)
    early = spark.read.parquet(str(tmp_path / "out")).count()
    write(tmp_path / "in", EVENTS[2:], first=2)
    run(tocsin.detect(stream(spark, tmp_path), PATTERNS, delay="5s", **BY_ROOM), tmp_path)
    expected = tocsin.detect(table(spark, tmp_path), PATTERNS, **BY_ROOM)
    streamed = spark.read.parquet(str(tmp_path / "out"))
    assert found.schema == expected.schema
    assert told(streamed) == told(expected)
    assert 0 < early < expected.count()
    assert {row.pattern for row in streamed.collect()} == set(PATTERNS)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ecl", "repeat {push(Made {v = event.v}) {A}}"),
        ("ksu", "N correlation C (A a, B b) l:(a|b) || m:(a+b) { case l|m: push a; push new N {v = b.v} }"),
    ],
)
def test_languages_that_send_events_send_the_same_in_a_stream(
    spark: SparkSession, tmp_path: Path, language: str, text: str
) -> None:
    write(tmp_path / "in", [EVENTS[0], EVENTS[1] + EVENTS[2], EVENTS[3]])
    columns = {"time": "t", "time_unit": "s", "id": "id", "language": language}
    wanted = ["what", "type", "end", "match_id"]
    run(tocsin.detect(stream(spark, tmp_path), text, delay="6s", columns=wanted, **columns), tmp_path)
    expected = told(tocsin.detect(table(spark, tmp_path), text, columns=wanted, **columns))
    assert told(spark.read.parquet(str(tmp_path / "out"))) == expected
    assert expected


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_a_late_event_stops_the_query_and_is_named(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    late = (50, "B", 5, "x", 1, 0)
    write(tmp_path / "in", [EVENTS[0], [(98, "A", 98, "x", 1, 0)], [(97, "A", 97, "x", 1, 0)], [late]])
    found = tocsin.detect(stream(spark, tmp_path), "[A];[B]", delay="6s", **BY_ROOM)
    with pytest.raises(StreamingQueryException) as stopped:
        run(found, tmp_path)
    told = explain_failure(stopped.value)
    assert told.startswith("late-event: event 50 of type B ended at 1970-01-01T00:00:05")
    assert "hint: allow a longer delay" in told


@pytest.mark.spark
@pytest.mark.slow
def test_options_are_checked(spark: SparkSession) -> None:
    events = spark.readStream.format("rate").load().selectExpr("timestamp as time", "'A' as type")
    for option, value in (("delay", "soon"), ("late", "never"), ("shards", 0), ("detection", "sure")):
        expected = "no detection policy 'sure'" if option == "detection" else f"{option} cannot be {value!r}"
        with pytest.raises(InputError, match=expected):
            tocsin.detect(events, "[A]", **{option: value})
