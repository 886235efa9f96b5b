"""Classify each event: used by a pattern, irrelevant, held back by a limit, or unusable.

An event that lacks the key of a job which looks at it is a dead letter, although another job may use it:
whether one subscription is there must not change what another finds. In the counters it is dead.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tocsin.events import format_duration
from tocsin.spark.events.boolean_columns import any_of
from tocsin.spark.events.predicates import attribute_column
from tocsin.spark.events.prepare import is_relevant
from tocsin.spark.observe.few import few
from tocsin.spark.pipeline.added_columns import (
    BLOCK,
    DEAD,
    END,
    FILE,
    HELD_BACK,
    ID,
    IRRELEVANT,
    LIMITED,
    ORIGIN,
    PROBLEM,
    ROW,
    START,
    TEXT,
    TYPE,
    USE,
    USED,
    job_flag,
)
from tocsin.spark.pipeline.plan.jobs import Job
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.query import EventColumns, Query
from tocsin.spark.stream.stream_plan import too_far_ahead


def event_columns(job: Job) -> EventColumns:
    """Return the columns of a pipeline's events, as detection takes them."""
    return EventColumns(TYPE, "", (START, END), "us", job.key, ID, ORIGIN)


def classify(
    events: DataFrame,
    jobs: Iterable[Job],
    schema: Schema,
    ahead: int | None = None,
    *,
    all_used: bool = False,
) -> DataFrame:
    """Add `tocsin_use` and a flag for each job to the events; only dead ones keep the place where they were read.

    Args:
        ahead: in a stream, how far ahead of wall-clock time an event may lie; one further ahead is dead.
        all_used: whether any event may be looked at, because patterns change.
    """
    if ahead is not None:
        problem = F.lit(f"it is more than {format_duration(ahead)} ahead of wall-clock time")
        far = F.when(too_far_ahead(F.col(END), ahead), problem)
        events = events.withColumn(PROBLEM, F.coalesce(F.col(PROBLEM), far))
    passed = F.col(PROBLEM).isNull() & ~F.col(LIMITED)
    flags = {job_flag(job.number): job for job in jobs}
    keyless = {
        flag: any_of(attribute_column(name).isNull() for name in job.key) for flag, job in flags.items()
    }
    asked = events.withColumns(
        {
            flag: passed
            if all_used
            else passed & is_relevant(Query(events, event_columns(job), job.compiled, job.catalog))
            for flag, job in flags.items()
        }
    )
    missed = [F.when(F.col(flag) & keyless[flag], F.lit(_no_key(job))) for flag, job in flags.items()]
    known = asked.withColumns(
        {
            PROBLEM: F.coalesce(F.col(PROBLEM), *missed),
            **{flag: F.col(flag) & ~keyless[flag] for flag in flags},
        }
    )
    dead = F.col(PROBLEM).isNotNull()
    use = (
        F.when(dead, F.lit(DEAD))
        .when(F.col(LIMITED), F.lit(HELD_BACK))
        .when(any_of(F.col(flag) for flag in flags), F.lit(USED))
        .otherwise(F.lit(IRRELEVANT))
    )
    shown = F.struct(
        F.col(TYPE).alias("type"),
        F.timestamp_micros(START).alias("start"),
        F.timestamp_micros(END).alias("end"),
        *(attribute_column(name) for name in schema.attributes),
    )
    return known.withColumns(
        {
            USE: use,
            TEXT: F.when(dead, F.coalesce(F.col(TEXT), F.to_json(shown))),
            **{name: F.when(dead, F.col(name)) for name in (FILE, BLOCK, ROW)},
        }
    ).drop(LIMITED)


def _no_key(job: Job) -> str:
    columns = " and ".join(repr(name) for name in job.key)
    return f"no key in {columns} for {few(job.names)}"
