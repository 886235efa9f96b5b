"""Any table: names with dots, blanks, backticks and capitals, fields of structs, times without a zone, types of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import tocsin
from tocsin.errors import InputError, PatternErrors
from tocsin.spark.batch.route import CHUNKS
from tocsin.spark.testing import DELAY, streamed

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ODD = (
    "named_struct('id', id % 2, 'Home', named_struct('city', concat('c', id % 2))) as User",
    "id as `row.no`",
    "cast(id as double) as `unit price`",
    "concat('t', id) as `back``tick`",
    "timestamp_seconds(id) as `At Time`",
    "if(id % 4 < 2, 'log in', 'pay-ok') as Kind",
)
PATTERN = """['log in'(user.id = $x AND `UNIT PRICE` >= 0)];['pay-ok'(user.id = $x AND user.home.city = 'c1' AND `row.no` < 7)]
    where 'log in'.user.home.city = 'pay-ok'.user.home.city"""


def found(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((row.city, *(c.id for c in row.constituents)) for row in frame.collect())


def test_names_of_all_kinds_in_tables_files_and_streams(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.range(8).selectExpr(*ODD)
    asked = {"key": "user.home.CITY", "time": "at time", "type": "KIND"}
    columns = tocsin.Columns(id="row.no")
    expected = [("c1", "1", "3")]
    assert found(tocsin.detect(events, PATTERN, columns, **asked)) == expected
    path = tmp_path / "events.parquet"
    events.coalesce(1).write.parquet(str(path))
    files = tocsin.Run(spark=spark)
    assert tocsin.route(str(path), PATTERN, columns, files, **asked).why_not(CHUNKS) is not None
    assert found(tocsin.detect(str(path), PATTERN, columns, files, **asked)) == expected
    window = "(['log in'], ['pay-ok'(user.id = 1)])_{T1=2s}"
    by_path = tocsin.detect(str(path), window, columns, files, **asked)
    assert (
        found(by_path)
        == found(tocsin.detect(events, window, columns, **asked))
        == [("c1", "1", "3"), ("c1", "5", "7")]
    )
    rows = streamed(
        spark.read.parquet(str(path)).withColumn("At Time", F.col("`row.no`")).toArrow(),
        lambda frame: tocsin.detect(
            frame,
            PATTERN,
            tocsin.Columns(id="row.no", time_unit="s"),
            tocsin.Stream(delay=f"{DELAY}s", ahead="any"),
            **asked,
        ),
        types="Kind",
        moments={"At Time": 1_000_000},
        last={"row.no": -1, "User": {"id": 0, "Home": {"city": "c0"}}},
    )
    assert [(row["city"], *(c["id"] for c in row["constituents"])) for row in rows] == expected


@pytest.fixture
def sensitive(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield spark
    spark.conf.unset("spark.sql.caseSensitive")


def test_case_matters_only_where_the_session_says_so(sensitive: SparkSession) -> None:
    frame = sensitive.createDataFrame([("A", 1, 5, 6)], "type string, time long, v int, V int")
    columns = tocsin.Columns(time_unit="s")
    assert tocsin.detect(frame, "[A(v = 5 AND V = 6)]", columns).count() == 1
    with pytest.raises(InputError, match="no column 'Type'"):
        tocsin.detect(frame, "[A]", columns, type="Type")
    with pytest.raises(PatternErrors, match="has no attribute 'vv'"):
        tocsin.detect(frame, "[A(vv = 1)]", columns)
    sensitive.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(InputError, match="'v' and 'V' have the same name"):
        tocsin.detect(frame, "[A]", columns)
    other_case = tocsin.detect(frame.select("type", "time"), "[A(TIME = 1)]", columns, key="Time")
    assert (other_case.columns[2], other_case.count()) == ("time", 1)


def test_what_is_missing_matters_only_in_rows_that_a_pattern_looks_at(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [("A", 1, "k"), ("B", 2, "k"), ("C", None, "k"), ("C", 3, None), ("A", 4, "l"), ("B", 5, "l")]
    frame = spark.createDataFrame(rows, "type string, time long, k string")
    frame.coalesce(1).write.parquet(str(tmp_path / "events"))
    columns, files = tocsin.Columns(time_unit="s"), tocsin.Run(spark=spark)
    many = " | ".join(f"[B(time = {n})]" for n in range(70))
    path = str(tmp_path / "events")
    for pattern in ("[A];[B]", f"[A];({many})"):
        for events, run in ((frame, tocsin.Run()), (path, files)):
            assert tocsin.detect(events, pattern, columns, run, key="k").count() == 2
    for pattern in ("[A];[C]", f"[A];({many} | [C])"):
        for events, run in ((frame, tocsin.Run()), (path, files)):
            with pytest.raises(Exception, match=r"no (time|key) in column"):
                tocsin.detect(events, pattern, columns, run, key="k").collect()


@pytest.fixture
def new_york(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def test_times_without_a_zone_and_dates_are_in_that_of_the_session(
    new_york: SparkSession, tmp_path: Path
) -> None:
    frame = new_york.sql(
        "select 'A' as type, timestamp_ntz'2024-01-01 12:00:00' as at, date'2024-01-01' as day, 1 as n"
    )
    path = str(tmp_path / "events.parquet")
    frame.write.parquet(path)
    for name, hour in (("at", 17), ("day", 5)):
        for events, options in ((frame, ()), (path, (tocsin.Run(spark=new_york),))):
            (row,) = tocsin.detect(events, "[A]", *options, time=name).toArrow().to_pylist()
            assert row["end"] == datetime(2024, 1, 1, hour, tzinfo=UTC)


def test_a_type_column_of_numbers(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(4625, 1), (4625, 2), (4624, 3)], "EventID int, time long")
    path = str(tmp_path / "events.parquet")
    frame.coalesce(1).write.parquet(path)
    columns = tocsin.Columns(time_unit="s")
    for events, options in ((frame, ()), (path, (tocsin.Run(spark=spark),))):
        rows = tocsin.detect(events, "[4625];[4624]", columns, *options, type="eventid").collect()
        assert [[c.type for c in row.constituents] for row in rows] == [["4625", "4624"]] * 2
    with pytest.raises(InputError, match="bad-type"):
        tocsin.detect(frame.selectExpr("1.5 as type", "time"), "[A]", columns, type="type")


def test_key_columns_keep_their_names_unless_matches_have_such_a_column(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("A", 1, "x", 7)], "type string, time long, pattern string, n int")
    frame = frame.selectExpr("*", "named_struct('n', n) as inner")
    columns = tocsin.Columns(time_unit="s")
    matches = tocsin.detect(frame, "[A]", columns, key=["pattern", "inner.n"])
    assert matches.columns == [
        "match_id",
        "pattern",
        "pattern_",
        "n",
        "start",
        "end",
        "constituents",
        "variables",
    ]
    assert [(row.pattern_, row.n) for row in matches.collect()] == [("x", 7)]
    assert tocsin.detect(frame, "[A]", columns).columns[:3] == ["match_id", "pattern", "start"]
    with pytest.raises(InputError, match="two key columns would be called 'n'"):
        tocsin.detect(frame, "[A]", columns, key=["n", "inner.n"])


def test_a_column_orders_events_of_the_same_time(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(1, "A", line, 100 - line) for line in range(5)] + [(1, "B", 5, 0)]
    frame = spark.createDataFrame(rows, "time long, type string, line int, no int").repartition(3)
    path = str(tmp_path / "events")
    frame.write.parquet(path)
    pattern = "[A][A][A][A][A][B]"
    for columns in (
        tocsin.Columns(time_unit="s", order="LINE"),
        tocsin.Columns(time_unit="s", id="no", order="line"),
    ):
        for events, options in ((frame, ()), (path, (tocsin.Run(spark=spark),))):
            (row,) = tocsin.detect(events, pattern, columns, *options).collect()
            assert [c.attributes.line for c in row.constituents] == [0, 1, 2, 3, 4, 5]
    assert tocsin.detect(frame, pattern, tocsin.Columns(time_unit="s", id="no")).count() == 0
