"""Run a pipeline as a stream: one query for all its sources and subscriptions, until it is stopped.

The events of all sources are made alike and classified as those of tables are, read once for all jobs and for the tally of
what becomes of every event (see `runtime.stream.fan_out`); `microbatch` writes what comes of it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Lock

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from tocsin.errors import StreamError, TocsinError, counted
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.stream.arrivals import ArrivalJob
from tocsin.runtime.stream.fan_out import flag_of, rows_of
from tocsin.spark.batch.route import Route, route_of_stream
from tocsin.spark.brokers.kafka import kafka_error
from tocsin.spark.events.arrow_predicates import Lookup, lookup_if_many
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.few import NAMED
from tocsin.spark.observe.record import Seen, Watcher
from tocsin.spark.pipeline.added_columns import (
    BLOCK,
    DEAD,
    END,
    FILE,
    PROBLEM,
    ROW,
    SOURCE,
    TEXT,
    USE,
    job_flag,
)
from tocsin.spark.pipeline.file.model import Pipeline, Stream
from tocsin.spark.pipeline.file.warnings import pipeline_warnings
from tocsin.spark.pipeline.plan.jobs import Job
from tocsin.spark.pipeline.report.progress import Progress
from tocsin.spark.pipeline.report.report import Report
from tocsin.spark.pipeline.sinks.stream_targets import destinations, side_target
from tocsin.spark.pipeline.sinks.write_files import Written
from tocsin.spark.pipeline.sources.classify import classify, event_columns
from tocsin.spark.pipeline.sources.plan_sources import carried_by_all, chosen, plan_sources, unite
from tocsin.spark.pipeline.sources.streams import Known, look_at, open_stream
from tocsin.spark.pipeline.stream.deleted_files import deleted_files
from tocsin.spark.pipeline.stream.description import (
    changed_subscriptions,
    check_unchanged,
    describe,
    of_pipeline,
    read_description,
    write_description,
)
from tocsin.spark.pipeline.stream.known_rules import KnownRules
from tocsin.spark.pipeline.stream.ledger import Ledger
from tocsin.spark.pipeline.stream.microbatch import Later, Plan, Stopped, Writer
from tocsin.spark.pipeline.stream.quiet_state import QuietState
from tocsin.spark.pipeline.stream.reported_rows import Found
from tocsin.spark.pipeline.stream.rules import Shared, later_rules, plan_with_rules
from tocsin.spark.query import Query, Refusal
from tocsin.spark.rules.rule_plan import with_changes
from tocsin.spark.sent import sent_tables
from tocsin.spark.session.failures import explain_failure
from tocsin.spark.session.storage import Storage
from tocsin.spark.stream.damage import damage_in
from tocsin.spark.stream.shard_processor import ShardProcessor
from tocsin.spark.stream.shared_query import SharedJob, run_jobs
from tocsin.spark.stream.stream_options import StreamOptions
from tocsin.spark.stream.stream_plan import StreamQuery, stream_plan, travelling_columns
from tocsin.spark.stream.stream_query import with_heartbeats

_PARTITIONS = "spark.sql.shuffle.partitions"
# Pipelines that start in one session at once must not take each other's setting for the session's own.
_starting = Lock()
_OURS = re.compile(r"([a-z]+(?:-[a-z]+)*): (.*?)(?:\nhint: (.*))?", re.DOTALL)


def run_stream(
    pipeline: Pipeline,
    stream: Stream,
    session: SparkSession,
    progress: Progress,
    once: bool,
    stop: Event,
    watchers: Sequence[Watcher],
) -> Report:
    """Run the pipeline from its checkpoint on; the report covers everything since the first run."""
    started = time.monotonic()
    storage = Storage(session)
    progress.begin(f"opening {', '.join(source.name for source in pipeline.sources)}")
    before = read_description(storage, stream.checkpoint, pipeline)
    known = {
        source.name: (before.known.get(source.name) if before else None) or look_at(session, pipeline, source)
        for source in pipeline.sources
    }
    shards = stream.shards or (before.shards if before else session.sparkContext.defaultParallelism)
    now = describe(pipeline, shards, known)
    if before is not None:
        check_unchanged(pipeline, before, now)
    query_rows, plan = _plan(session, storage, pipeline, stream, known, shards)
    changed = [] if before is None else changed_subscriptions(before, now)
    if before is None:
        for target in (plan.dead_letters, plan.late):
            if target is not None:
                target.begin()
    for destination in plan.destinations:
        if before is None or not any(name in before.subscriptions for name in destination.subscriptions):
            destination.target.begin()
    if before is None or changed:
        write_description(storage, stream.checkpoint, now)
    with of_pipeline(pipeline):
        ledger = Ledger(storage, stream.checkpoint)
    before_now = counted(ledger.batches, "micro-batch", "micro-batches")
    progress.done(f"{before_now} so far" if ledger.batches else "from the beginning")
    if len(changed) > NAMED:
        progress.begin(f"{counted(len(changed), 'subscription')} changed")
        progress.done("new and changed ones start from scratch, others continue")
    for line in changed if len(changed) <= NAMED else ():
        progress.begin(line)
        progress.done(
            "others continue" if line.endswith("is gone") else "it starts from scratch, others continue"
        )

    def begun(batch: int) -> None:
        progress.begin(f"micro-batch {batch}")

    def report(seen: Seen) -> None:
        progress.batch(seen)
        for change in seen.rules:
            progress.begin(f"{change.get('action', 'change')} {change.get('name', '')}".strip())
            since = f"from {change.get('until', 'the beginning')} on"
            progress.done(f"refused, {change['code']}: {change['message']}" if "code" in change else since)
        for watcher in watchers:
            watcher(seen)

    progress.resume(ledger.totals.sources, _matches_so_far(pipeline, ledger))
    writer = Writer(replace(plan, alerts=progress.alerts), ledger, stop, report, begun)
    try:
        _follow_to_the_end(
            _start(session, query_rows, writer, stream, once or stream.once, shards),
            writer,
            stop,
            stream.checkpoint,
        )
    except (PySparkException, Py4JError) as problem:
        # What is wrong with a checkpoint may already keep a query from starting.
        raise _failed(problem, stream.checkpoint) from problem
    return _report(plan, ledger, writer, time.monotonic() - started)


def _plan(
    session: SparkSession,
    storage: Storage,
    pipeline: Pipeline,
    stream: Stream,
    known: Mapping[str, Known],
    shards: int,
) -> tuple[DataFrame, Plan]:
    """Return the rows of the query, and the function that processes those of each micro-batch."""
    whole_ids = all(one.whole_ids for one in known.values())
    sources = [open_stream(session, pipeline, source, known[source.name]) for source in pipeline.sources]
    plan, schema = plan_sources(pipeline, sources)
    united = unite(pipeline, sources, schema, whole_ids)
    events = classify(united, plan.jobs, schema, stream.ahead, all_used=stream.rules is not None)
    carried = carried_by_all(pipeline, schema)
    limit = pipeline.max_partial_matches or MAX_TOKENS
    options = StreamOptions(
        stream.delay,
        stream.detection,
        stream.sources,
        stream.silent_after,
        stream.idle,
        shards,
        stream.late,
        stream.repeated,
    )
    shared = Shared(pipeline, options, carried, limit, _origin(pipeline))
    found: dict[str, Found] = {}
    taken: dict[str, Route] = {}
    later: Later | None = None
    gathered = _Gathered(_tallied(len(plan.jobs)))
    for job in plan.jobs:
        if stream.rules is not None:
            lookup = None
            ruled, columns = plan_with_rules(events, stream.rules, job, schema, shared)
            gathered.add(columns, ruled.arriving, ruled.processor)
            gathered.changes = ruled.changes
            schema_of_matches = ruled.matches
            later = later_rules(session, storage, pipeline, job, schema_of_matches, carried)
        else:
            schema_of_matches, lookup = _add_job(gathered, events, job, shared)
        taken |= dict.fromkeys(job.names, route_of_stream(lookup))
        matches = from_arrow_schema(schema_of_matches)
        for name, patterns in job.patterns.items():
            found[name] = Found(job, tuple(patterns), matches, chosen(pipeline, name, schema))
    sent = {name: _sent(job, name) for job in plan.jobs if job.sends for name in job.names}
    letters, late = pipeline.dead_letters, pipeline.late
    done = Plan(
        pipeline,
        {entry.name: found[entry.name] for entry in pipeline.subscriptions},
        plan.jobs,
        taken,
        destinations(session, storage, pipeline, sent, plan.kinds),
        None if letters is None else side_target(storage, letters),
        None if late is None else side_target(storage, late),
        KnownRules(storage, pipeline),
        QuietState(storage, stream.checkpoint),
        partial(deleted_files, storage, stream.checkpoint),
        later=later,
    )
    return gathered.run(events, shards, stream.idle is not None), done


@dataclass
class _Gathered:
    """The columns that leave the single read of the sources, and the jobs they are for."""

    columns: list[Column]
    jobs: list[SharedJob] = field(default_factory=list)
    changes: DataFrame | None = None  # of rules

    def add(self, columns: Sequence[Column], arriving: ArrivalJob, processor: ShardProcessor) -> None:
        """Add a job, and the columns that travel to it."""
        rows = F.struct(*columns).dropFields("unreadable")
        self.columns.append(rows.alias(rows_of(len(self.jobs))))
        self.jobs.append((arriving, processor))

    def run(self, events: DataFrame, shards: int, idle: bool) -> DataFrame:
        """Run the jobs over classified events, and return their output rows."""
        rows = events.select(*self.columns)
        if self.changes is not None:
            rows = with_changes(rows, self.changes)
        if idle:
            rows = with_heartbeats(rows)
        return run_jobs(rows, self.jobs, shards, DEAD)


def _add_job(
    gathered: _Gathered, events: DataFrame, job: Job, shared: Shared
) -> tuple[pa.Schema, Lookup | Refusal]:
    """Add a job with fixed patterns; return the schema of its matches, and how its predicates are looked up."""
    query = Query(
        events,
        event_columns(job),
        job.compiled,
        job.catalog,
        shared.carried,
        limit=shared.limit,
        detections=job.detections,
    )
    asked = StreamQuery(query, shared.options, (shared.origin,))
    found = lookup_if_many(query)
    lookup = None if isinstance(found, Refusal) else found
    travelling = travelling_columns(asked, lookup)
    detected = stream_plan(asked, lookup)
    gathered.add(travelling, detected.arriving, ShardProcessor(detected.job, detected.detected))
    return detected.matches, found


def _tallied(jobs: int) -> list[Column]:
    """Return the columns that the tally needs from every event."""
    columns = ((SOURCE, "source"), (PROBLEM, "problem"), (FILE, "file"), (BLOCK, "block"), (ROW, "row"))
    return [
        *(F.col(name).alias(short) for name, short in (*columns, (TEXT, "text"), (USE, "use"), (END, "end"))),
        *(F.col(job_flag(job)).alias(flag_of(job)) for job in range(jobs)),
    ]


def _origin(pipeline: Pipeline) -> Column:
    """Return the number of an event's source, which late events have to report."""
    numbers = [F.when(F.col(SOURCE) == source.name, n) for n, source in enumerate(pipeline.sources)]
    return F.coalesce(*numbers).cast("byte").alias("origin")


def _sent(job: Job, name: str) -> tuple[str, ...]:
    return tuple(table for pattern in job.patterns[name] for table in sent_tables(job.compiled, pattern))


def _start(
    session: SparkSession, rows: DataFrame, writer: Writer, stream: Stream, once: bool, shards: int
) -> StreamingQuery:
    query = rows.writeStream.foreachBatch(writer.write).option("checkpointLocation", stream.checkpoint)
    if once:
        query = query.trigger(availableNow=True)
    elif stream.trigger is not None:
        query = query.trigger(processingTime=f"{stream.trigger} microseconds")
    # A query takes the settings that the session has when it starts, and one partition of the state a shard is best.
    with _starting:
        before = session.conf.get(_PARTITIONS)
        session.conf.set(_PARTITIONS, str(shards))
        try:
            return query.start()
        finally:
            session.conf.set(_PARTITIONS, str(before))


def _follow_to_the_end(query: StreamingQuery, writer: Writer, stop: Event, checkpoint: str) -> None:
    """Wait until a query ends or is asked to stop; it stops between two micro-batches."""
    try:
        while query.isActive and not stop.is_set():
            query.awaitTermination(0.2)  # type: ignore[arg-type]  # parts of a second are fine
        while query.isActive:
            if not writer.busy and not query.status["isTriggerActive"]:
                query.stop()
            else:
                # Another micro-batch would raise `Stopped`.
                query.awaitTermination(0.1)  # type: ignore[arg-type]
        query.awaitTermination()
    except StreamingQueryException as problem:
        if not isinstance(writer.failure, Stopped):
            raise _failed(writer.failure or problem, checkpoint) from problem
    finally:
        if query.isActive:
            query.stop()


def _failed(problem: Exception, checkpoint: str) -> StreamError:
    """Return the failure that stopped a stream as an error of ours."""
    if isinstance(problem, TocsinError):
        return StreamError(problem.code, problem.message, problem.span, problem.hint)
    damage = damage_in(problem, checkpoint)
    if damage is not None:
        return StreamError(damage.code, damage.message, hint=damage.hint)
    of_kafka = kafka_error(problem)
    if of_kafka is not None:
        return StreamError(of_kafka.code, of_kafka.message, hint=of_kafka.hint)
    text = explain_failure(problem)
    ours = _OURS.fullmatch(text)
    if ours is None:
        return StreamError("stream-failed", text)
    return StreamError(ours[1], ours[2], hint=ours[3])


def _matches_so_far(pipeline: Pipeline, ledger: Ledger) -> dict[str, int]:
    """Return the number of matches of each subscription since the first start, including rules that were added later."""
    matches = ledger.totals.matches
    named = [entry.name for entry in pipeline.subscriptions]
    came = matches if pipeline.stream is not None and pipeline.stream.rules is not None else ()
    return {name: matches.get(name, 0) for name in dict.fromkeys([*named, *came])}


def _report(plan: Plan, ledger: Ledger, writer: Writer, seconds: float) -> Report:
    pipeline, totals = plan.pipeline, ledger.totals
    nothing = Counters(0, 0, 0, 0, 0)
    return Report(
        pipeline.name,
        _matches_so_far(pipeline, ledger),
        {source.name: totals.sources.get(source.name, nothing) for source in pipeline.sources},
        {},
        totals.reasons,
        writer.samples,
        tuple(Written(place, place, rows) for place, rows in totals.written.items()),
        seconds,
        tuple(str(warning) for warning in pipeline_warnings(pipeline)),
        batches=ledger.batches,
        routes=plan.routes,
        held={entry.name: 0 for entry in pipeline.subscriptions if entry.quiet is not None}
        | dict(totals.held),
        gone=totals.gone,
    )
