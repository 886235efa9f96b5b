"""Run a pipeline over what its sources hold: read, decide what becomes of each event, detect, write, report.

The events of all sources are made alike and classified once, and that is kept in Spark's storage: what is counted is what
is detected. Only where Arrow reads Parquet for every job (see `arrow_jobs`) the tasks count, and read the files again to
detect; rows of Spark are then made of the dead alone. The counts travel as data, because Spark's accumulators and
observations count a task again when it is retried. What was read is counted on its own, before anything is done to it, so
that the sum is a check: if an event got lost on the way, `Counters.checked` stops the run.
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
from tocsin.spark.counters import Counters
from tocsin.spark.deliver import deliver
from tocsin.spark.job import prepare, relevant, run
from tocsin.spark.pipeline.arrow_jobs import ArrowJobs, Uses, arrow_jobs, count_arrow, detect_arrow
from tocsin.spark.pipeline.classify import classify, event_columns
from tocsin.spark.pipeline.composites import as_events, carrying, opened, sent_as_events
from tocsin.spark.pipeline.jobs import Job
from tocsin.spark.pipeline.layout import (
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
from tocsin.spark.pipeline.model import Delivery, Pipeline
from tocsin.spark.pipeline.outputs import (
    check_sent_folders,
    dead_letters,
    write_dead_letters,
    write_matches,
    write_sent,
)
from tocsin.spark.pipeline.planning import carried_by_all, chosen, plan_sources, unite
from tocsin.spark.pipeline.progress import Progress
from tocsin.spark.pipeline.report import Report
from tocsin.spark.pipeline.sources import open_source
from tocsin.spark.pipeline.warnings import pipeline_warnings
from tocsin.spark.pipeline.words import first_matches
from tocsin.spark.sent import sent, sent_tables


@dataclass
class _Outcome:
    """What is known so far: the classified events, with composites among them, and the matches."""

    classified: list[DataFrame]
    reasons: dict[str, int]
    matches: dict[str, DataFrame] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    composites: dict[str, Counters] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)  # how many events of subscriptions were delivered
    lost: dict[str, dict[str, int]] = field(default_factory=dict)  # and how many were not, by the reason
    tables: dict[str, dict[str, DataFrame]] = field(default_factory=dict)  # and the events, by their tables


def run_batch(
    pipeline: Pipeline, session: SparkSession, progress: Progress, stack: ExitStack, started: float
) -> Report:
    """Detect once in what the sources hold. What is kept meanwhile is let go by `stack`."""

    def keep(frame: DataFrame) -> DataFrame:
        """Keep a table until the end of the run, so that it is computed once."""
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        stack.callback(kept.unpersist)
        return kept

    progress.begin(f"reading {', '.join(source.name for source in pipeline.sources)}")
    sources = [open_source(session, pipeline, source) for source in pipeline.sources]
    plan, schema = plan_sources(pipeline, sources)
    check_sent_folders(pipeline, plan)
    whole_ids = all(source.whole_ids for source in sources)
    taken = carried_by_all(pipeline, schema)
    united = unite(pipeline, sources, schema, whole_ids)
    arrow = arrow_jobs(session, sources, plan.jobs, schema, united.schema, taken, whole_ids)
    events = classify(united, plan.jobs, schema)
    uses = None if arrow.why_not else count_arrow(session, arrow)
    classified = _kept(events, uses, keep)
    counted, reasons = _count(classified, {one.source.name: one.read for one in sources}, uses or {})
    total, dead = (sum(getattr(one, what) for one in counted.values()) for what in ("read", "dead"))
    progress.done(f"{total:,} events, {dead:,} of them unreadable")

    outcome = _Outcome([classified], reasons)
    limit = pipeline.max_partial_matches or MAX_TOKENS
    for job in plan.jobs:
        progress.begin(f"detecting {', '.join(job.names)}")
        if job.number in arrow.readings:
            found = keep(detect_arrow(arrow, job, events, taken, limit))
        else:
            found = keep(_detect(job, outcome.classified, taken, limit))
        _add_matches(outcome, job, found, keep, {e.name: e.deliver for e in pipeline.subscriptions})
        for name in (name for name in job.names if name in plan.composites):
            readers = [other for other in plan.jobs if name in other.reads]
            if job.sends:
                sent_rows = outcome.matches[name]
                rows = sent_as_events(sent_rows, name, job.patterns[name], job.key, schema, whole_ids)
            else:
                (composite,) = plan.composites[name]
                rows = as_events(found, composite, job.key, schema, whole_ids)
            _add_composites(outcome, name, keep(classify(rows, readers, schema)), job.sends)
        numbers = ", ".join(f"{outcome.numbers[name]:,} {name}" for name in job.names)
        progress.done(numbers + _way(pipeline, arrow, job))

    progress.begin("writing")
    carried = {
        name: carrying(frame, chosen(pipeline, name, schema)) for name, frame in outcome.matches.items()
    }
    written = write_matches(pipeline, carried, outcome.numbers)
    written += write_sent(pipeline, outcome.tables)
    splits = [split for source in sources for split in source.splits]
    written += write_dead_letters(
        pipeline, dead_letters(session, outcome.classified, splits), sum(outcome.reasons.values())
    )
    samples = _samples(pipeline, carried)
    progress.done(f"{len(written)} folders")
    return Report(
        pipeline.name,
        {entry.name: outcome.numbers[entry.name] for entry in pipeline.subscriptions},
        counted,
        outcome.composites,
        outcome.reasons,
        samples,
        tuple(written),
        time.monotonic() - started,
        tuple(str(warning) for warning in pipeline_warnings(pipeline)),
        outcome.lost,
        why_not_arrow={name: arrow.why_not.get(job.number) for job in plan.jobs for name in job.names},
    )


def _kept(events: DataFrame, uses: Uses | None, keep: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """The classified events that are needed as rows: all, or only the dead if others were counted where they are read."""
    if uses is None:
        return keep(events)
    dead = any(count for (_, use), count in uses.items() if use == DEAD)
    return keep(events.where(F.col(USE) == DEAD)) if dead else events.limit(0)


def _way(pipeline: Pipeline, arrow: ArrowJobs, job: Job) -> str:
    """How Parquet was read for a job, for who wants it fast."""
    if all(source.format != "parquet" for source in pipeline.sources):
        return ""
    why_not = arrow.why_not.get(job.number)
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
    """Let what a subscription sent wait for its receiver; what is lost on the way stays in its rows, with the reason."""
    rows = outcome.matches[name]
    delivered = keep(deliver(rows, every=receiver.every, capacity=receiver.capacity, most=receiver.most))
    others = rows.where(F.col("what") != "push")
    outcome.matches[name] = delivered.unionByName(others, allowMissingColumns=True)
    counts = {row["lost"]: row["count"] for row in delivered.groupBy("lost").count().collect()}
    outcome.lost[name] = {why: count for why, count in sorted(counts.items(), key=str) if why is not None}
    outcome.sent[name] = counts.get(None, 0)


def _add_composites(outcome: _Outcome, name: str, classified: DataFrame, sends: bool) -> None:
    """Matches that are events of later jobs; they are counted like the events of a source."""
    outcome.classified.append(classified)
    counts, reasons = _count(classified, {name: outcome.sent[name] if sends else outcome.numbers[name]}, {})
    outcome.composites |= counts
    for reason, count in reasons.items():
        outcome.reasons[reason] = outcome.reasons.get(reason, 0) + count


def _count(
    classified: DataFrame, read: Mapping[str, int], uses: Uses
) -> tuple[dict[str, Counters], dict[str, int]]:
    """The counters of each source, checked, and the reasons of the dead.

    Args:
        uses: what was counted in the tasks, if only the dead are among the classified; whoever counts the dead must agree.
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


def _detect(job: Job, classified: Sequence[DataFrame], carried: tuple[str, ...], limit: int) -> DataFrame:
    """The matches of a job among the events that are its own."""
    flag = job_flag(job.number)
    own = [events.where(F.col(flag)) for events in classified if flag in events.columns]
    events = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), own)
    columns = event_columns(job)
    names = (*carried, PARTS) if job.reads else carried
    prepared = prepare(events, columns, job.compiled, job.catalog, names)
    used = prepared.where(relevant(job.compiled)).drop("unreadable")
    found = run(used, events, columns, job.compiled, names, limit)
    return opened(found) if job.reads else found


def _samples(pipeline: Pipeline, matches: Mapping[str, DataFrame]) -> dict[str, tuple[str, ...]]:
    keys = {entry.name: entry.key for entry in pipeline.subscriptions}
    rows = {
        name: sink.rows for sink in pipeline.sinks if sink.format == "console" for name in sink.subscriptions
    }
    return {name: first_matches(matches[name], keys[name], number) for name, number in rows.items()}
