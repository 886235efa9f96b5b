"""Jobs of a pipeline over Parquet that Arrow reads in the tasks: which ones, what they find, and what becomes of each event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.runtime.normalise import HASHED
from tocsin.runtime.reading import ReadJob
from tocsin.runtime.uses import COUNTED, CountJob, count_uses
from tocsin.spark.columns import EventColumns
from tocsin.spark.job import job_of, prepare
from tocsin.spark.parquet import detect_read, placed, unplaced
from tocsin.spark.parquet_files import CannotReadError, deal
from tocsin.spark.pipeline.arrow_sources import ArrowSources, arrow_sources, place
from tocsin.spark.pipeline.classify import event_columns
from tocsin.spark.pipeline.jobs import Job
from tocsin.spark.pipeline.layout import DEAD, END, IRRELEVANT, USED
from tocsin.spark.pipeline.schema import Schema
from tocsin.spark.pipeline.sources import Opened
from tocsin.spark.questions import NoArrowForm, arrow_questions

Uses = Mapping[tuple[str, str], int]
"""How many events of a source have a use."""


@dataclass(frozen=True, slots=True)
class ArrowJobs:
    """The jobs that Arrow reads for, by their numbers, and why it does not for the others."""

    sources: ArrowSources | None = None
    readings: Mapping[int, ReadJob] = field(default_factory=dict)
    why_not: Mapping[int, str] = field(default_factory=dict)


def arrow_jobs(
    session: SparkSession,
    sources: Sequence[Opened],
    jobs: Sequence[Job],
    schema: Schema,
    events: T.StructType,
    carried: Sequence[str],
    whole_ids: bool,
) -> ArrowJobs:
    """What tasks have to do to read for each job.

    Args:
        events: the columns of events, as Spark would make them.
        carried: the attributes that matches carry.
    """
    try:
        arrow = arrow_sources(session, sources, schema, whole_ids)
    except CannotReadError as problem:
        return ArrowJobs(None, {}, {job.number: str(problem) for job in jobs})
    readings: dict[int, ReadJob] = {}
    why_not: dict[int, str] = {}
    for job in jobs:
        try:
            readings[job.number] = _reading(arrow, job, events, carried)
        except CannotReadError as problem:
            why_not[job.number] = str(problem)
    return ArrowJobs(arrow, readings, why_not)


def _reading(arrow: ArrowSources, job: Job, events: T.StructType, carried: Sequence[str]) -> ReadJob:
    if job.reads:
        raise CannotReadError(f"composites of {', '.join(job.reads)} are among the events")
    columns = _columns(arrow, job)
    for name in columns.key:
        if name not in events.names:
            raise CannotReadError(f"the key {name!r} is inside a struct")
    asked = arrow_questions(job.compiled, job.catalog, events, columns, arrow.time_zone)
    if isinstance(asked, NoArrowForm):
        raise CannotReadError(asked.reason)
    reading = unplaced(events, columns, job.compiled, asked, carried, False, arrow.time_zone)
    found = place(arrow, reading.columns, reading.coded)
    made = reading._replace(sources=found.sources, hashed=((HASHED, None),) if found.need_hash else ())
    return placed(made, found.groups, job.compiled, None, arrow.cluster)


def _columns(arrow: ArrowSources, job: Job) -> EventColumns:
    columns = event_columns(job)
    return columns if arrow.have_length else replace(columns, time=(END, END))


def detect_arrow(
    arrow: ArrowJobs, job: Job, events: DataFrame, carried: Sequence[str], limit: int
) -> DataFrame:
    """The matches of a job. Of `events` only the types of the columns are looked at."""
    columns = event_columns(job)
    prepared = prepare(events, columns, job.compiled, job.catalog, carried, asked=())
    told, schema = job_of(prepared, events, columns, job.compiled, carried, limit)
    return detect_read(events.sparkSession, arrow.readings[job.number], told, schema)


def count_arrow(session: SparkSession, arrow: ArrowJobs) -> Uses:
    """How many events of each source have each use. The counts are data, so a task that runs twice is counted once."""
    assert arrow.sources is not None
    # Of the columns that jobs read only those count that questions and keys are about.
    names: dict[str, None] = {}
    coded: dict[str, None] = {}
    for reading in arrow.readings.values():
        operands = [*reading.asked.values(), *(recipe.operand for recipe in reading.keys)]
        names |= dict.fromkeys(str(o[1]).split(".")[0] for o in operands if o[0] == "attribute")
        names |= dict.fromkeys(str(reading.source) for o in operands if o[0] == "source")
        coded |= dict.fromkeys(reading.coded)
    found = place(arrow.sources, list(names), list(coded))
    tasks = deal(found.groups, arrow.sources.cluster.cores)
    jobs = tuple(
        reading._replace(tasks=(), layout=None, sources=None, carried=None)
        for reading in arrow.readings.values()
    )
    count = partial(count_uses, CountJob(tasks, found.sources, jobs))
    numbers = session.range(0, len(tasks), 1, max(1, len(tasks)))
    counted = numbers.mapInArrow(count, from_arrow_schema(COUNTED))
    found_uses: dict[tuple[str, str], int] = {}
    for row in counted.collect():
        for use in (USED, IRRELEVANT, DEAD):
            found_uses[row["source"], use] = found_uses.get((row["source"], use), 0) + row[use]
    return found_uses
