"""Run a pipeline once over the data of its sources: read, classify each event, detect, write, report.

The events of all sources are brought to one schema and classified once, and the result is persisted: what is counted is
what is detected. Only where Arrow reads Parquet for every job (see `arrow_jobs`), the tasks count, and read the files
again to detect; only dead events then become Spark rows. The counts are returned as data, because Spark's accumulators
and observations count a task again when it is retried. Events are also counted as they are read, before any processing,
as a check on the sum: if an event got lost on the way, `Counters.checked` stops the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.spark.batch.route import PARQUET, Route, choose
from tocsin.spark.deliver import deliver
from tocsin.spark.observe.counters import Counters
from tocsin.spark.pipeline.added_columns import (
    DEAD,
    HELD_BACK,
    IRRELEVANT,
    PARTS,
    PROBLEM,
    SOURCE,
    USE,
    USED,
    job_flag,
)
from tocsin.spark.pipeline.batch.arrow_jobs import JobEvents, Uses, arrow_jobs, count_arrow
from tocsin.spark.pipeline.file.model import Delivery, Pipeline
from tocsin.spark.pipeline.file.warnings import pipeline_warnings
from tocsin.spark.pipeline.plan.jobs import Job, Plan
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.pipeline.report.match_text import first_matches
from tocsin.spark.pipeline.report.progress import Progress
from tocsin.spark.pipeline.report.report import Report
from tocsin.spark.pipeline.sinks.write_files import (
    Written,
    check_sent_folders,
    dead_letters,
    write_dead_letters,
    write_matches,
    write_sent,
)
from tocsin.spark.pipeline.sources.classify import classify, event_columns
from tocsin.spark.pipeline.sources.composites import as_events, carrying, opened, sent_as_events
from tocsin.spark.pipeline.sources.open import open_source
from tocsin.spark.pipeline.sources.plan_sources import (
    PipelineEvents,
    carried_by_all,
    chosen,
    plan_sources,
    unite,
)
from tocsin.spark.pipeline.sources.text_files import Split
from tocsin.spark.query import Query, Refusal
from tocsin.spark.sent import sent, sent_tables


@dataclass
class _Outcome:
    """The results so far: the classified events, including composites, and the matches."""

    classified: list[DataFrame]
    reasons: dict[str, int]
    matches: dict[str, DataFrame] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    composites: dict[str, Counters] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)  # how many events were delivered, by subscription
    lost: dict[str, dict[str, int]] = field(default_factory=dict)  # and how many were not, by reason
    tables: dict[str, dict[str, DataFrame]] = field(default_factory=dict)  # and the events, by table
    routes: dict[str, Route] = field(default_factory=dict)  # by subscription


def run_batch(
    pipeline: Pipeline, session: SparkSession, progress: Progress, stack: ExitStack, started: float
) -> Report:
    """Detect once in the data of the sources. `stack` releases persisted tables."""

    def keep(frame: DataFrame) -> DataFrame:
        """Persist a table until the end of the run, so that it is computed once."""
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        stack.callback(kept.unpersist)
        return kept

    progress.begin(f"reading {', '.join(source.name for source in pipeline.sources)}")
    sources = [open_source(session, pipeline, source) for source in pipeline.sources]
    plan, schema = plan_sources(pipeline, sources)
    check_sent_folders(pipeline, plan)
    whole_ids = all(source.whole_ids for source in sources)
    united = unite(pipeline, sources, schema, whole_ids)
    events = PipelineEvents(united, schema, carried_by_all(pipeline, schema), whole_ids)
    arrow = arrow_jobs(sources, plan.jobs, events)
    uses = count_arrow(session, arrow) if len(arrow.read) == len(plan.jobs) else None
    classified = _kept(classify(united, plan.jobs, schema), uses, keep)
    counted, reasons = _count(classified, {one.source.name: one.read for one in sources}, uses or {})
    total, dead = (sum(getattr(one, what) for one in counted.values()) for what in ("read", "dead"))
    progress.done(f"{total:,} events, {dead:,} of them unreadable")

    outcome = _Outcome([classified], reasons)
    for job in plan.jobs:
        progress.begin(f"detecting {', '.join(job.names)}")
        _run_job(pipeline, plan, job, arrow.readings[job.number], events, outcome, keep)
        numbers = ", ".join(f"{outcome.numbers[name]:,} {name}" for name in job.names)
        progress.done(numbers + _way(pipeline, outcome.routes[job.names[0]]))

    progress.begin("writing")
    splits = [split for source in sources for split in source.splits]
    written, samples = _write(pipeline, session, outcome, schema, splits)
    progress.done(f"{len(written)} folders")
    return Report(
        pipeline.name,
        {entry.name: outcome.numbers[entry.name] for entry in pipeline.subscriptions},
        counted,
        outcome.composites,
        outcome.reasons,
        samples,
        written,
        time.monotonic() - started,
        tuple(str(warning) for warning in pipeline_warnings(pipeline)),
        outcome.lost,
        routes=outcome.routes,
    )


def _run_job(
    pipeline: Pipeline,
    plan: Plan,
    job: Job,
    reading: ReadJob | Refusal,
    events: PipelineEvents,
    outcome: _Outcome,
    keep: Callable[[DataFrame], DataFrame],
) -> None:
    """Detect the subscriptions of a job; matches that other jobs read become their events."""
    choice = choose(_query(pipeline, job, reading, events, outcome.classified))
    found = keep(opened(choice.matches()) if job.reads else choice.matches())
    outcome.routes |= dict.fromkeys(job.names, choice.route)
    _add_matches(outcome, job, found, keep, {e.name: e.deliver for e in pipeline.subscriptions})
    for name in (name for name in job.names if name in plan.composites):
        readers = [other for other in plan.jobs if name in other.reads]
        if job.sends:
            sent_rows, patterns = outcome.matches[name], job.patterns[name]
            rows = sent_as_events(sent_rows, name, patterns, job.key, events.schema, events.whole_ids)
        else:
            (composite,) = plan.composites[name]
            rows = as_events(found, composite, job.key, events.schema, events.whole_ids)
        _add_composites(outcome, name, keep(classify(rows, readers, events.schema)), job.sends)


def _query(
    pipeline: Pipeline,
    job: Job,
    reading: ReadJob | Refusal,
    events: PipelineEvents,
    classified: Sequence[DataFrame],
) -> Query:
    """Return the query of a job over its own events."""
    flag = job_flag(job.number)
    own = [rows.where(F.col(flag)) for rows in classified if flag in rows.columns]
    table = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), own)
    return Query(
        JobEvents(table, reading),
        event_columns(job),
        job.compiled,
        job.catalog,
        (*events.carried, PARTS) if job.reads else events.carried,
        limit=pipeline.max_partial_matches or MAX_TOKENS,
        all_relevant=True,
    )


def _write(
    pipeline: Pipeline, session: SparkSession, outcome: _Outcome, schema: Schema, splits: Sequence[Split]
) -> tuple[tuple[Written, ...], dict[str, tuple[str, ...]]]:
    """Write the results; return what was written where, and the first matches for console sinks."""
    carried = {
        name: carrying(frame, chosen(pipeline, name, schema)) for name, frame in outcome.matches.items()
    }
    written = write_matches(pipeline, carried, outcome.numbers)
    written += write_sent(pipeline, outcome.tables)
    dead = dead_letters(session, outcome.classified, splits)
    written += write_dead_letters(pipeline, dead, sum(outcome.reasons.values()))
    return tuple(written), _samples(pipeline, carried)


def _kept(events: DataFrame, uses: Uses | None, keep: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """Persist the classified events needed as rows: all, or only the dead if tasks have counted the others."""
    if uses is None:
        return keep(events)
    dead = any(count for (_, use), count in uses.items() if use == DEAD)
    return keep(events.where(F.col(USE) == DEAD)) if dead else events.limit(0)


def _way(pipeline: Pipeline, route: Route) -> str:
    """Describe how Parquet was read for a job, and why not the faster way."""
    if all(source.format != "parquet" for source in pipeline.sources):
        return ""
    why_not = route.why_not(PARQUET)
    return ", read by Arrow" if why_not is None else f", read by Spark: {why_not}"


def _add_matches(
    outcome: _Outcome,
    job: Job,
    found: DataFrame,
    keep: Callable[[DataFrame], DataFrame],
    receivers: Mapping[str, Delivery | None],
) -> None:
    told = [F.count_if(F.col("what") == "push").alias("sent")] if job.sends else []
    rows = found.groupBy("pattern").agg(F.count("*").alias("count"), *told).collect()
    counts = {row["pattern"]: row["count"] for row in rows}
    for name, patterns in job.patterns.items():
        outcome.numbers[name] = sum(counts.get(pattern, 0) for pattern in patterns)
        outcome.matches[name] = found.where(F.col("pattern").isin(list(patterns)))
        if job.sends:
            outcome.sent[name] = sum(row["sent"] for row in rows if row["pattern"] in patterns)
            receiver = receivers[name]
            if receiver is not None:
                _deliver(outcome, name, receiver, keep)
            outcome.tables[name] = {
                table: sent(outcome.matches[name], table)
                for pattern in patterns
                for table in sent_tables(job.compiled, pattern)
            }


def _deliver(
    outcome: _Outcome, name: str, receiver: Delivery, keep: Callable[[DataFrame], DataFrame]
) -> None:
    """Pass the events a subscription sent through its receiver's queue; lost ones stay as rows, with the reason."""
    rows = outcome.matches[name]
    delivered = keep(deliver(rows, every=receiver.every, capacity=receiver.capacity, most=receiver.most))
    others = rows.where(F.col("what") != "push")
    outcome.matches[name] = delivered.unionByName(others, allowMissingColumns=True)
    counts = {row["lost"]: row["count"] for row in delivered.groupBy("lost").count().collect()}
    outcome.lost[name] = {why: count for why, count in sorted(counts.items(), key=str) if why is not None}
    outcome.sent[name] = counts.get(None, 0)


def _add_composites(outcome: _Outcome, name: str, classified: DataFrame, sends: bool) -> None:
    """Add matches that are events of later jobs; they are counted like the events of a source."""
    outcome.classified.append(classified)
    counts, reasons = _count(classified, {name: outcome.sent[name] if sends else outcome.numbers[name]}, {})
    outcome.composites |= counts
    for reason, count in reasons.items():
        outcome.reasons[reason] = outcome.reasons.get(reason, 0) + count


def _count(
    classified: DataFrame, read: Mapping[str, int], uses: Uses
) -> tuple[dict[str, Counters], dict[str, int]]:
    """Return the checked counters of each source, and the number of dead events by reason.

    Args:
        uses: what the tasks counted, if `classified` holds only the dead; both counts of the dead must agree.
    """
    counts = {(source, use): count for (source, use), count in uses.items() if use != DEAD}
    reasons: dict[str, int] = {}
    for row in classified.groupBy(SOURCE, USE, PROBLEM).count().orderBy(SOURCE, USE, PROBLEM).collect():
        counts[row[SOURCE], row[USE]] = counts.get((row[SOURCE], row[USE]), 0) + row["count"]
        if row[PROBLEM] is not None:
            reasons[row[PROBLEM]] = reasons.get(row[PROBLEM], 0) + row["count"]
    counters = {}
    for name, number in read.items():
        used, irrelevant, limited, dead = (
            counts.get((name, use), 0) for use in (USED, IRRELEVANT, HELD_BACK, DEAD)
        )
        counters[name] = Counters(number, used, irrelevant + limited, dead, limited).checked(name)
    return counters, reasons


def _samples(pipeline: Pipeline, matches: Mapping[str, DataFrame]) -> dict[str, tuple[str, ...]]:
    keys = {entry.name: entry.key for entry in pipeline.subscriptions}
    rows = {
        name: sink.rows for sink in pipeline.sinks if sink.format == "console" for name in sink.subscriptions
    }
    return {name: first_matches(matches[name], keys[name], number) for name, number in rows.items()}
