"""A type that a pattern names and no event has is told, in what is read anyway."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import tocsin
from tocsin.errors import TocsinWarning

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def told(*arguments: object, **named: object) -> list[str]:
    """What is warned of when all matches are collected."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tocsin.detect(*arguments, **named).collect()  # type: ignore[arg-type]
    return [str(one.message) for one in caught if isinstance(one.message, TocsinWarning)]


def test_a_table_and_files(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(200).selectExpr(
        "if(id % 2 = 0, 'Open', 'Close') as type", "id as time", "id % 3 as k"
    )
    frame.repartition(3).write.parquet(str(tmp_path / "events"))
    columns, files = tocsin.Columns(time_unit="s"), tocsin.Run(spark=spark)
    (table,) = told(frame, "[Open];[Clsoe]", columns, key="k")
    assert table == (
        "never-occurs: no event is of the type 'Clsoe'\n"
        "hint: types that occur: 'Open'; events.groupBy('type').count() shows all types"
    )
    path = str(tmp_path / "events")
    expected = "never-occurs: no event is of the type 'Clsoe'\nhint: did you mean 'Close'?; types that occur: 'Close', 'Open'"
    assert told(path, "[Open];[Clsoe(k > 1)]", columns, files, key="k") == [expected]
    assert told(path, "([Open], [Clsoe])_{T1=5s}", columns, files) == [expected]
    for events, options in ((frame, ()), (path, (files,))):
        assert told(events, "[Open];[Close(k > 5)]", columns, *options, key="k") == []


def test_a_table_without_a_type_column_is_told_at_once(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id as time", "'Open' as event", "id as n")
    columns = tocsin.Columns(time_unit="s")
    with pytest.warns(TocsinWarning) as caught:
        tocsin.detect(frame, "[Open];[Close]", columns)
    (one,) = caught
    assert (one.message.code, one.message.message) == (
        "one-type",
        "all events are `Event`, so none is [Open], [Close]",
    )
    assert one.message.hint == "did you mean type='event'?"
    assert one.filename == __file__
    assert told(frame, "[Event(n = 1)]", columns) == []


def test_comparisons_that_never_hold_and_attributes_that_nobody_has(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("A", 1, 5)], "type string, time long, x int")
    columns = tocsin.Columns(time_unit="s")
    (never,) = told(frame, "repeat {push(y) {<x < y>}}", columns, language="ecl")
    assert never.startswith("never-holds: x < y never holds: 'x' is int, and 'y' is not")
    text = "B correlation C (A a) l:a { case l: push new B { v = a.xx } }"
    (unknown,) = told(frame, text, columns, language="ksu")
    assert unknown.startswith(
        "unknown-attribute: the events have no column 'xx', so it is missing in all of them"
    )
    assert "did you mean 'x'?" in unknown


def test_a_stream_is_told_after_its_first_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(4):
        rows = spark.range(10).selectExpr("'Open' as type", f"id + {10 * number} as time")
        rows.coalesce(1).write.parquet(str(tmp_path / "in"), mode="append")
    events = (
        spark.readStream.schema("type string, time long")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(tmp_path / "in"))
    )
    found = tocsin.detect(events, "[Open];[Shut]", tocsin.Columns(time_unit="s"), tocsin.Stream(delay="0s"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        query = (
            found.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"), format="parquet")
        )
        query.awaitTermination()
    (one,) = [one.message for one in caught if isinstance(one.message, TocsinWarning)]
    assert str(one).startswith("never-occurs: no event is of the type 'Shut'")
