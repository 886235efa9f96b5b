"""Jobs of a pipeline whose Parquet sources tasks read with Arrow: how they are read and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.runtime.batch.count_uses import COUNTED, CountJob, count_uses
from tocsin.runtime.predicates.derived import attributes_of
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.runtime.read.pipeline_events import HASHED
from tocsin.spark.events.arrow_predicates import lookup_of
from tocsin.spark.parquet.read_plan import assign_tasks, recipe_for
from tocsin.spark.parquet.row_groups import CannotReadError, deal
from tocsin.spark.pipeline.added_columns import DEAD, END, IRRELEVANT, USED
from tocsin.spark.pipeline.plan.jobs import Job
from tocsin.spark.pipeline.sources.arrow_sources import ArrowSources, arrow_sources, place
from tocsin.spark.pipeline.sources.classify import event_columns
from tocsin.spark.pipeline.sources.open import Opened
from tocsin.spark.pipeline.sources.plan_sources import PipelineEvents
from tocsin.spark.query import Query, Refusal

Uses = Mapping[tuple[str, str], int]
"""The number of events by source and use."""


@dataclass(frozen=True, slots=True)
class ArrowJobs:
    """The sources as read by Arrow, if it can, and for each job how its tasks read them, or why they cannot."""

    sources: ArrowSources | None
    readings: Mapping[int, ReadJob | Refusal]

    @property
    def read(self) -> list[ReadJob]:
        """The read plans of the jobs whose tasks can read with Arrow."""
        return [reading for reading in self.readings.values() if not isinstance(reading, Refusal)]


@dataclass(frozen=True, slots=True)
class JobEvents:
    """The events of a job: as a table, and as files that tasks read, if they can."""

    frame: DataFrame
    planned: ReadJob | Refusal

    @property
    def schema(self) -> T.StructType:
        """The columns of the table."""
        return self.frame.schema

    @property
    def sparkSession(self) -> SparkSession:  # noqa: N802  (as Spark calls it)
        """The session of the table."""
        return self.frame.sparkSession

    def reading(self, query: Query) -> ReadJob | Refusal:
        """Return how tasks read the events, which was planned before they were counted."""
        return self.planned


def arrow_jobs(sources: Sequence[Opened], jobs: Sequence[Job], events: PipelineEvents) -> ArrowJobs:
    """Plan how tasks read the events of each job."""
    try:
        arrow = arrow_sources(events.united.sparkSession, sources, events.schema, events.whole_ids)
    except CannotReadError as problem:
        return ArrowJobs(None, {job.number: Refusal(str(problem)) for job in jobs})
    return ArrowJobs(arrow, {job.number: _reading(arrow, job, events) for job in jobs})


def _reading(arrow: ArrowSources, job: Job, events: PipelineEvents) -> ReadJob | Refusal:
    if job.reads:
        return Refusal(f"composites of {', '.join(job.reads)} are among the events")
    columns = event_columns(job)
    query = Query(
        events.united,
        columns if arrow.have_length else replace(columns, time=(END, END)),
        job.compiled,
        job.catalog,
        events.carried,
        unreadable="drop",
    )
    for name in columns.key:
        if name not in query.schema.names:
            return Refusal(f"the key {name!r} is inside a struct")
    lookup = lookup_of(query)
    if isinstance(lookup, Refusal):
        return lookup
    try:
        recipe = recipe_for(query, lookup, arrow.time_zone)
        found = place(arrow, recipe.columns, recipe.coded)
        made = recipe._replace(sources=found.sources, hashed=((HASHED, None),) if found.need_hash else ())
        return assign_tasks(made, found.groups, query, arrow.cluster)
    except CannotReadError as problem:
        return Refusal(str(problem))


def count_arrow(session: SparkSession, arrow: ArrowJobs) -> Uses:
    """Count events by source and use. The counts are rows of data, so a task that runs twice is counted once."""
    assert arrow.sources is not None
    # Only the columns of predicates and keys are needed for counting.
    names: dict[str, None] = {}
    coded: dict[str, None] = {}
    for reading in arrow.read:
        operands = [*reading.asked.values(), *(recipe.operand for recipe in reading.keys)]
        names |= dict.fromkeys(name.split(".")[0] for o in operands for name in attributes_of(o))
        names |= dict.fromkeys(str(reading.source) for o in operands if o[0] == "source")
        coded |= dict.fromkeys(reading.coded)
    found = place(arrow.sources, list(names), list(coded))
    tasks = deal(found.groups, arrow.sources.cluster.cores)
    jobs = tuple(
        reading._replace(tasks=(), layout=None, sources=None, carried=None) for reading in arrow.read
    )
    count = partial(count_uses, CountJob(tasks, found.sources, jobs))
    numbers = session.range(0, len(tasks), 1, max(1, len(tasks)))
    counted = numbers.mapInArrow(count, from_arrow_schema(COUNTED))
    found_uses: dict[tuple[str, str], int] = {}
    for row in counted.collect():
        for use in (USED, IRRELEVANT, DEAD):
            found_uses[row["source"], use] = found_uses.get((row["source"], use), 0) + row[use]
    return found_uses
