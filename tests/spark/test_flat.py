"""Matches with one row per event."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import tocsin
from tocsin.errors import InputError

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_one_row_per_event_that_can_be_joined_back(spark: SparkSession) -> None:
    rows = [(1, "Open", 1, "a", 7), (2, "Shut", 3, "a", 8), (3, "Open", 5, "b", 9)]
    events = spark.createDataFrame(rows, "id long, type string, time long, room string, position int")
    columns = tocsin.Columns(time_unit="s", id="id")
    matches = tocsin.detect(
        events,
        "([Open], [Shut | T1 in {Shut, T1}])_{T1=10s}".replace("Shut | T1", "Shut, T1"),
        columns,
        key="room",
    )
    flat = tocsin.flat(matches)
    assert flat.columns == [
        "match_id", "pattern", "room", "position", "role", "type", "id", "start", "end", "position_",
    ]  # fmt: skip
    found = sorted((r.room, r.position, r.role, r.id, r.position_) for r in flat.collect())
    assert found == [
        ("a", 1, "Open", "1", 7), ("a", 2, "Shut", "2", 8), ("b", 1, "Open", "3", 9), ("b", 2, "T1", None, None),
    ]  # fmt: skip
    joined = flat.join(events.withColumn("id", F.col("id").cast("string")), "id")
    assert joined.count() == 3
    with pytest.raises(InputError, match="do not contain their events"):
        tocsin.flat(matches.drop("constituents"))


def test_what_clashes_with_a_key_gives_way(spark: SparkSession) -> None:
    rows = [("A", 1, (7,), "x"), ("B", 2, (7,), "y")]
    events = spark.createDataFrame(rows, "type string, time long, user struct<id: int>, position string")
    columns = tocsin.Columns(time_unit="s")
    flat = tocsin.flat(tocsin.detect(events, "[A][B]", columns, key="user.id"))
    assert len(set(flat.columns)) == len(flat.columns)
    assert [(row.id, row.role, row.position, row.position_) for row in flat.orderBy("position").collect()] == [
        (7, "A", 1, "x"), (7, "B", 2, "y"),
    ]  # fmt: skip
    assert "id_" in flat.columns


def test_tables_that_nothing_is_sent_to(spark: SparkSession) -> None:
    events = spark.createDataFrame([("A", 1, 5), ("B", 2, 6)], "type string, time long, n int")

    def sent(text: str, table: str, **options: object) -> int:
        columns = tocsin.Columns(time_unit="s", **options)  # type: ignore[arg-type]
        return tocsin.sent(tocsin.detect(events, text, columns, language="ecl"), table).count()

    assert sent("repeat {push(Seen {n = event.n}) {A}}", "Seen") == 1
    with pytest.raises(InputError, match=r"(?s)no event is sent to a table 'Sene'.*did you mean 'Seen'"):
        sent("repeat {push(Seen {n = event.n}) {A}}", "Sene")
    with pytest.raises(InputError, match="carry no column"):
        sent("repeat {push(*) {A}}", "forwarded", attributes=[])
    assert sent("repeat {push(*) {A}}", "A", attributes=[]) == 1
    assert sent("repeat {push(*) {A}}", "forwarded") == 1
