"""Routes: each says whether it can serve and, if not, why; and all of them find the same matches."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tocsin
from tocsin.errors import InputError
from tocsin.spark.batch.route import (
    BY_KEY,
    BY_TIME,
    CHUNKS,
    LOOK_UP,
    ONE_TASK,
    PARQUET,
    PARTITIONED,
    STREAM,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
WINDOW = "([A(n > 2)], [B(n < 8)])_{T1=20s}"
UNBOUNDED = "[A(n > 2)];[B(n < 8)]"
MANY = {f"p{number}": f"([A(n > {number})], [B(v < {number / 10})])_{{T1=9s}}" for number in range(70)}


def table(rows: int = 600) -> pa.Table:
    chance = random.Random(3)
    return pa.table(
        {
            "id": pa.array(range(rows)),
            "time": pa.array([NOON + datetime.timedelta(seconds=row) for row in range(rows)]),
            "type": pa.array([chance.choice("ABC") for _ in range(rows)]),
            "k": pa.array([chance.choice("pqr") for _ in range(rows)]),
            "n": pa.array([chance.randrange(80) for _ in range(rows)]),
            "v": pa.array([chance.random() * 7 for _ in range(rows)]),
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("routes") / "events.parquet"
    pq.write_table(table(), file, row_group_size=100)
    return file


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose row groups are not in the order of time."""
    events = table()
    order = list(range(events.num_rows))
    random.Random(1).shuffle(order)
    file = tmp_path_factory.mktemp("mixed") / "events.parquet"
    pq.write_table(events.take(order), file, row_group_size=100)
    return file


@pytest.fixture(scope="module")
def frame(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.parquet(str(path)).localCheckpoint()


def rows(found: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((row.pattern, row.match_id, row.start, row.end) for row in found.collect())


def test_a_table_goes_by_key_by_time_or_to_one_task(frame: DataFrame) -> None:
    by_key = tocsin.route(frame, WINDOW, key="k")
    assert by_key.name == BY_KEY
    assert by_key.why_not(PARQUET) == "the table is more than a scan of Parquet files: LogicalRDD"
    assert by_key.why_not(PARTITIONED) == "the table is not repartitioned by the key alone"
    assert by_key.why_not(LOOK_UP) == "Spark evaluates so few predicates faster itself"
    assert "unless cut='time'" in str(by_key.why_not(BY_TIME))
    assert str(by_key).splitlines()[0] == "by key: events travel to the tasks of their keys"
    by_time = tocsin.route(frame, WINDOW)
    assert (by_time.name, by_time.why_not(BY_TIME)) == (BY_TIME, None)
    one = tocsin.route(frame, UNBOUNDED)
    assert one.name == ONE_TASK
    assert one.why_not(BY_KEY) == "the events have no key"
    assert "no longest match" in str(one.why_not(BY_TIME))
    assert tocsin.route(frame, WINDOW, tocsin.Run(cut="time"), key="k").name == BY_TIME


def test_files_are_read_by_tasks_and_detected_there_if_they_lie_in_the_order_of_time(
    spark: SparkSession, path: Path, mixed: Path
) -> None:
    run = tocsin.Run(spark=spark)
    assert tocsin.route(path, WINDOW, run, key="k").name == CHUNKS
    travelling = tocsin.route(path, UNBOUNDED, run, key="k")
    assert travelling.name == PARQUET
    assert "no longest match" in str(travelling.why_not(CHUNKS))
    by_key = tocsin.route(path, WINDOW, tocsin.Run(spark=spark, cut="key"), key="k")
    assert (by_key.name, by_key.why_not(CHUNKS)) == (PARQUET, "cut='key' is asked for")
    assert tocsin.route(mixed, MANY, run, key="k").why_not(LOOK_UP) is None


def test_rows_that_are_together_are_not_moved_and_a_stream_is_a_stream(
    spark: SparkSession, frame: DataFrame, path: Path
) -> None:
    placed = frame.repartition("k")
    assert tocsin.route(placed, WINDOW, key="k").name == PARTITIONED
    assert tocsin.route(placed, MANY, key="k").name == PARTITIONED
    by_time = tocsin.route(placed, WINDOW, tocsin.Run(cut="time"), key="k")
    assert by_time.why_not(PARTITIONED) == "cut='time' assigns events to tasks by time"
    stream = spark.readStream.schema(frame.schema).parquet(str(path.parent))
    few, many = tocsin.route(stream, WINDOW, key="k"), tocsin.route(stream, MANY, key="k")
    assert few.name == many.name == STREAM
    assert few.why_not(LOOK_UP) == "Spark evaluates so few predicates faster itself"
    assert many.why_not(LOOK_UP) is None
    assert many.summary.endswith("; predicates are looked up by Python workers")
    assert "have to meet the state of their key" in str(many.why_not(CHUNKS))
    assert str(few).count("\n") == 2  # routes that do not apply for one reason share a line
    assert few.explained.not_taken == dict(few.refused)
    rules = tocsin.Rules(path.parent / "rules")
    assert "the rules in force are looked up" in tocsin.route(stream, {}, rules, key="k").summary


def test_many_predicates_are_looked_up_if_they_have_a_form_for_it(frame: DataFrame) -> None:
    assert tocsin.route(frame, MANY, key="k").name == LOOK_UP
    by_time = tocsin.route(frame, MANY, tocsin.Run(cut="time"), key="k")
    assert by_time.name == LOOK_UP
    assert "chunks of time" in by_time.summary
    priced = frame.selectExpr("*", "cast(n as decimal(9, 2)) price")
    answered = tocsin.route(priced, MANY | {"paid": "[A(price > 3)];[B]"}, key="k")
    assert answered.name == BY_KEY
    assert answered.why_not(LOOK_UP) == "'price' is decimal(9,2), and is compared with a constant"


@pytest.mark.parametrize("patterns", [WINDOW, MANY], ids=["one", "many"])
@pytest.mark.parametrize("key", ["k", None])
def test_every_route_finds_the_same(
    spark: SparkSession, path: Path, mixed: Path, frame: DataFrame, patterns: Any, key: str | None
) -> None:
    id = tocsin.Columns(id="id")
    spark_run, by_time = tocsin.Run(spark=spark), tocsin.Run(cut="time")
    routes = {
        tocsin.route(path, patterns, spark_run, id, key=key).name: tocsin.detect(
            path, patterns, spark_run, id, key=key
        ),
        "mixed": tocsin.detect(mixed, patterns, spark_run, id, key=key),
        "table": tocsin.detect(frame, patterns, id, key=key),
        "by time": tocsin.detect(frame, patterns, id, by_time, key=key),
        "keyed": tocsin.detect(frame.repartition("k"), patterns, id, key=key),
    }
    assert CHUNKS in routes
    found = {name: rows(matches) for name, matches in routes.items()}
    assert len(found[CHUNKS]) > 20
    assert all(one == found[CHUNKS] for one in found.values()), {
        name: len(one) for name, one in found.items()
    }


def test_a_cut_that_is_not_possible_is_an_error_and_not_another_route(frame: DataFrame, path: Path) -> None:
    with pytest.raises(InputError, match="no longest match") as caught:
        tocsin.route(frame, UNBOUNDED, tocsin.Run(cut="time"), key="k")
    assert caught.value.code == "cannot-cut"
    with pytest.raises(InputError, match="have no key"):
        tocsin.detect(frame, WINDOW, tocsin.Run(cut="key"))
