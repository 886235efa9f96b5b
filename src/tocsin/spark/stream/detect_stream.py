"""Detect fixed patterns in a streaming DataFrame."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tocsin.spark.events.prepare import readable, without_length
from tocsin.spark.stream.stream_plan import (
    StreamQuery,
    lookup_for,
    stream_plan,
    too_far_ahead,
    travelling_columns,
)
from tocsin.spark.stream.stream_query import opened, run_stream


def detect_stream(asked: StreamQuery) -> DataFrame:
    """Return the matches, and late events if they are kept."""
    query = asked.query
    lookup = lookup_for(query)
    prepared = query.table.select(*travelling_columns(asked, lookup))
    if asked.options.ahead is not None:
        prepared = prepared.withColumn("ahead", too_far_ahead(F.col("end"), asked.options.ahead))
    plan = stream_plan(asked, lookup)
    # Every row advances the watermark, relevant or not.
    used = without_length(readable(prepared, query.unreadable), query.columns)
    return opened(run_stream(used, plan), plan.schema)
