"""Streaming queries for the tests of brokers: the exactly-once file sink, and rows read back from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from support.brokers import wait_until
from tocsin.spark.session.failures import explain_failure


def start(messages: DataFrame, folder: Path, **trigger: Any) -> StreamingQuery:
    """Write messages to Parquet files, with a checkpoint beside them."""
    writer = messages.writeStream.format("parquet").option("path", str(folder / "rows"))
    return writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(**trigger).start()


def run_available(messages: DataFrame, folder: Path) -> list[int]:
    """Read what there is; how many rows each micro-batch had."""
    query = start(messages, folder, availableNow=True)
    assert query.awaitTermination(120)
    return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]


def rows(spark: SparkSession, folder: Path, column: str) -> list[Any]:
    """What was written in a column, sorted; bytes as text."""
    found = [row[0] for row in spark.read.parquet(str(folder / "rows")).select(column).collect()]
    return sorted(value.decode() if isinstance(value, bytes | bytearray) else value for value in found)


def wait_for_rows(spark: SparkSession, query: StreamingQuery, folder: Path, count: int) -> None:
    """Wait until a running query has written so many rows."""

    def enough() -> bool:
        if query.exception() is not None:
            raise AssertionError(f"the query failed: {explain_failure(query.exception())}")
        # With a schema, because before the first commit there is no file that Spark could take one from.
        written = folder / "rows"
        return written.exists() and (spark.read.schema("value binary").parquet(str(written)).count() >= count)

    wait_until(enough, f"{count} rows", 120)


def failure(messages: DataFrame, folder: Path) -> str:
    """What the user is told when a query cannot read."""
    with pytest.raises(StreamingQueryException) as caught:
        start(messages, folder, availableNow=True).awaitTermination(120)
    return explain_failure(caught.value)
