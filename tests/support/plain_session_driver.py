"""The driver of `test_worker_python`: uses Tocsin in a Spark session as somebody else made it, and writes what it found.

A program of its own, because a process has one Spark. The session has Java's small stack, no ANSI mode and another time
zone. Spark would take a Python without Tocsin for its workers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import tocsin
from tocsin.spark.parquet.path import ParquetPath

PATTERN = "[A];[B]"
ROWS = 2000
MANY = 10_000  # comparisons in one predicate
IN_SPARK = 1_000  # of them, if each is an expression of Spark, which takes Spark a while to plan


def session() -> SparkSession:
    """A session with nothing in it that Tocsin would set."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-Xss512k",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def events() -> pa.Table:
    """Events whose numbers are also there as decimals, which are not looked up."""
    random = np.random.default_rng(17)
    numbers = random.integers(0, 2 * MANY, ROWS)
    return pa.table(
        {
            "time": pa.array(np.arange(ROWS) * 1_000_000, pa.timestamp("us", "UTC")),
            "type": np.array(list("ABCD"))[random.integers(0, 4, ROWS)],
            "k": random.integers(0, 20, ROWS),
            "v": numbers,
            "exact": pa.array([Decimal(int(number)) for number in numbers], pa.decimal128(12, 2)),
        }
    )


def computed(table: DataFrame) -> DataFrame:
    """The same table, but no plain scan of files."""
    return table.withColumn("v", F.col("v") + 0).withColumn("type", F.concat("type", F.lit("")))


def ids(found: Any) -> list[str]:
    """The ids of the matches in any kind of table."""
    if isinstance(found, DataFrame):
        return sorted(row[0] for row in found.select("match_id").collect())
    return sorted(found["match_id"].to_pylist() if isinstance(found, pa.Table) else found["match_id"])


def events_of(found: DataFrame) -> list[list[str]]:
    """The ids of the events of every match, which do not depend on how the pattern is written."""
    return sorted([one.id for one in row[0]] for row in found.select("constituents").collect())


def error_of(call: Callable[[], Any]) -> str:
    """The error that a call raises, as a user sees it."""
    try:
        call()
    except tocsin.TocsinError as problem:
        return str(problem)
    return ""


def answers(spark: SparkSession, folder: Path, wrong: str) -> dict[str, Any]:
    """Everything that the tests look at. `wrong` is a Python without what Tocsin needs."""
    file = folder / "events.parquet"
    pq.write_table(events(), file, row_group_size=500)
    table = spark.read.parquet(str(file))
    found: dict[str, Any] = {}
    os.environ["PYSPARK_PYTHON"] = wrong
    found["chosen"] = error_of(lambda: tocsin.detect(table, PATTERN, key="k"))
    del os.environ["PYSPARK_PYTHON"]
    found["found"] = ids(tocsin.detect(computed(table), PATTERN, key="k"))
    found["python"] = spark.sparkContext.pythonExec
    found |= in_scans(table)
    found |= with_many_comparisons(spark, table, folder)
    found |= in_local_tables(spark, file)
    found |= in_nanoseconds(spark, folder)
    return found


def in_scans(table: DataFrame) -> dict[str, Any]:
    """The routes of tables that are plain scans, and whether they find what the table has."""
    chosen = table.select(F.col("k").alias("key"), "time", "type", "v").where(
        (F.col("v") > 100) & F.col("type").isin("A", "B") & F.col("k").isNotNull()
    )
    routes = [tocsin.route(table, PATTERN, key="k").name, tocsin.route(chosen, PATTERN, key="key").name]
    of_chosen = [ids(tocsin.detect(one, PATTERN, key="key")) for one in (chosen, computed(chosen))]
    advice = [tocsin.route(one, PATTERN, key="k").advice for one in (table, computed(table))]
    return {
        "advice": advice,
        "routes": routes,
        "scan": ids(tocsin.detect(table, PATTERN, key="k")),
        "chosen scan": of_chosen,
    }


def with_many_comparisons(spark: SparkSession, table: DataFrame, folder: Path) -> dict[str, Any]:
    """The matches of a predicate with very many comparisons, by every route, and of the same one as a range."""
    looked_up = f"[A({' OR '.join(f'v = {number}' for number in range(MANY))})];[B]"
    in_spark = f"[A({' OR '.join(f'exact = {number}.0' for number in range(IN_SPARK))})];[B]"
    nested, deep = "v = 0", "exact = 0.0"
    for number in range(0, 280, 7):
        others = range(number, number + 7)
        nested = f"({nested} OR {' OR '.join(f'v = {other}' for other in others)}) AND v < {MANY}"
        deep = f"({deep} OR {' OR '.join(f'exact = {other}.0' for other in others)}) AND exact < {MANY}.0"
    found = {
        "range": events_of(tocsin.detect(table, f"[A(v < {MANY})];[B]", key="k")),
        "range in spark": events_of(tocsin.detect(table, f"[A(v < {IN_SPARK})];[B]", key="k")),
        "parquet": events_of(tocsin.detect(table, looked_up, key="k")),
        "look-up": events_of(tocsin.detect(computed(table), looked_up, key="k")),
        "spark": events_of(tocsin.detect(computed(table), in_spark, key="k")),
        "nested": events_of(tocsin.detect(computed(table), f"[A({nested})];[B]", key="k")),
        "nested in spark": events_of(tocsin.detect(computed(table), f"[A({deep})];[B]", key="k")),
        "short": events_of(tocsin.detect(table, "[A(v < 280)];[B]", key="k")),
    }
    for name, text in (("stream look-up", looked_up), ("stream spark", in_spark)):
        arriving = spark.readStream.schema(table.schema).parquet(str(folder / "*.parquet"))
        query = tocsin.detect(arriving, text, tocsin.Stream(ahead="any", delay="0s"), key="k")
        sink = query.writeStream.format("memory").queryName(name.replace("-", "_").replace(" ", "_"))
        place = str(folder / "checkpoints" / name.replace(" ", "-"))
        sink.option("checkpointLocation", place).trigger(availableNow=True).start().awaitTermination()
        found[name] = events_of(spark.table(name.replace("-", "_").replace(" ", "_")))
    return found


def in_local_tables(spark: SparkSession, file: Path) -> dict[str, Any]:
    """The matches in tables of other libraries."""
    import pandas as pd
    import polars as pl

    rows = pq.read_table(file).drop(["exact"])
    plain = ids(tocsin.detect(spark.read.parquet(str(file)).drop("exact"), PATTERN, key="k"))
    given = {"arrow": rows, "pandas": rows.to_pandas(), "polars": pl.from_arrow(rows)}
    matches = {name: tocsin.detect(one, PATTERN, key="k") for name, one in given.items()}
    indexed = tocsin.detect(
        rows.to_pandas().set_index("time"), PATTERN, tocsin.Columns(report=["start"]), key="k"
    )
    kinds = [type(one) for one in matches.values()] == [pa.Table, pd.DataFrame, pl.DataFrame]
    same = [ids(one) == plain for one in matches.values()]
    return {"local": [kinds, *same, len(indexed) == len(plain)]}


def in_nanoseconds(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """The matches in a file as pandas writes it, with times that are no whole microseconds, read by Arrow and for Spark."""
    import pandas as pd

    moments = pd.to_datetime(np.arange(-50, 150) * 1_000_000_001, utc=True)
    frame = pd.DataFrame({"at": moments, "type": ["A", "B"] * 100, "day": moments.tz_localize(None)})
    (folder / "nanos").mkdir()
    file = folder / "nanos" / "events.parquet"
    frame.to_parquet(file)
    assert str(pq.read_schema(file).field("at").type) == "timestamp[ns, tz=UTC]"
    by_arrow = tocsin.detect(file, PATTERN, time="at")
    by_spark = tocsin.detect(ParquetPath(spark, file).frame, PATTERN, time="at")
    starts = sorted(row[0].timestamp() for row in by_arrow.select("start").distinct().collect())
    return {"nanos": [ids(by_arrow), ids(by_spark)], "nanos starts": starts[:2]}


if __name__ == "__main__":
    work = Path(sys.argv[1])
    (work / "found.json").write_text(json.dumps(answers(session(), work, sys.argv[2])))
