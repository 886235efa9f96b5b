"""Parquet whose events lie in the order of time: tasks that read chunks of it and detect in them find what the table has."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from support.calls import detect
from support.parquet_tables import PATTERN, assert_same, random_table, read_by_spark, rows, written
from tocsin.automata.tokens.compile import compile
from tocsin.bench.events import EventSet, SortedEvents
from tocsin.bench.oracle import answer
from tocsin.bench.workloads import MINUTE, WORKLOADS
from tocsin.errors import InputError
from tocsin.events import Catalog
from tocsin.languages.registry import parse
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.spark.events.columns import attribute_kinds, event_columns
from tocsin.spark.parquet import time_layout as layout
from tocsin.spark.parquet.path import ParquetPath
from tocsin.spark.query import Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EVENTS: dict[str, Any] = {"time": "ts", "time_unit": "ms", "attributes": []}
LEFTMOST = f"{PATTERN} with matches = leftmost"


def reading_of(
    spark: SparkSession, path: Path, pattern: str, cut: str | None = None, **columns: Any
) -> ReadJob:
    frame = ParquetPath(spark, path)
    catalog = Catalog(common=attribute_kinds(frame))
    named = event_columns(frame, key="k", **columns)
    compiled = compile([parse(pattern, catalog=catalog)], points=True)
    reading = frame.reading(Query(frame, named, compiled, catalog, cut=cut))
    assert isinstance(reading, ReadJob)
    return reading


def chunks(reading: ReadJob) -> int:
    return 0 if reading.layout is None else len(reading.layout.chunks)


def test_events_in_the_order_of_time_do_not_travel(spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(31, 2_000, missing=0.0)
    began = pc.subtract(table.column("time"), pa.scalar(timedelta(seconds=3)))
    path = written(tmp_path, table.append_column("began", began))
    assert chunks(reading_of(spark, path, PATTERN)) == 2
    assert chunks(reading_of(spark, path, LEFTMOST)) == 2
    assert chunks(reading_of(spark, path, LEFTMOST, "time")) == 2
    assert chunks(reading_of(spark, path, LEFTMOST, "key")) == 0
    assert chunks(reading_of(spark, path, "[A][B] with matches = leftmost")) == 0  # matches may last for ever
    for key in ("k", ["k", "t"], None):
        assert assert_same(spark, path, {"all": PATTERN, "some": LEFTMOST}, key=key) > 30
    assert assert_same(spark, path, LEFTMOST, key="k", take="count") > 30
    assert assert_same(spark, path, LEFTMOST, key="k", time=["began", "time"]) > 30


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("key", ["k", None])
def test_only_the_columns_that_are_wanted(
    spark: SparkSession, tmp_path: Path, tied: bool, key: str | None
) -> None:
    table = random_table(33, 2_000, missing=0.0)
    if tied:  # several events at a moment, whose ids decide their order although nobody asks for them
        seconds = pc.floor_temporal(table.column("time"), multiple=5, unit="second")
        table = table.set_column(table.column_names.index("time"), "time", seconds)
    path = written(tmp_path, table)
    patterns = {"all": PATTERN, "some": LEFTMOST, "counted": f"{LEFTMOST}, take = count"}
    whole = detect(read_by_spark(spark, path), patterns, key=key)
    own_key = [] if key is None else [key]
    for wanted in (
        ["end", "start"],
        ["pattern", *own_key, "variables"],
        ["match_id"],
        ["constituents", *own_key],
    ):
        expected = rows(whole.select(*wanted))
        for events in (path, read_by_spark(spark, path)):
            own = {"spark": spark} if events is path else {}
            found = detect(events, patterns, key=key, columns=wanted, **own)
            assert found.columns == wanted
            assert rows(found) == expected
    assert len(expected) > 100


def test_events_in_no_order_travel(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_table(32, 2_000, missing=0.0)
    path = written(tmp_path, table.take(np.random.default_rng(1).permutation(2_000)))
    assert chunks(reading_of(spark, path, LEFTMOST)) == 1  # few enough for one task
    assert assert_same(spark, path, LEFTMOST, key="k") > 30
    monkeypatch.setattr(layout, "_FEW", 100)
    assert chunks(reading_of(spark, path, LEFTMOST)) == 0
    assert assert_same(spark, path, LEFTMOST, key="k") > 30
    with pytest.raises(InputError, match="order of time"):
        detect(path, LEFTMOST, spark=spark, key="k", cut="time")


def test_a_file_without_events(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(33, 100, missing=0.0).slice(0, 0))
    assert detect(path, LEFTMOST, spark=spark, key="k").count() == 0
    (tmp_path / "other").mkdir()
    nothing = written(tmp_path / "other", random_table(34, 300, missing=0.0))
    assert detect(nothing, "([X], [Y])_{T1=5s} with matches = leftmost", spark=spark, key="k").count() == 0


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than three hours of a hundred keys, in sixty row groups."""
    path = tmp_path_factory.mktemp("large") / "events.parquet"
    pq.write_table(EventSet(600_000, 100).table(), path, row_group_size=10_000)
    return path


@pytest.mark.parametrize("name", ["W1", "W1_noskip", "W1_anymatch", "W3", "W4"])
def test_a_large_file_with_keys(spark: SparkSession, large: Path, name: str) -> None:
    workload = WORKLOADS[name]
    found = detect(large, workload.patterns(), spark=spark, key="key", **EVENTS)
    told = (
        ("sum(cast(variables['count'] AS bigint)) AS matches", "cast(null AS bigint) AS spans")
        if workload.counted
        else ("count(*) AS matches", "sum(unix_millis(end) - unix_millis(start)) AS spans")
    )
    (row,) = found.selectExpr(*told).collect()
    expected = answer(workload, MINUTE, SortedEvents(large).columns)
    assert row.matches == expected.matches > 1_000
    assert workload.counted or row.spans == expected.span_sum


@pytest.mark.parametrize("name", ["W1", "W1_noskip"])
def test_a_large_file_without_a_key(spark: SparkSession, large: Path, name: str) -> None:
    patterns = WORKLOADS[name].patterns(1_000)
    found = detect(large, patterns, spark=spark, **EVENTS).select("match_id")
    right = detect(read_by_spark(spark, large), patterns, **EVENTS).select("match_id")
    ids = [sorted(table.toArrow().column(0).to_pylist()) for table in (found, right)]
    assert ids[0] == ids[1]
    assert len(ids[0]) > 1_000
