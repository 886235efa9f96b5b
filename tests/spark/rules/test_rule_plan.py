"""Rules that change while a query of Structured Streaming runs, and stay changed when it starts again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.calls import detect
from support.event_files import BY_ROOM, SCHEMA, table, told, write
from tocsin.errors import InputError, PatternErrors
from tocsin.spark.rules.folder import write_change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Row = tuple[Any, ...]
PIECES: list[list[Row]] = [
    [(1, "A", 1, "x", 1, 5), (2, "A", 6, "x", 1, 6), (3, "A", 9, "y", 1, 7), (4, "Z", 10, "z", 1, 0)],
    [(5, "B", 11, "x", 1, 5), (6, "A", 12, "x", 1, 6), (7, "C", 13, "y", 1, 9), (8, "Z", 20, "z", 1, 0)],
    [(9, "C", 21, "x", 1, 9), (10, "B", 22, "y", 1, 5), (11, "C", 23, "y", 1, 1), (12, "Z", 30, "z", 1, 0)],
    [(13, "B", 31, "x", 1, 5), (14, "C", 32, "x", 1, 6), (15, "C", 33, "y", 1, 9), (16, "Z", 99, "z", 1, 0)],
]
AB, AC, BC = "[A];[B]", "[A];[C(v > 3)]", "[B];[C]"
STAYS = "[A(v = $v)][C(v = $v)]"


def test_a_worker_loads_no_compiler_before_a_rule_comes() -> None:
    code = "import sys, tocsin.spark.rules.changing_rules; print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {module.split(".")[1] for module in loaded} == {"errors", "events", "runtime", "spark", "values"}
    assert {m for m in loaded if m.startswith("tocsin.spark.")} == {
        "tocsin.spark.batch",
        "tocsin.spark.batch.shard_numbers",
        "tocsin.spark.rules",
        "tocsin.spark.rules.changing_rules",
        "tocsin.spark.stream",
        *(
            f"tocsin.spark.stream.{name}"
            for name in ("damage", "recall", "received", "shard_head", "shard_processor", "state_store")
        ),
    }


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).json(str(folder / "in"))


def started(matches: DataFrame, folder: Path) -> StreamingQuery:
    return (
        matches.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .format("parquet")
        .start(str(folder / "out"))
    )


def give(query: StreamingQuery, folder: Path, number: int, piece: Sequence[Row]) -> None:
    """Let a query that runs read a piece; it is moved into the folder when it is whole."""
    write(folder / "draft", [piece], first=number)
    (folder / "in").mkdir(exist_ok=True)
    (folder / "draft" / f"{number}.json").rename(folder / "in" / f"{number}.json")
    query.processAllAvailable()


def changes_in(rows: DataFrame) -> list[dict[str, Any]]:
    found = [json.loads(row.rule_change) for row in rows.where("rule_change is not null").collect()]
    return sorted(found, key=lambda one: one.get("number", 0))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_rules_change_while_a_query_runs_and_after_it_started_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = tmp_path / "rules"

    def begin() -> StreamingQuery:
        found = detect(
            stream(spark, tmp_path),
            {"AB": AB, "stays": STAYS},
            delay="2s",
            rules=rules,
            rule_changes="keep",
            **BY_ROOM,
        )
        return started(found, tmp_path)

    (tmp_path / "in").mkdir()
    query = begin()
    give(query, tmp_path, 0, PIECES[0])  # decided up to 8 s
    write_change(rules, {"action": "add", "name": "AC", "text": AC})
    write_change(rules, {"action": "add", "name": "bad", "text": "[A];[B(w > 1)]"})
    give(query, tmp_path, 1, PIECES[1])  # decided up to 18 s
    query.stop()
    # As if it had been killed before it could note that its last micro-batch was done: that one is run again.
    commits = tmp_path / "checkpoint" / "commits"
    last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
    (commits / str(last)).unlink()
    (commits / f".{last}.crc").unlink(missing_ok=True)
    # What AC has begun is completed by a query that starts from the checkpoint, whose text knows nothing of AC.
    query = begin()
    give(query, tmp_path, 2, PIECES[2])  # decided up to 28 s
    write_change(rules, {"action": "remove", "name": "AB"})
    write_change(rules, {"action": "replace", "name": "AC", "text": BC})
    give(query, tmp_path, 3, PIECES[3])
    query.stop()

    out = spark.read.parquet(str(tmp_path / "out"))
    made = changes_in(out)
    assert [
        (one["number"], one["action"], one["name"], one.get("until"), one.get("code")) for one in made
    ] == [
        (1, "add", "AC", "1970-01-01T00:00:08.000000Z", None),
        (2, "add", "bad", None, "unknown-attribute"),
        (3, "remove", "AB", "1970-01-01T00:00:28.000000Z", None),
        (4, "replace", "AC", "1970-01-01T00:00:28.000000Z", None),
    ]
    assert made[0]["batch"] < made[2]["batch"]
    events = table(spark, tmp_path)
    own = {
        ("stays", STAYS): events,
        ("AB", AB): events.where("t <= 28"),
        ("AC", AC): events.where("t > 8 and t <= 28"),
        ("AC", BC): events.where("t > 28"),
    }
    expected = [
        row for (name, text), seen in own.items() for row in told(detect(seen, {name: text}, **BY_ROOM))
    ]
    assert told(out.where("pattern is not null").drop("rule_change")) == sorted(expected)
    counts = {row.pattern: row["count"] for row in out.groupBy("pattern").count().collect()}
    assert counts == {"stays": 2, "AB": 3, "AC": 3, None: 4}

    from tocsin.spark.stream.inspect import read_rules

    book = read_rules(spark, tmp_path / "checkpoint")
    assert [(rule.name, rule.text) for rule in book.rules] == [("stays", STAYS), ("AC", BC)]
    assert [one.code for one in book.history] == [None, "unknown-attribute", None, None]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
@pytest.mark.parametrize(
    ("language", "made", "other"),
    [
        ("ecl", "repeat {push(Made {v = event.v}) {A}}", "repeat {push(Made {v = event.v}) {B}}"),
        (
            "ksu",
            "N correlation C (A a, B b) l:(a+b) { case l: push new N {v = b.v} }",
            "N correlation D (A a, B b) l:(b;a) { case l: push new N {v = a.v} }",
        ),
    ],
)
def test_programs_that_send_events_change_too_and_changes_may_come_from_a_table(
    spark: SparkSession, tmp_path: Path, language: str, made: str, other: str
) -> None:
    changed = tmp_path / "changes"
    changed.mkdir()
    schema = "number long, action string, name string, text string"
    rows = [
        {"number": 1, "action": "add", "name": "new", "text": made.replace("{v =", "{z =")},
        {"number": 2, "action": "add", "name": "other", "text": other},
    ]
    (changed / "1.json").write_text("\n".join(map(json.dumps, rows)))
    columns = {"time": "t", "time_unit": "s", "id": "id", "language": language}
    write(tmp_path / "in", PIECES)
    found = detect(
        stream(spark, tmp_path),
        {"made": made},
        delay="2s",
        rules=spark.readStream.schema(schema).json(str(changed)),
        rule_changes="keep",
        **columns,
    )
    query = started(found, tmp_path)
    query.processAllAvailable()
    query.stop()
    out = spark.read.parquet(str(tmp_path / "out"))
    assert [one.get("code") for one in changes_in(out)] == ["new-output", None]
    expected = detect(table(spark, tmp_path), {"made": made, "other": other}, **columns)
    assert told(out.where("pattern is not null").drop("rule_change")) == told(expected)
    assert {row.pattern for row in expected.collect()} == {"made", "other"}


@pytest.mark.spark
@pytest.mark.slow
def test_options_of_rules_are_checked(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.readStream.format("rate").load().selectExpr("timestamp as time", "'A' as type", "value")
    rows = spark.range(1).selectExpr("id as number")
    for given, expected in (
        ({"rules": tmp_path, "rule_changes": "shout"}, "report of Rules cannot be 'shout'"),
        ({"rules": rows}, "this is a table"),
        ({"rules": events}, "no column 'number'"),
        ({"rules": tmp_path, "rule_columns": ["valu"]}, "the table has no column 'valu'"),
    ):
        with pytest.raises(InputError, match=expected):
            detect(events, {}, **given)
    with pytest.raises(InputError, match="only a stream has rules that change"):
        detect(spark.range(1), {}, rules=tmp_path)
    with pytest.raises(PatternErrors, match="A has no attribute 'value'"):
        detect(events, {"x": "[A(value = 1)]"}, rules=tmp_path, rule_columns=["type"])
