"""Plan a stream for its workers: the pace groups of subscriptions, and how events are sent to the shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.tokens.subscription import Detection
from tocsin.automata.detection_plan import Compiled
from tocsin.errors import InputError
from tocsin.events.pace import PaceSettings
from tocsin.runtime import program as rt
from tocsin.runtime.predicates.lookup import WorkerLookup
from tocsin.runtime.program import Array
from tocsin.runtime.stream.arrivals import ArrivalJob
from tocsin.runtime.stream.shard import PaceGroup, ShardJob
from tocsin.spark.events.arrow_predicates import Lookup, asked_columns, domain_of, lookup_if_many
from tocsin.spark.events.naming import column_at
from tocsin.spark.events.prepare import prepared_columns, taken_fields
from tocsin.spark.events.worker_job import worker_job
from tocsin.spark.query import EventColumns, Query, Refusal
from tocsin.spark.stream.recall import Watched, watched
from tocsin.spark.stream.stream_options import StreamOptions


def paces_of(
    compiled: Compiled, options: StreamOptions, detections: Mapping[str, Detection | None]
) -> dict[PaceSettings, list[int]]:
    """Group the outputs of a job by pace. `detections` are the policies that subscriptions themselves name."""
    outputs: dict[PaceSettings, list[int]] = {}
    for number, output in enumerate(compiled.plan.outputs):
        outputs.setdefault(options.pace(detections.get(output.name)), []).append(number)
    return outputs


def by_source(paces: Iterable[PaceSettings]) -> bool:
    """Return whether it matters which source an event is from."""
    return any(pace.mode in ("guaranteed", "probabilistic") for pace in paces)


def source_column(columns: EventColumns, schema: T.StructType) -> Column:
    """Return the column of an event's source, as sent to the shards."""
    if columns.source is None:
        raise InputError(
            "no-source",
            "detection that waits for sources must know which one an event is from",
            hint="name the column: source='device'",
        )
    return column_at(schema, columns.source).cast("string").alias("source")


def too_far_ahead(end: Column, allowed: int) -> Column:
    """Return a condition: whether an event's end is further ahead of wall-clock time than allowed.

    In a stream, wall-clock time is when the micro-batch was planned, which Spark records in the checkpoint: a retried
    micro-batch gives the same result.
    """
    midnight = F.unix_micros(F.current_date().cast("timestamp"))
    now = F.unix_micros(F.current_timestamp())
    # Spark inlines constants into the code it generates. With the time in it, the code would be compiled again in every
    # micro-batch, which is slow for a small one. The date changes rarely, and the few events that pass that test get an
    # exact one, by a function for which Spark generates no code.
    closer = F.zip_with(F.array(end), F.array(now + F.lit(allowed)), lambda one, other: one > other)
    return (end > midnight + F.lit(allowed)) & F.get(closer, F.lit(0))


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """The worker job for a stream with fixed patterns, as `stream_query.run_stream` takes it."""

    job: ShardJob
    detected: Watched
    matches: pa.Schema
    domain: Array  # uint64 (words,): the bits that make an event relevant
    lookup: WorkerLookup | None = None  # if predicates are looked up where events are packed

    @property
    def schema(self) -> pa.Schema:
        """The schema of matches, and of late events if they are kept."""
        return self.matches.append(pa.field("late", pa.string())) if self.job.late == "keep" else self.matches

    @property
    def idle(self) -> bool:
        """Whether wall-clock time can advance the watermark."""
        return any(pace.idle_after is not None for pace in self.detected.paces)

    @property
    def arriving(self) -> ArrivalJob:
        """How events are sent to the shards."""
        return ArrivalJob(
            self.job.shards, self.job.keys, self.domain, by_source(self.detected.paces), self.lookup
        )


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """A query over a stream, and when its events are used."""

    query: Query
    options: StreamOptions
    others: tuple[Column, ...] = ()  # further columns to send

    @property
    def paces(self) -> dict[PaceSettings, list[int]]:
        """The outputs of the query, grouped by pace."""
        return paces_of(self.query.compiled, self.options, self.query.detections)


def lookup_for(query: Query) -> Lookup | None:
    """Return how the predicates of a query are looked up; None if Spark evaluates them."""
    found = lookup_if_many(query)
    return None if isinstance(found, Refusal) else found


def travelling_columns(asked: StreamQuery, lookup: Lookup | None) -> list[Column]:
    """Return the columns to send to workers, and `unreadable`: why a row cannot be used (see `events.prepare`)."""
    query = asked.query
    predicates = None if lookup is None else asked_columns(lookup, query)
    others = [
        *asked.others,
        *([source_column(query.columns, query.schema)] if by_source(asked.paces) else []),
    ]
    return prepared_columns(query, asked=predicates, others=others)


def stream_plan(asked: StreamQuery, lookup: Lookup | None) -> StreamPlan:
    """Plan what workers do with the `travelling_columns` of a stream."""
    query, options, paces = asked.query, asked.options, asked.paces
    compiled = query.compiled
    job, schema = worker_job(replace(query, output_columns=None))
    shards = query.partitions if options.shards is None else options.shards
    groups = tuple(
        pace_group(compiled, own, at_once=pace.mode == "best-effort") for pace, own in paces.items()
    )
    shard_job = ShardJob(
        groups,
        job.schema,
        job.keys,
        shards if query.columns.key else 1,
        query.limit,
        options.late,
        options.repeated,
        options.allowed_ahead,
    )
    own = None if lookup is None else WorkerLookup(lookup.index, tuple(lookup.columns))
    return StreamPlan(shard_job, watched(groups, tuple(paces)), schema, domain_of(compiled), own)


def pace_group(compiled: Compiled, outputs: Sequence[int], *, at_once: bool) -> PaceGroup:
    """Return what workers receive for a pace group of subscriptions."""
    asked = dict(compiled.tests)
    predicates = (repr(asked[bit]) if bit in asked else "" for bit in range(max(asked, default=-1) + 1))
    columns = [rt.travelling("value", name) for name in compiled.plan.columns]
    columns += [rt.travelling("field", name) for name in sorted(taken_fields(compiled))]
    plan = rt.subplan(compiled.plan, outputs)
    return PaceGroup(rt.to_bytes(plan), at_once, tuple(predicates), tuple(columns))
