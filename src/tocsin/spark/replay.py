"""Back-test a detection policy: what would have been detected, and when, had the events arrived as a log says.

The policy has to see every arrival, in order, whatever its key. So each of a few workers is told of all arrivals but gets
only the events of its own keys; it runs the policy over all, and the kernels over its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.algebra.check import wanting
from tocsin.algebra.subscription import Reading, Subscription
from tocsin.automata.compile import compile
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.events.stability import policy as new_policy
from tocsin.languages.registry import parse, selection_of
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.spark.columns import attribute_kinds, event_columns
from tocsin.spark.job import job_of, prepare, relevant
from tocsin.spark.predicates import attribute_column
from tocsin.spark.replay_worker import DETECTED_AT, ReplayJob, replay_partition
from tocsin.spark.session import parallelism


def replay(
    events: DataFrame,
    pattern: str | Subscription,
    *,
    arrival: str,
    source: str,
    policy: str | None = None,
    threshold: float | None = None,
    stability: str = "all-sources",
    sources: Sequence[str] | None = None,
    language: str = "core",
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    event_type: str | None = None,
    key: str | Sequence[str] | None = None,
    id: str | None = None,
    time_unit: str | None = None,
    options: Mapping[str, object] | None = None,
    matches: str | None = None,
    take: str | None = None,
    catalog: Catalog | None = None,
    max_partial_matches: int = MAX_TOKENS,
) -> DataFrame:
    """The composite events that a detection policy would have led to, with the arrival after which each was found.

    A row that the pattern does not look at is a heartbeat: it says how far its source has come. Events that come too late for
    the policy are left out, and what still waits after the last arrival is not used.

    Args:
        arrival: the column that says when an event arrived: a time, or any number that grows.
        source: the column with the source of an event; each delivers its own events in the total order.
        policy: `best-effort`, `guaranteed` or `probabilistic` (with a `threshold`); by default what the pattern says, and
            best effort if it says nothing.
        stability: whether `all-sources` have to get past an event, or the `same-source` only.
        sources: all that are waited for; by default those of the table.

    Returns:
        What `tocsin.detect` returns, whose other arguments are the same, with one more column, `detected_at`.
    """
    columns = event_columns(
        events,
        time=time,
        type=type,
        event_type=event_type,
        key=key,
        id=id,
        source=source,
        time_unit=time_unit,
    )
    if arrival not in events.columns:
        hint = did_you_mean(arrival, events.columns)
        raise InputError("unknown-column", f"the table has no column {arrival!r}", hint=hint)
    catalog = catalog or Catalog(common=attribute_kinds(events))
    selection = selection_of(language, matches, take)
    if isinstance(pattern, str):
        reading = Reading.of(options or {})
        pattern = parse(pattern, language, catalog=catalog, reading=reading, selection=selection)
    else:
        pattern = wanting(pattern, selection)
    compiled = compile([pattern])
    if policy is None and pattern.detection is not None:
        policy, threshold = pattern.detection.mode, pattern.detection.threshold
    if sources is None:
        sources = _sources(events, source)
    make_policy = partial(
        new_policy,
        policy or "best-effort",
        sources,
        stability=stability,
        threshold=threshold,
        whole_moments=len(compiled.plan.detectors) > 1,
    )
    make_policy()  # so that a mistake in it is told at once

    others = [name for name in events.columns if name not in columns.named]
    carried = tuple(dict.fromkeys([*others, arrival, source]))
    prepared = prepare(events, columns, compiled, catalog, carried)
    batch, schema = job_of(prepared, events, columns, compiled, carried, max_partial_matches)
    arrived = schema.field("constituents").type.value_type.field("attributes").type.field(arrival).type
    schema = schema.append(pa.field(DETECTED_AT, arrived))
    keys = [f"key{number}" for number in range(len(columns.key))]
    job = ReplayJob(batch._replace(schema=schema.serialize().to_pybytes()), make_policy)
    places = parallelism(events.sparkSession) if keys else 1
    told = _told(prepared, relevant(compiled), arrival, source, keys, places)
    return told.mapInArrow(partial(replay_partition, job), from_arrow_schema(schema))


def _sources(events: DataFrame, source: str) -> list[str]:
    named = events.select(attribute_column(source).cast("string").alias("source")).distinct()
    return sorted(row["source"] for row in named.where("source is not null").collect())


def _told(
    prepared: DataFrame, wanted: Column, arrival: str, source: str, keys: Sequence[str], places: int
) -> DataFrame:
    """Every arrival for every place (see `replay_worker`), with the event itself where its key is at home."""
    own = F.col("attributes")
    no_arrival = F.when(own.getField(arrival).isNull(), F.lit(f"no arrival in column {arrival!r}"))
    # A heartbeat needs a time, but no type and no key.
    matters = wanted | F.col("start").isNull() | F.col("end").isNull()
    problem = F.coalesce(F.when(matters, F.col("unreadable")), no_arrival)
    home = F.pmod(F.hash(*keys), F.lit(places)) if keys else F.lit(0)
    arrivals = prepared.select(
        F.explode(F.sequence(F.lit(0), F.lit(places - 1))).alias("place"),
        own.getField(arrival).alias("arrival"),
        own.getField(source).cast("string").alias("source"),
        "start",
        "end",
        "id",
        F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(wanted).alias("wanted"),
        home.alias("home"),
        F.struct(*(F.col(f"`{name}`") for name in prepared.columns if name != "unreadable")).alias("event"),
    )
    event = F.when(F.col("wanted") & (F.col("place") == F.col("home")), F.col("event"))
    return arrivals.withColumn("event", event).drop("home").repartition(places, "place")
