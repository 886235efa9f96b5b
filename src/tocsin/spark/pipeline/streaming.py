"""Run a pipeline as a stream: one query for all its sources and subscriptions, until it is told to stop.

The events of all sources are made alike and classified as those of tables are. Each job detects among its own, a further branch
of the query tells what becomes of every event, and `microbatch` writes what comes of both.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from threading import Event

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from tocsin.errors import StreamError, TocsinError
from tocsin.runtime import tally
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.spark.brokers.kafka import kafka_error
from tocsin.spark.columns import EventColumns
from tocsin.spark.counters import Counters
from tocsin.spark.failures import explain_failure
from tocsin.spark.job import prepare
from tocsin.spark.lines import StreamOptions, by_source, paces_of, source_column, stream_plan
from tocsin.spark.pipeline.checkpoint import (
    Known,
    changed_subscriptions,
    check_unchanged,
    describe,
    read_description,
    write_description,
)
from tocsin.spark.pipeline.classify import classify, event_columns
from tocsin.spark.pipeline.jobs import Job
from tocsin.spark.pipeline.layout import (
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
from tocsin.spark.pipeline.ledger import Ledger
from tocsin.spark.pipeline.microbatch import Found, Later, Plan, Stopped, Writer
from tocsin.spark.pipeline.model import Pipeline, Stream
from tocsin.spark.pipeline.outputs import Written
from tocsin.spark.pipeline.planning import carried_by_all, chosen, plan_sources, unite
from tocsin.spark.pipeline.progress import Progress
from tocsin.spark.pipeline.report import Report
from tocsin.spark.pipeline.ruled import detect_rules, later_rules
from tocsin.spark.pipeline.stream_sinks import routes, side_target
from tocsin.spark.pipeline.stream_sources import look_at, open_stream
from tocsin.spark.pipeline.warnings import pipeline_warnings
from tocsin.spark.seen import Seen, Watcher
from tocsin.spark.sent import sent_tables
from tocsin.spark.storage import Storage
from tocsin.spark.stream import run_stream as detect_in_stream

_PARTITIONS = "spark.sql.shuffle.partitions"
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
    """Follow the sources of a pipeline from its checkpoint on; what is reported is everything since the first run."""
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
    told = [] if before is None else changed_subscriptions(before, now)
    if before is None:
        for target in (plan.dead_letters, plan.late):
            if target is not None:
                target.begin()
    for route in plan.routes:
        if before is None or route.subscription not in before.subscriptions:
            route.target.begin()
    if before is None or told:
        write_description(storage, stream.checkpoint, now)
    ledger = Ledger(storage, stream.checkpoint)
    progress.done(f"{ledger.batches:,} micro-batches so far" if ledger.batches else "from the beginning")
    for line in told:
        progress.begin(line)
        progress.done("others go on" if line.endswith("is gone") else "it starts afresh, others go on")

    def begun(batch: int) -> None:
        progress.begin(f"micro-batch {batch}")

    def tell(seen: Seen) -> None:
        progress.batch(seen)
        for change in seen.rules:
            progress.begin(f"{change.get('action', 'change')} {change.get('name', '')}".strip())
            since = f"from {change.get('until', 'the beginning')} on"
            progress.done(f"refused, {change['code']}: {change['message']}" if "code" in change else since)
        for watcher in watchers:
            watcher(seen)

    writer = Writer(plan, ledger, stop, tell, begun)
    _follow_to_the_end(_start(session, query_rows, writer, stream, once or stream.once, shards), writer, stop)
    return _report(pipeline, ledger, writer, time.monotonic() - started)


def _plan(
    session: SparkSession,
    storage: Storage,
    pipeline: Pipeline,
    stream: Stream,
    known: Mapping[str, Known],
    shards: int,
) -> tuple[DataFrame, Plan]:
    """The rows of the query, and what is done with those of each micro-batch."""
    whole_ids = all(one.whole_ids for one in known.values())
    followed = [open_stream(session, pipeline, source, known[source.name]) for source in pipeline.sources]
    sources, numbered = [one.detected for one in followed], [one.told for one in followed]
    plan, schema = plan_sources(pipeline, sources)
    ruled = stream.rules is not None
    events, lettered = (
        classify(unite(pipeline, opened, schema, whole_ids), plan.jobs, schema, stream.ahead, all_used=ruled)
        for opened in (sources, numbered)
    )
    told = [_tallied(lettered, len(plan.jobs))]
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
    found: dict[str, Found] = {}
    later: Later | None = None
    for job in plan.jobs:
        columns = event_columns(job)
        own = events.where((F.col(USE) != DEAD) | F.col(job_flag(job.number)))
        if stream.rules is not None:
            rows, schema_of_matches = detect_rules(
                own, pipeline, stream.rules, job, schema, options, carried, limit, _origin(pipeline)
            )
            later = later_rules(session, storage, pipeline, job, schema_of_matches, carried)
        else:
            rows, schema_of_matches = _detected(own, pipeline, job, columns, options, carried, limit)
        told.append(rows.mapInArrow(partial(tally.tell, job.number), from_arrow_schema(tally.TOLD)))
        matches = from_arrow_schema(schema_of_matches)
        for name, patterns in job.patterns.items():
            found[name] = Found(job, tuple(patterns), matches, chosen(pipeline, name, schema))
    sent = {name: _sent(job, name) for job in plan.jobs if job.sends for name in job.names}
    letters, late = pipeline.dead_letters, pipeline.late
    done = Plan(
        pipeline,
        {entry.name: found[entry.name] for entry in pipeline.subscriptions},
        plan.jobs,
        routes(session, storage, pipeline, sent, plan.kinds),
        None if letters is None else side_target(storage, letters),
        None if late is None else side_target(storage, late),
        later,
    )
    return reduce(DataFrame.union, told), done


def _detected(
    own: DataFrame,
    pipeline: Pipeline,
    job: Job,
    columns: EventColumns,
    options: StreamOptions,
    carried: tuple[str, ...],
    limit: int,
) -> tuple[DataFrame, pa.Schema]:
    """What a job tells of its events, and the schema of its matches."""
    paces = paces_of(job.compiled, options, job.detections)
    others = [_origin(pipeline), F.col(job_flag(job.number)).alias("wanted")]
    others += [source_column(columns)] if by_source(paces) else []
    prepared = prepare(own, columns, job.compiled, job.catalog, carried, others=others)
    detected = stream_plan(prepared, own, columns, job.compiled, carried, limit, options, paces)
    return detect_in_stream(_telling_time(prepared, job), detected), detected.matches


def _telling_time(prepared: DataFrame, job: Job) -> DataFrame:
    """Every event tells the time, but only those that are for the job have answers to its questions."""
    names = [f"bits{word}" for word in range(job.compiled.plan.words)]
    types = {field.name: field.dataType for field in prepared.schema.fields}
    asked = {
        name: F.when(F.col("wanted"), F.col(name)).otherwise(F.lit(0).cast(types[name])) for name in names
    }
    return prepared.withColumns(asked).drop("wanted", "unreadable")


def _tallied(classified: DataFrame, jobs: int) -> DataFrame:
    """What becomes of every event."""
    columns = ((SOURCE, "source"), (PROBLEM, "problem"), (FILE, "file"), (BLOCK, "block"), (ROW, "row"))
    rows = classified.select(
        *(F.col(name).alias(short) for name, short in (*columns, (TEXT, "text"), (USE, "use"), (END, "end"))),
        *(F.col(job_flag(job)).alias(f"job{job}") for job in range(jobs)),
    )
    return rows.mapInArrow(partial(tally.tally, jobs, DEAD), from_arrow_schema(tally.TOLD))


def _origin(pipeline: Pipeline) -> Column:
    """The number of the source that an event is from; late ones have to tell."""
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
    before = session.conf.get(_PARTITIONS)
    session.conf.set(_PARTITIONS, str(shards))
    try:
        return query.start()
    finally:
        session.conf.set(_PARTITIONS, str(before))


def _follow_to_the_end(query: StreamingQuery, writer: Writer, stop: Event) -> None:
    """Wait until a query ends or is to be stopped, which it is between two micro-batches."""
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
            raise _failed(writer.failure or problem) from problem
    finally:
        if query.isActive:
            query.stop()


def _failed(problem: Exception) -> StreamError:
    """What stopped a stream, as an error of ours."""
    if isinstance(problem, TocsinError):
        return StreamError(problem.code, problem.message, problem.span, problem.hint)
    of_kafka = kafka_error(problem)
    if of_kafka is not None:
        return StreamError(of_kafka.code, of_kafka.message, hint=of_kafka.hint)
    text = explain_failure(problem)
    ours = _OURS.fullmatch(text)
    if ours is None:
        return StreamError("stream-failed", text)
    return StreamError(ours[1], ours[2], hint=ours[3])


def _report(pipeline: Pipeline, ledger: Ledger, writer: Writer, seconds: float) -> Report:
    totals = ledger.totals
    nothing = Counters(0, 0, 0, 0, 0)
    named = [entry.name for entry in pipeline.subscriptions]
    came = totals.matches if pipeline.stream is not None and pipeline.stream.rules is not None else ()
    return Report(
        pipeline.name,
        {name: totals.matches.get(name, 0) for name in dict.fromkeys([*named, *came])},
        {source.name: totals.sources.get(source.name, nothing) for source in pipeline.sources},
        {},
        totals.reasons,
        writer.samples,
        tuple(Written(place, place, rows) for place, rows in totals.written.items()),
        seconds,
        tuple(str(warning) for warning in pipeline_warnings(pipeline)),
        batches=ledger.batches,
    )
