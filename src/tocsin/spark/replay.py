"""Back-test a detection policy: what would have been detected, and when, had the events arrived as logged.

The policy has to see every arrival, in order, whatever its key. So each of a few workers receives all arrivals, but the
event itself only for its own keys; it runs the policy over all of them, and the kernels over its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.errors import InputError, did_you_mean
from tocsin.events.stability import policy as new_policy
from tocsin.languages.registry import DEFAULT
from tocsin.spark.compile_patterns import CompiledPatterns, GivenPatterns, Pattern, compile_patterns
from tocsin.spark.events.columns import attribute_kinds, event_columns
from tocsin.spark.events.naming import column_at
from tocsin.spark.events.prepare import prepare, relevant
from tocsin.spark.events.worker_job import worker_job
from tocsin.spark.options import Options, Replay, gather, refuse, refuse_fields
from tocsin.spark.query import EventColumns, Query
from tocsin.spark.replay_worker import DETECTED_AT, MakePolicy, ReplayJob, replay_partition
from tocsin.spark.session.session import parallelism
from tocsin.spark.session.worker_python import check_worker_python


def replay(
    events: DataFrame,
    pattern: Pattern,
    *options: object,
    language: str = DEFAULT,
    key: str | Sequence[str] | None = None,
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    matches: str | None = None,
    take: str | None = None,
) -> DataFrame:
    """Return the composite events that a detection policy would have found, and after which arrival.

    An irrelevant row is a heartbeat: it shows how far its source has come. Events that are late for the policy are left
    out, and events that still wait after the last arrival are not used.

    Args:
        pattern: the text of one pattern, or a subscription.
        options: a `tocsin.Replay`, which describes how events arrived and names the policy; and the options of
            `tocsin.detect`, as far as they apply.

    The other arguments are those of `tocsin.detect`.

    Returns:
        The same columns as `tocsin.detect`, and `detected_at`.
    """
    given = gather(options)
    log = _checked(events, given)
    check_worker_python(events.sparkSession)
    named = given.columns
    columns = event_columns(
        events,
        time=time,
        type=type,
        event_type=named.event_type,
        key=key,
        id=named.id,
        source=log.source,
        time_unit=named.time_unit,
    )
    patterns = GivenPatterns(pattern, language, given.language, matches, take, given.catalog)
    compiled = compile_patterns(patterns, attribute_kinds(events))
    if len(compiled.detections) != 1:
        hint = "give one pattern at a time, in a language of patterns"
        raise InputError("bad-pattern", "a replay is of one pattern", hint=hint)
    query = Query(
        events,
        columns,
        compiled.compiled,
        compiled.catalog,
        _carried(events, columns, log),
        limit=given.run.max_partial_matches,
    )
    return _replayed(query, log, _policy(events, compiled, log))


def _checked(events: DataFrame, given: Options) -> Replay:
    """Return the options of the replay; raise `InputError` if they are missing, or other options do not apply."""
    if given.replay is None:
        hint = "give tocsin.Replay(arrival='…', source='…')"
        raise InputError("no-arrival", "nothing says when and from where events arrived", hint=hint)
    if events.isStreaming:
        hint = "give the log of its arrivals as a table"
        raise InputError("bad-option", "a replay is of a table, and this is a stream", hint=hint)
    refuse(given.stream, "a replay runs over a table")
    refuse(given.rules, "a replay runs over a table")
    refuse_fields(
        given.run, ["spark", "unreadable", "cut"], "a replay takes every row of a table as an arrival"
    )
    refuse_fields(given.columns, ["attributes", "report", "order"], "a replay reports everything")
    refuse_fields(given.columns, ["source"], "tocsin.Replay names the column of the source")
    if given.replay.arrival not in events.columns:
        hint = did_you_mean(given.replay.arrival, events.columns)
        message = f"the table has no column {given.replay.arrival!r}"
        raise InputError("unknown-column", message, hint=hint)
    return given.replay


def _carried(events: DataFrame, columns: EventColumns, log: Replay) -> tuple[str, ...]:
    others = [name for name in events.columns if name not in columns.named]
    return tuple(dict.fromkeys([*others, log.arrival, log.source]))


def _policy(events: DataFrame, compiled: CompiledPatterns, log: Replay) -> MakePolicy:
    """Return a factory for the policy that workers call: the named one, the pattern's own, or best effort."""
    policy, threshold = log.policy, log.threshold
    (own,) = compiled.detections.values()
    if policy is None and own is not None:
        policy, threshold = own.mode, own.threshold
    make_policy = partial(
        new_policy,
        policy or "best-effort",
        _sources(events, log.source) if log.sources is None else log.sources,
        stability=log.stability,
        threshold=threshold,
        whole_moments=len(compiled.compiled.plan.detectors) > 1,
    )
    make_policy()  # so that a mistake in it is reported at once
    return make_policy


def _replayed(query: Query, log: Replay, policy: MakePolicy) -> DataFrame:
    prepared = prepare(query)
    batch, schema = worker_job(query)
    arrived = schema.field("constituents").type.value_type.field("attributes").type.field(log.arrival).type
    schema = schema.append(pa.field(DETECTED_AT, arrived))
    keys = [f"key{number}" for number in range(len(query.columns.key))]
    job = ReplayJob(batch._replace(schema=schema.serialize().to_pybytes()), policy)
    places = parallelism(query.spark) if keys else 1
    arrivals = _arrivals(prepared, relevant(query.compiled), log, keys, places)
    return arrivals.mapInArrow(partial(replay_partition, job), from_arrow_schema(schema))


def _sources(events: DataFrame, source: str) -> list[str]:
    named = events.select(column_at(events.schema, source).cast("string").alias("source")).distinct()
    return sorted(row["source"] for row in named.where("source is not null").collect())


def _arrivals(
    prepared: DataFrame, wanted: Column, log: Replay, keys: Sequence[str], places: int
) -> DataFrame:
    """Return every arrival for every place (see `replay_worker`), with the event itself only at its key's place."""
    own, arrival = F.col("attributes"), log.arrival
    no_arrival = F.when(own.getField(arrival).isNull(), F.lit(f"no arrival in column {arrival!r}"))
    # A heartbeat needs a time, but no type and no key.
    matters = wanted | F.col("start").isNull() | F.col("end").isNull()
    problem = F.coalesce(F.when(matters, F.col("unreadable")), no_arrival)
    home = F.pmod(F.hash(*keys), F.lit(places)) if keys else F.lit(0)
    arrivals = prepared.select(
        F.explode(F.sequence(F.lit(0), F.lit(places - 1))).alias("place"),
        own.getField(arrival).alias("arrival"),
        own.getField(log.source).cast("string").alias("source"),
        "start",
        "end",
        "id",
        F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(wanted).alias("wanted"),
        home.alias("home"),
        F.struct(*(F.col(f"`{name}`") for name in prepared.columns if name != "unreadable")).alias("event"),
    )
    event = F.when(F.col("wanted") & (F.col("place") == F.col("home")), F.col("event"))
    return arrivals.withColumn("event", event).drop("home").repartition(places, "place")
