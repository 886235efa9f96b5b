"""What can be asked of one event: the same answers where Spark evaluates it, where it is looked up, and on Parquet."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import tocsin
from tocsin.algebra.predicate import evaluate
from tocsin.languages.core import parse

ROWS = [
    # id, k, n, v, s, t, f
    (1, 1, 1, 1.0, "pay_ok", "pay_ok", True),
    (2, 1, 2, 0.5, "payok", "zebra", False),
    (3, None, 2, None, None, "a", None),
    (4, 2**53 + 1, 2, 2.0**53, "", "", True),
    (5, 2**53, None, 2.0**53, "a%b", None, True),
    (6, -5, -5, -5.5, "a\nb", "a", False),
    (7, 2**63 - 1, 0, 2.0**63, "ä", "b", False),
]
NAMES = ("id", "k", "n", "v", "s", "t", "f")
QUESTIONS = [
    "k IS NULL",
    "v IS NOT NULL",
    "f IS NULL OR s IS NULL",
    "k IN (1, 2)",
    "k NOT IN (1, 2)",
    "s IN ('', 'payok') AND n BETWEEN 1 AND 2",
    "n NOT BETWEEN 1 AND 2",
    "s LIKE 'pay%'",
    "s LIKE 'pay\\_%'",
    "s NOT LIKE '_'",
    "s LIKE 'a\\%b' OR s LIKE 'a_b'",
    "s LIKE ''",
    *(f"k {relation} n" for relation in ("=", "<>", "<", "<=", ">", ">=")),
    *(f"k {relation} v" for relation in ("=", "<>", "<", "<=", ">", ">=")),
    *(f"v {relation} k" for relation in ("=", "<", ">=")),
    *(f"s {relation} t" for relation in ("=", "<>", "<")),
    "NOT s = t AND k IS NOT NULL",
    "f = f",
]
PATTERNS = {text: f"[Event({text})]" for text in QUESTIONS}
# So many that they are looked up.
MANY = PATTERNS | {f"other {n}": f"[Event(n = {n + 100})]" for n in range(70)}


def expected() -> set[tuple[str, str]]:
    events = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    found = set()
    for text, pattern in PATTERNS.items():
        filter = parse(pattern).pattern.accept[0].filter  # type: ignore[union-attr]
        assert filter is not None
        found |= {(text, str(event["id"])) for event in events if evaluate(filter, event, {}) is True}
    return found


def answers(matches: DataFrame) -> set[tuple[str, str]]:
    rows = matches.selectExpr("pattern", "constituents[0].id as id").collect()
    return {(row.pattern, row.id) for row in rows}


@pytest.mark.spark
@pytest.mark.slow
def test_every_route_gives_the_same_answers(spark: SparkSession, tmp_path: Path) -> None:
    schema = "id long, k long, n int, v double, s string, t string, f boolean"
    table = spark.createDataFrame(ROWS, schema).selectExpr("*", "timestamp_seconds(id) as time")
    table.write.parquet(str(tmp_path / "events"))
    by_id, path = tocsin.Columns(id="id"), str(tmp_path / "events")
    assert answers(tocsin.detect(table, PATTERNS, by_id)) == expected()
    assert answers(tocsin.detect(table, MANY, by_id)) == expected()
    assert tocsin.route(path, PATTERNS, by_id, tocsin.Run(spark=spark)).name.startswith("parquet")
    assert answers(tocsin.detect(path, PATTERNS, by_id, tocsin.Run(spark=spark))) == expected()


@pytest.mark.spark
@pytest.mark.slow
def test_a_pattern_built_in_python_is_taken_as_it_is(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        [("A", 0, 1), ("B", 300, 1), ("A", 400, 2), ("B", 701, 2)], "type string, at int, x int"
    ).selectExpr("type", "timestamp_seconds(at) as time", "x")
    pattern = tocsin.event("A").followed_by(tocsin.event("B").where("x > 0")).within("5 min")
    found = tocsin.detect(table, pattern, key="x")
    assert [row["start"].minute for row in found.collect()] == [0]
    with pytest.raises(tocsin.PatternErrors, match="unknown-attribute"):
        tocsin.detect(table, tocsin.event("A").where("y > 3"))


@pytest.mark.spark
@pytest.mark.slow
def test_a_detection_that_can_end_for_good_is_warned_of(spark: SparkSession) -> None:
    table = spark.createDataFrame([("A", 0)], "type string, at int")
    table = table.selectExpr("type", "timestamp_seconds(at) as time")
    with pytest.warns(tocsin.TocsinWarning, match="ends-for-good: C in place of the first event"):
        tocsin.detect(table, "[A in {A, C}]")
