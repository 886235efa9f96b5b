"""Detect fixed patterns in a streaming DataFrame."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tocsin.spark.events.prepare import readable, relevant, without_length
from tocsin.spark.events.types_seen import types_seen
from tocsin.spark.stream.stream_plan import (
    StreamQuery,
    lookup_for,
    stream_plan,
    too_far_ahead,
    travelling_columns,
)
from tocsin.spark.stream.stream_query import opened, run_stream

_FIRST = 3  # micro-batches after which a type that has not occurred is reported


def detect_stream(asked: StreamQuery) -> DataFrame:
    """Return the matches, and late events if they are kept."""
    query = asked.query
    lookup = lookup_for(query)
    prepared = query.table.select(*travelling_columns(asked, lookup))
    if asked.options.ahead is not None:
        prepared = prepared.withColumn("ahead", too_far_ahead(F.col("end"), asked.options.ahead))
    plan = stream_plan(asked, lookup)
    # Every event advances the watermark, relevant or not.
    if lookup is None:
        used = readable(prepared, query.unreadable, relevant(query.compiled))
    elif query.unreadable == "drop":
        used = readable(prepared, query.unreadable)
    else:
        used = prepared  # where predicates are looked up, it is known which rows matter
    used = without_length(used, query.columns)
    seen = types_seen(query, stages=_FIRST) if lookup is None else None
    return opened(run_stream(used, plan, seen), plan.schema)
