"""A stream gives the answer of the table on Structured Streaming, across restarts; options and errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.calls import detect
from support.event_files import BY_ROOM, SCHEMA, table, told, write
from tocsin.errors import InputError
from tocsin.spark.session.failures import explain_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABSENCE = "([A], [T1 in {T1, B}])_{T1=5s}"


def test_a_worker_of_a_stream_loads_no_compiler() -> None:
    code = "import sys, tocsin.spark.stream.stream_query; print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {module.split(".")[1] for module in loaded} == {"errors", "events", "runtime", "spark", "values"}
    own = {module.removeprefix("tocsin.spark.") for module in loaded if module.startswith("tocsin.spark.")}
    assert own == {
        "batch",
        "batch.shard_numbers",
        "stream",
        *(
            f"stream.{name}"
            for name in (
                "damage",
                "recall",
                "received",
                "shard_head",
                "shard_processor",
                "state_store",
                "stream_query",
            )
        ),
    }


# Structured Streaming

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


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "in"))


def run(matches: DataFrame, folder: Path) -> None:
    """Run a query from its checkpoint until it has used every file."""
    query = (
        matches.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"), format="parquet")
    )
    query.awaitTermination()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_a_stream_gives_the_answer_of_the_table_across_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "in", EVENTS[:2])
    found = detect(stream(spark, tmp_path), PATTERNS, delay="5s", **BY_ROOM)
    run(found, tmp_path)
    early = spark.read.parquet(str(tmp_path / "out")).count()
    write(tmp_path / "in", EVENTS[2:], first=2)
    run(detect(stream(spark, tmp_path), PATTERNS, delay="5s", **BY_ROOM), tmp_path)
    expected = detect(table(spark, tmp_path), PATTERNS, **BY_ROOM)
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
    run(detect(stream(spark, tmp_path), text, delay="6s", columns=wanted, **columns), tmp_path)
    expected = told(detect(table(spark, tmp_path), text, columns=wanted, **columns))
    assert told(spark.read.parquet(str(tmp_path / "out"))) == expected
    assert expected


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_a_late_event_stops_the_query_and_is_named(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    late = (50, "B", 5, "x", 1, 0)
    write(tmp_path / "in", [EVENTS[0], [(98, "A", 98, "x", 1, 0)], [(97, "A", 97, "x", 1, 0)], [late]])
    found = detect(stream(spark, tmp_path), "[A];[B]", delay="6s", **BY_ROOM)
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
            detect(events, "[A]", **{option: value})


MANY = {
    **PATTERNS,
    **{f"over {n}": f"[A(v >= {n} AND floor = 1)];[B(v < {n + 9})]" for n in range(40)},
    **{f"not {n}": f"[A(v = {n})][B in {{B, C(v > {n})}}]" for n in range(30)},
}


@pytest.mark.spark
@pytest.mark.slow
def test_many_predicates_are_looked_up_and_give_the_answer_of_the_table(
    spark: SparkSession, tmp_path: Path, few_partitions: None
) -> None:
    write(tmp_path / "in", EVENTS)
    matches = detect(stream(spark, tmp_path), MANY, delay="5s", **BY_ROOM)
    planned = matches._jdf.queryExecution().toString()
    assert "ask:v" in planned
    assert "bits0" not in planned
    run(matches, tmp_path)
    found = spark.read.parquet(str(tmp_path / "out"))
    wanted = detect(table(spark, tmp_path), MANY, **BY_ROOM)
    assert told(found) == told(wanted)
    assert len({row["pattern"] for row in found.collect()}) > 10
