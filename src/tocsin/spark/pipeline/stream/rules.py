"""A streaming pipeline whose subscriptions change while it runs, starting with those of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.errors import InputError
from tocsin.languages.registry import DEFAULT
from tocsin.runtime.stream.rule_book import Rule
from tocsin.spark.pipeline.file.model import Entry, Pipeline
from tocsin.spark.pipeline.plan.jobs import Job
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.pipeline.sinks.stream_targets import Destination, destinations_of
from tocsin.spark.pipeline.sources.classify import event_columns
from tocsin.spark.pipeline.stream.microbatch import Later
from tocsin.spark.pipeline.stream.reported_rows import Found
from tocsin.spark.rules.compile_rules import RuleSettings
from tocsin.spark.rules.rule_plan import RuledQuery, RulesPlan, columns_for_rules, plan_rules
from tocsin.spark.session.storage import Storage
from tocsin.spark.stream.stream_options import StreamOptions


class Shared(NamedTuple):
    """The values that all jobs of a streaming pipeline share."""

    pipeline: Pipeline
    options: StreamOptions
    carried: tuple[str, ...]  # the attributes that constituents carry
    limit: int  # of partial matches of a key
    origin: Column  # the number of the source that an event is from


def plan_with_rules(
    events: DataFrame, folder: str, job: Job, schema: Schema, shared: Shared
) -> tuple[RulesPlan, list[Column]]:
    """Plan a job whose rules change; return the plan, and the columns of classified events that travel to it."""
    settings = RuleSettings(
        events.schema,
        event_columns(job),
        tuple(
            name
            for name in schema.kinds_of_columns()
            if not isinstance(schema.attributes[name.split(".")[0]], T.MapType | T.VariantType)
        ),
        shared.options,
        DEFAULT,
        catalog=job.catalog,
    )
    columns = columns_for_rules(events, settings, shared.carried, [shared.origin])
    used = events.select(*columns).drop("unreadable")
    program = tuple(_rule(entry) for entry in shared.pipeline.subscriptions)
    asked = RuledQuery(folder, program, settings, shared.carried, shared.limit)
    return plan_rules(used, events, asked), columns


def _rule(entry: Entry) -> Rule:
    selection = entry.selection
    return Rule(
        entry.name,
        entry.text,
        entry.language,
        tuple(sorted((name, _single(name, value)) for name, value in entry.options.items())),
        None if selection is None else selection.matches,
        None if selection is None else selection.taken,
    )


def _single(name: str, value: object) -> str:
    """Return the value of an option as text, as the options of rules travel."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        message = f"the option {name} is not a single value, and subscriptions that change take no others"
        raise InputError("bad-option", message, hint="leave it out, or leave out `rules` of [stream]")
    return str(value)


def later_rules(
    session: SparkSession,
    storage: Storage,
    pipeline: Pipeline,
    job: Job,
    matches: pa.Schema,
    carried: Sequence[str],
) -> Later:
    """Return the destinations for a rule that the file does not name: all sinks that take every subscription."""
    everything = {entry.name for entry in pipeline.subscriptions}
    sinks = [
        sink
        for sink in pipeline.sinks
        if sink.writes and not sink.together and set(sink.subscriptions) == everything
    ]
    schema = from_arrow_schema(matches)

    def later(name: str) -> tuple[Found, tuple[Destination, ...]]:
        entry = replace(pipeline.subscriptions[0], name=name)  # all of them have the same key
        own = (
            one for sink in sinks for one in destinations_of(session, storage, pipeline, sink, entry, (), {})
        )
        return Found(job, (name,), schema, tuple(carried)), tuple(own)

    return later
