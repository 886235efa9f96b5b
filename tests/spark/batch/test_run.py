"""How a table travels on Spark: shards to their partitions, chunks of time to several tasks, and the same matches always."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

import tocsin
from support.parquet_tables import read_by_spark
from tocsin.errors import InputError
from tocsin.runtime.transport.pack import PACKED, pack_by_key
from tocsin.spark.batch.run import _by_shard
from tocsin.spark.batch.shard_numbers import shard_places
from tocsin.spark.detect import detect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PAIRS = "([A], [B])_{T1=20s}"
SILENCE = "([A], [T1 in {T1, B}])_{T1=5s}"


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.range(0, 20_000, 1, 3).selectExpr(
        "id",
        "case pmod(hash(id), 5) when 0 then 'A' when 1 then 'B' else 'C' end as type",
        "timestamp_seconds(pmod(id * 7919, 20011)) as time",
        "cast(pmod(hash(id, 3), 40) as int) as key",
    )


JOINING = "spark.sql.adaptive.coalescePartitions.enabled"
NUMBER = "spark.sql.shuffle.partitions"


@pytest.fixture
def partitions(spark: SparkSession) -> Iterator[None]:
    """Lets a test change the number of shuffle partitions, and whether Spark joins small ones."""
    before = {name: str(spark.conf.get(name)) for name in (JOINING, NUMBER)}
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


def plan_of(found: DataFrame) -> str:
    return str(found._jdf.queryExecution().executedPlan().toString())


def rows(found: DataFrame) -> list[str]:
    return sorted(map(repr, found.collect()))


@pytest.mark.parametrize("shards", [1, 2, 5, 200])
def test_a_place_is_what_spark_sends_to_the_partition_of_its_shard(spark: SparkSession, shards: int) -> None:
    numbered = [(shard, place) for shard, place in enumerate(shard_places(shards))]
    frame = spark.createDataFrame(numbered, "shard int, place int")
    wrong = frame.where(F.expr(f"pmod(hash(place), {shards})") != F.col("shard"))
    assert wrong.collect() == []


def test_each_shard_has_a_partition_of_its_own(spark: SparkSession, events: DataFrame) -> None:
    ready = events.selectExpr("key as key0", "unix_micros(time) as end", "type")
    packed = ready.mapInArrow(partial(pack_by_key, 5, 1), from_arrow_schema(PACKED))
    there = _by_shard(packed, 5).select("place", F.spark_partition_id().alias("partition")).distinct()
    assert sorted((row.partition, row.place) for row in there.collect()) == list(enumerate(shard_places(5)))


@pytest.mark.usefixtures("partitions")
@pytest.mark.parametrize("key", ["key", None])
def test_the_number_of_partitions_makes_no_difference(
    spark: SparkSession, events: DataFrame, key: str | None
) -> None:
    patterns = {"pair": PAIRS, "silence": SILENCE}
    spark.conf.set(NUMBER, "1")
    whole = rows(detect(events, patterns, tocsin.Columns(id="id"), key=key))
    assert len(whole) > 1000
    for number in (2, 7):
        spark.conf.set(NUMBER, str(number))
        assert rows(detect(events.repartition(4), patterns, tocsin.Columns(id="id"), key=key)) == whole


@pytest.mark.usefixtures("partitions")
def test_a_pattern_without_a_key_uses_several_tasks_if_it_can_be_cut(
    spark: SparkSession, events: DataFrame
) -> None:
    spark.conf.set(NUMBER, "4")
    spark.conf.set(JOINING, "false")

    def tasks(pattern: str) -> int:
        found = detect(events, pattern, tocsin.Columns(id="id", attributes=[]))
        return found.select(F.spark_partition_id()).distinct().count()

    assert tasks(PAIRS) == 4
    assert tasks("[A][B]") == 1


def test_a_table_with_a_start_and_an_end_is_cut_as_well(spark: SparkSession, events: DataFrame) -> None:
    lasting = events.selectExpr(
        "id", "type", "time - make_dt_interval(0, 0, 0, id % 30) as begin", "time as over"
    )
    found = detect(lasting, PAIRS, tocsin.Columns(id="id", attributes=[]), time=("begin", "over"))
    whole = detect(
        lasting.withColumn("key", F.lit(1)),
        PAIRS,
        tocsin.Columns(id="id", attributes=[]),
        time=("begin", "over"),
        key="key",
    )

    def matches(frame: DataFrame) -> list[str]:
        return sorted(repr((row.start, row.end, [c.id for c in row.constituents])) for row in frame.collect())

    assert matches(found) == matches(whole)


def test_nothing_runs_before_the_matches_are_asked_for(spark: SparkSession, events: DataFrame) -> None:
    failing = events.withColumn(
        "time", F.when(F.col("id") >= 0, F.raise_error(F.lit("read"))).cast("timestamp")
    )
    detect(failing, PAIRS, tocsin.Columns(id="id", attributes=[]))


def test_a_stream_that_must_stay_whole_is_packed_by_all_tasks(events: DataFrame) -> None:
    """A match may last for ever, so one task detects; but no row waits for it to be read."""
    whole = detect(events, "[A];[B] with matches = leftmost")
    assert "Coalesce 1" not in plan_of(whole)
    assert rows(whole) == rows(detect(events.coalesce(1), "[A];[B] with matches = leftmost"))


@pytest.mark.parametrize("pattern", [PAIRS, SILENCE])
@pytest.mark.parametrize("source", ["frame", "files"])
def test_leftmost_matches_without_a_key_are_found_by_all_tasks(
    spark: SparkSession, events: DataFrame, tmp_path: Path, source: str, pattern: str
) -> None:
    events = events.withColumn(
        "time", F.unix_seconds("time")
    )  # of old timestamps files do not tell the first and the last
    if source == "files":
        events.repartition(3).write.parquet(str(tmp_path / "events"))
        events = read_by_spark(spark, tmp_path / "events")
    text = f"{pattern} with matches = leftmost"
    found = detect(events, text, tocsin.Columns(id="id", time_unit="s"), tocsin.Run(cut="time"))
    whole = detect(
        events.withColumn("all", F.lit(1)),
        text,
        tocsin.Columns(id="id", time_unit="s"),
        tocsin.Run(cut="key"),
        key="all",
    )
    ids = F.col("constituents.id")
    assert rows(found.select("start", "end", ids)) == rows(whole.select("start", "end", ids))
    assert found.count() > 500
    # Files tell where to cut, and need not be sampled.
    assert ("percentile_approx" in plan_of(found)) is (source == "frame")


@pytest.mark.parametrize("pattern", [PAIRS, SILENCE, f"{PAIRS} with matches = next"])
def test_keys_cut_by_time_have_the_same_matches(events: DataFrame, pattern: str) -> None:
    skewed = events.withColumn("key", F.when(F.col("key") < 35, 0).otherwise(F.col("key")))
    by_time = detect(skewed, pattern, tocsin.Run(cut="time"), key="key")
    by_key = detect(skewed, pattern, tocsin.Run(cut="key"), key="key")
    assert by_time.count() > 0
    assert rows(by_time) == rows(by_key)


def test_what_needs_the_past_is_not_cut_by_time(events: DataFrame) -> None:
    with pytest.raises(InputError, match="cannot-cut"):
        detect(events, f"{PAIRS} with matches = leftmost", tocsin.Run(cut="time"), key="key")
    with pytest.raises(InputError, match="bad-option"):
        detect(events, PAIRS, tocsin.Run(cut="day"), key="key")
