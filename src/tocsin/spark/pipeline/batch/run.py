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
from dataclasses import dataclass, field, replace
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import TocsinWarning, counted
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.spark.batch.route import PARQUET, Route, choose
from tocsin.spark.deliver import deliver
from tocsin.spark.events.types_seen import types_seen
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.few import few, few_matches
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
from tocsin.spark.pipeline.file.model import Delivery, Pipeline, Sink
from tocsin.spark.pipeline.file.warnings import pipeline_warnings
from tocsin.spark.pipeline.plan.jobs import Job, Plan
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.pipeline.report.match_text import first_matches
from tocsin.spark.pipeline.report.progress import Progress
from tocsin.spark.pipeline.report.report import Report
from tocsin.spark.pipeline.sinks.ownership import Staging
from tocsin.spark.pipeline.sinks.quiet import hold_back_in
from tocsin.spark.pipeline.sinks.rule_rows import (
    in_one_table,
    rules_of,
    tells_of_rules,
    with_rules,
)
from tocsin.spark.pipeline.sinks.write_files import (
    Written,
    check_outputs,
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
    numbers: dict[str, int] = field(default_factory=dict)
    composites: dict[str, Counters] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)  # how many events were delivered, by subscription
    lost: dict[str, dict[str, int]] = field(default_factory=dict)  # and how many were not, by reason
    tables: dict[str, dict[str, DataFrame]] = field(default_factory=dict)  # and the events, by table
    routes: dict[str, Route] = field(default_factory=dict)  # by subscription
    warnings: list[TocsinWarning] = field(default_factory=list)  # about types that never occur
    jobs: list[tuple[Job, DataFrame]] = field(default_factory=list)  # the rows of each job
    changed: dict[str, DataFrame] = field(default_factory=dict)  # of subscriptions whose rows were delivered
    held: dict[str, int] = field(default_factory=dict)  # how many matches quiet subscriptions hold back


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
    check_outputs(session, pipeline, plan, sources)
    whole_ids = all(source.whole_ids for source in sources)
    united = unite(pipeline, sources, schema, whole_ids)
    events = PipelineEvents(united, schema, carried_by_all(pipeline, schema), whole_ids)
    arrow = arrow_jobs(sources, plan.jobs, events)
    uses = count_arrow(session, arrow) if len(arrow.read) == len(plan.jobs) else None
    classified = _classified(united, plan.jobs, schema, uses, keep)
    counters, reasons = _count(classified, {one.source.name: one.read for one in sources}, uses or {})
    total, dead = (sum(getattr(one, what) for one in counters.values()) for what in ("read", "dead"))
    progress.done(f"{counted(total, 'event')}, {dead:,} of them unreadable")

    outcome = _Outcome([classified], reasons)
    for job in plan.jobs:
        progress.begin(f"detecting {few(job.names)}")
        _run_job(pipeline, plan, job, arrow.readings[job.number], events, outcome, keep)
        found = few_matches({name: outcome.numbers[name] for name in job.names})
        progress.done(found + _way(pipeline, outcome.routes[job.names[0]]))

    progress.begin("writing")
    splits = [split for source in sources for split in source.splits]
    written, samples = _write(pipeline, session, outcome, schema, splits)
    progress.done(counted(len(written), "output"))
    never_occurred = outcome.warnings if total else []  # of no events at all, that says nothing
    return Report(
        pipeline.name,
        {entry.name: outcome.numbers[entry.name] for entry in pipeline.subscriptions},
        counters,
        outcome.composites,
        outcome.reasons,
        samples,
        written,
        time.monotonic() - started,
        (*map(str, pipeline_warnings(pipeline)), *map(str, never_occurred)),
        outcome.lost,
        routes=outcome.routes,
        held=outcome.held,
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
    query = _query(pipeline, job, reading, events, outcome.classified)
    seen = types_seen(query, outcome.warnings.append)
    choice = choose(replace(query, types_seen=seen))
    found = keep(opened(choice.matches()) if job.reads else choice.matches())
    outcome.routes |= dict.fromkeys(job.names, choice.route)
    heard = _heard(pipeline, job, found, outcome, keep)
    outcome.jobs.append((job, heard))
    _add_matches(outcome, job, heard, keep, {e.name: e.deliver for e in pipeline.subscriptions})
    for name in (name for name in job.names if name in plan.composites):
        readers = [other for other in plan.jobs if name in other.reads]
        if job.sends:
            sent_rows, patterns = _rows_of(outcome, name), job.patterns[name]
            rows = sent_as_events(sent_rows, name, patterns, job.key, events.schema, events.whole_ids)
        else:
            (composite,) = plan.composites[name]
            rows = as_events(found, composite, job.key, events.schema, events.whole_ids)
        _add_composites(outcome, name, keep(classify(rows, readers, events.schema)), job.sends)


def _heard(
    pipeline: Pipeline,
    job: Job,
    found: DataFrame,
    outcome: _Outcome,
    keep: Callable[[DataFrame], DataFrame],
) -> DataFrame:
    """The matches of a job without those that quiet subscriptions hold back, which are counted.

    Other subscriptions that use them as events get them all the same.
    """
    quiet = {e.name: e.quiet for e in pipeline.subscriptions if e.name in job.names and e.quiet is not None}
    if not quiet:
        return found
    heard = keep(hold_back_in(found, quiet))
    counts = [
        {row["pattern"]: row["count"] for row in rows.groupBy("pattern").count().collect()}
        for rows in (found.where(F.col("pattern").isin(list(quiet))), heard)
    ]
    outcome.held |= {name: counts[0].get(name, 0) - counts[1].get(name, 0) for name in quiet}
    return heard


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

    def carried(name: str) -> DataFrame:
        return carrying(_rows_of(outcome, name), chosen(pipeline, name, schema))

    def rows(sink: Sink, name: str) -> DataFrame:
        if not tells_of_rules(pipeline, sink):
            return carried(name)
        return with_rules(carried(name), rules_of(pipeline.subscriptions, {name: _patterns(outcome, name)}))

    def together(names: Sequence[str]) -> DataFrame:
        return _together(pipeline, outcome, schema, names)

    dead = dead_letters(session, outcome.classified, splits)
    with Staging(session) as staging:
        written = write_matches(pipeline, rows, outcome.numbers, together, staging)
        written += write_sent(pipeline, outcome.tables, staging)
        written += write_dead_letters(pipeline, dead, sum(outcome.reasons.values()), staging)
    return tuple(written), _samples(pipeline, carried)


def _rows_of(outcome: _Outcome, name: str) -> DataFrame:
    """The rows of a subscription. Made only when needed: a table for each of many takes Spark its time."""
    if name in outcome.changed:
        return outcome.changed[name]
    found = next(found for job, found in outcome.jobs if name in job.patterns)
    return found.where(F.col("pattern").isin(list(_patterns(outcome, name))))


def _patterns(outcome: _Outcome, name: str) -> tuple[str, ...]:
    """The names that the rows of a subscription have."""
    return next(tuple(job.patterns[name]) for job, _ in outcome.jobs if name in job.patterns)


def _together(pipeline: Pipeline, outcome: _Outcome, schema: Schema, names: Sequence[str]) -> DataFrame:
    """The matches of several subscriptions as one table; those of a job that carry the same are one part of it."""
    parts: list[DataFrame] = []
    for job, found in outcome.jobs:
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in (name for name in job.names if name in names):
            if name in outcome.changed:
                own = carrying(outcome.changed[name], chosen(pipeline, name, schema))
                parts.append(own)
            else:
                groups.setdefault(chosen(pipeline, name, schema), []).append(name)
        for attributes, some in groups.items():
            rows = found
            if len(some) < len(job.names):
                rows = found.where(F.col("pattern").isin([p for name in some for p in job.patterns[name]]))
            parts.append(carrying(rows, attributes))
    patterns = {name: _patterns(outcome, name) for name in names}
    return with_rules(in_one_table(parts), rules_of(pipeline.subscriptions, patterns))


def _classified(
    united: DataFrame,
    jobs: Sequence[Job],
    schema: Schema,
    uses: Uses | None,
    keep: Callable[[DataFrame], DataFrame],
) -> DataFrame:
    """Persist the classified events needed as rows: all, or only the dead if tasks have counted the others."""
    if uses is None:
        return keep(classify(united, jobs, schema))
    if any(count for (_, use), count in uses.items() if use == DEAD):
        return keep(classify(united, jobs, schema).where(F.col(USE) == DEAD))
    # Only the columns are needed, and Spark would take its time to plan the predicates of many patterns for no row.
    return classify(united, jobs, schema, all_used=True).limit(0)


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
    sent_count = [F.count_if(F.col("what") == "push").alias("sent")] if job.sends else []
    rows = found.groupBy("pattern").agg(F.count("*").alias("count"), *sent_count).collect()
    counts = {row["pattern"]: row["count"] for row in rows}
    for name, patterns in job.patterns.items():
        outcome.numbers[name] = sum(counts.get(pattern, 0) for pattern in patterns)
        if job.sends:
            outcome.sent[name] = sum(row["sent"] for row in rows if row["pattern"] in patterns)
            receiver = receivers[name]
            if receiver is not None:
                _deliver(outcome, name, receiver, keep)
            outcome.tables[name] = {
                table: sent(_rows_of(outcome, name), table)
                for pattern in patterns
                for table in sent_tables(job.compiled, pattern)
            }


def _deliver(
    outcome: _Outcome, name: str, receiver: Delivery, keep: Callable[[DataFrame], DataFrame]
) -> None:
    """Pass the events a subscription sent through its receiver's queue; lost ones stay as rows, with the reason."""
    rows = _rows_of(outcome, name)
    delivered = keep(deliver(rows, every=receiver.every, capacity=receiver.capacity, most=receiver.most))
    others = rows.where(F.col("what") != "push")
    outcome.changed[name] = delivered.unionByName(others, allowMissingColumns=True)
    counts = {row["lost"]: row["count"] for row in delivered.groupBy("lost").count().collect()}
    outcome.lost[name] = {why: count for why, count in sorted(counts.items(), key=str) if why is not None}
    outcome.sent[name] = counts.get(None, 0)


def _add_composites(outcome: _Outcome, name: str, classified: DataFrame, sends: bool) -> None:
    """Add matches that are events of later jobs; they are counted like the events of a source."""
    outcome.classified.append(classified)
    found = outcome.sent[name] if sends else outcome.numbers[name] + outcome.held.get(name, 0)
    counts, reasons = _count(classified, {name: found}, {})
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


def _samples(pipeline: Pipeline, matches: Callable[[str], DataFrame]) -> dict[str, tuple[str, ...]]:
    keys = {entry.name: entry.key for entry in pipeline.subscriptions}
    rows = {
        name: sink.rows for sink in pipeline.sinks if sink.format == "console" for name in sink.subscriptions
    }
    return {name: first_matches(matches(name), keys[name], number) for name, number in rows.items()}
