"""A streaming pipeline whose subscriptions change while it runs: those of its file are what it begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.runtime.rules import Rule
from tocsin.spark.compile_rules import RuleSettings
from tocsin.spark.lines import StreamOptions
from tocsin.spark.pipeline.classify import event_columns
from tocsin.spark.pipeline.jobs import Job
from tocsin.spark.pipeline.microbatch import Found, Later
from tocsin.spark.pipeline.model import Entry, Pipeline
from tocsin.spark.pipeline.schema import Schema
from tocsin.spark.pipeline.stream_sinks import Route, routes_of
from tocsin.spark.rules import RulesPlan, columns_for_rules, plan_rules
from tocsin.spark.storage import Storage


def plan_with_rules(
    events: DataFrame,
    pipeline: Pipeline,
    folder: str,
    job: Job,
    schema: Schema,
    options: StreamOptions,
    carried: Sequence[str],
    limit: int,
    origin: Column,
) -> tuple[RulesPlan, list[Column]]:
    """What a job whose rules change does with classified events, and the columns that travel to it."""
    settings = RuleSettings(
        events.schema,
        event_columns(job),
        tuple(
            name
            for name in schema.kinds_of_columns()
            if not isinstance(schema.attributes[name.split(".")[0]], T.MapType | T.VariantType)
        ),
        str(events.sparkSession.conf.get("spark.sql.session.timeZone")),
        options,
        "core",
        catalog=job.catalog,
    )
    columns = columns_for_rules(events, settings, carried, [origin])
    used = events.select(*columns).drop("unreadable")
    program = tuple(_rule(entry) for entry in pipeline.subscriptions)
    return plan_rules(used, events, folder, program, settings, carried, limit), columns


def _rule(entry: Entry) -> Rule:
    reading, selection = entry.reading, entry.selection
    return Rule(
        entry.name,
        entry.text,
        entry.language,
        (("restart", reading.restart), ("strong_scope", reading.strong_scope)),
        None if selection is None else selection.matches,
        None if selection is None else selection.taken,
    )


def later_rules(
    session: SparkSession,
    storage: Storage,
    pipeline: Pipeline,
    job: Job,
    matches: pa.Schema,
    carried: Sequence[str],
) -> Later:
    """How the matches of a rule are got at and written that the file does not name: as by all sinks that take everything."""
    everything = {entry.name for entry in pipeline.subscriptions}
    sinks = [sink for sink in pipeline.sinks if sink.writes and set(sink.subscriptions) == everything]
    schema = from_arrow_schema(matches)

    def later(name: str) -> tuple[Found, tuple[Route, ...]]:
        entry = replace(pipeline.subscriptions[0], name=name)  # all of them have the same key
        own = (
            route for sink in sinks for route in routes_of(session, storage, pipeline, sink, entry, (), {})
        )
        return Found(job, (name,), schema, tuple(carried)), tuple(own)

    return later
