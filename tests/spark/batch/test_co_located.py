"""Tables that were repartitioned by the key are not shuffled again, and only those."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import tocsin
from tocsin.spark.detect import detect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    numbers = spark.range(0, 3000, 1, 3)
    kind = F.element_at(F.array(F.lit("A"), F.lit("B"), F.lit("C")), (F.col("id") % 3 + 1).cast("int"))
    return numbers.select(
        F.col("id"),
        kind.alias("type"),
        (F.col("id") * 7 % 101).alias("room"),
        (F.col("id") % 2).cast("double").alias("share"),
    )


def found(table: DataFrame, key: str | list[str]) -> tuple[int, list[str]]:
    """How often rows are moved, and the matches."""
    rows = detect(table, "([A], [B][C])_{T1=1h}", tocsin.Columns(time_unit="s", id="id"), time="id", key=key)
    plan = str(rows._jdf.queryExecution().executedPlan().toString())
    return plan.count("Exchange "), sorted(row.match_id for row in rows.collect())


def test_a_table_repartitioned_by_the_key_is_moved_once(events: DataFrame) -> None:
    moves, expected = found(events, "room")
    assert moves == 1
    assert len(expected) > 500
    for table in (
        events.repartition("room"),
        events.repartition(5, "room"),
        events.repartition(5, "room").where("type != 'X'"),
    ):
        assert found(table, "room") == (1, expected)


def test_another_partitioning_does_not_help(events: DataFrame) -> None:
    _, expected = found(events, "room")
    for table in (events.repartition("type"), events.repartition("room", "type"), events.repartition(4)):
        assert found(table, "room") == (2, expected)
    # Rows of one room are together, and so those of one room and type; but Spark does not say so in this way.
    both = found(events.repartition("room"), ["room", "type"])
    assert both == (2, found(events, ["room", "type"])[1])


def test_keys_that_are_equal_and_have_other_hashes_are_moved(events: DataFrame) -> None:
    expected = found(events, "share")[1]
    assert found(events.repartition("share"), "share") == (2, expected)


def test_buckets_are_not_trusted(spark: SparkSession, events: DataFrame) -> None:
    expected = found(events, "room")
    events.write.bucketBy(4, "room").saveAsTable("bucketed_by_room", mode="overwrite")
    try:
        # With a computed column, so that Spark reads the table: files alone would be read by Arrow.
        bucketed = spark.table("bucketed_by_room").withColumn("share", F.col("share") + 0)
        assert found(bucketed, "room") == expected
    finally:
        spark.sql("drop table bucketed_by_room")
