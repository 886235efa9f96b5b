"""The reported matches of a micro-batch: of one subscription, or of many as one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.runtime.results.match_rows import keys_among
from tocsin.runtime.stream import tally
from tocsin.runtime.transport.pack import unpack
from tocsin.spark.pipeline.plan.jobs import Job
from tocsin.spark.pipeline.sources.composites import carrying
from tocsin.spark.pipeline.stream.output_rows import OutputRows
from tocsin.spark.pipeline.stream.quiet_state import Alert
from tocsin.spark.quoting import quoted


@dataclass(frozen=True)
class Found:
    """How the matches of a subscription are selected: the names of its patterns, their schema, the attributes they carry."""

    job: Job
    patterns: tuple[str, ...]
    schema: T.StructType
    carried: tuple[str, ...]


HeldId = tuple[str, str]
"""Subscription and match: equal patterns of two names find matches of the same id."""


class Held(NamedTuple):
    """Matches that are held back, and their number for each subscription."""

    ids: frozenset[HeldId]
    counts: dict[str, int]


def alerts_in(matches: DataFrame) -> list[Alert]:
    """Return the matches of a quiet subscription as alerts, with what decides whether they are reported."""
    key = F.to_json(F.struct(*map(quoted, keys_among(matches.columns))))
    columns = (F.unix_micros("end"), F.unix_micros("start"), F.col("match_id"), F.col("pattern"), key)
    return [Alert(*row) for row in matches.select(*columns).collect()]


def in_order(jobs: Iterable[Job]) -> set[str]:
    """Return the subscriptions whose matches are reported in the order of their ends; leftmost matches may have to wait."""
    plans = [job.compiled.plan for job in jobs]
    return {
        output.name
        for plan in plans
        for output in plan.outputs
        if all(plan.detectors[one].choice.matches != "leftmost" for one in output.detectors)
    }


def together(rows: OutputRows, found: Mapping[str, Found], held: frozenset[HeldId]) -> list[DataFrame]:
    """Return the matches of many subscriptions; those of one job with the same attributes are read together."""
    groups: dict[tuple[int, tuple[str, ...]], list[Found]] = {}
    for one in found.values():
        groups.setdefault((one.job.number, one.carried), []).append(one)
    parts = []
    for (_, carried), some in groups.items():
        patterns = [pattern for one in some for pattern in one.patterns]
        frame = without(rows.opened([tally.MATCH], unpack, some[0].schema, patterns), held)
        parts.append(carrying(frame, carried))
    return parts


def without(matches: DataFrame, held: frozenset[HeldId]) -> DataFrame:
    """Return the matches without those that are held back."""
    if not held:
        return matches
    patterns, ids = zip(*sorted(held), strict=True)
    known = matches.sparkSession.createDataFrame(pa.table({"pattern": list(patterns), "match_id": list(ids)}))
    return matches.join(F.broadcast(known), ["pattern", "match_id"], "left_anti").select(*matches.columns)
