"""What a stream is to do, for its workers: which subscriptions are decided together, when, and with what they remember."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tocsin.algebra.subscription import Detection, Mode
from tocsin.automata.compile import Compiled
from tocsin.errors import InputError, did_you_mean
from tocsin.events import format_duration, parse_duration
from tocsin.events.pace import PaceSettings
from tocsin.runtime import program as rt
from tocsin.runtime.program import Array
from tocsin.runtime.shard import Line, ShardJob
from tocsin.spark.columns import EventColumns
from tocsin.spark.job import job_of, taken_fields
from tocsin.spark.predicates import attribute_column

Paces = Mapping[PaceSettings, Sequence[int]]  # the outputs that are decided together, by how


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a user may say of a stream; see `tocsin.detect`. Durations are microseconds."""

    delay: int
    detection: Detection | None = None
    sources: tuple[str, ...] = ()
    silent_after: int | None = None
    idle: int | None = None
    shards: int | None = None
    late: str = "fail"
    repeated: str = "keep"
    ahead: int | None = None  # how far ahead of the clock on the wall events may lie; None for any

    @classmethod
    def of(
        cls,
        delay: str,
        detection: str | None,
        sources: Sequence[str],
        silent_after: str | None,
        idle: str | None,
        shards: int | None,
        late: str,
        ahead: str,
    ) -> StreamOptions:
        """The options as a person writes them."""
        if late not in ("fail", "drop", "keep"):
            raise InputError("bad-option", f"late cannot be {late!r}", hint="fail, drop or keep")
        if shards is not None and shards < 1:
            raise InputError("bad-option", f"shards cannot be {shards}", hint="1 or more")
        return cls(
            _microseconds("delay", delay),
            None if detection is None else _policy(detection),
            tuple(sources),
            None if silent_after is None else _microseconds("silent_after", silent_after),
            None if idle is None else _microseconds("idle", idle),
            shards,
            late,
            ahead=None if ahead == "any" else _microseconds("ahead", ahead),
        )

    @property
    def allowed_ahead(self) -> str:
        """How far ahead of the clock events may lie, in words."""
        return "any" if self.ahead is None else format_duration(self.ahead)

    def pace(self, own: Detection | None) -> PaceSettings:
        """When events are used, by what a subscription says itself, or by these options."""
        asked = own or self.detection
        if asked is None:
            return PaceSettings(delay=self.delay, idle_after=self.idle)
        waits = asked.mode != "best-effort"
        return PaceSettings(
            asked.mode,
            self.delay,
            self.sources if waits else (),
            asked.threshold,
            self.silent_after if waits else None,
            self.idle,
        )


def paces_of(
    compiled: Compiled, options: StreamOptions, detections: Mapping[str, Detection | None]
) -> dict[PaceSettings, list[int]]:
    """The subscriptions of a job, by when their events are used. `detections` are what subscriptions themselves name."""
    outputs: dict[PaceSettings, list[int]] = {}
    for number, output in enumerate(compiled.plan.outputs):
        outputs.setdefault(options.pace(detections.get(output.name)), []).append(number)
    return outputs


def by_source(paces: Iterable[PaceSettings]) -> bool:
    """Whether it matters which source an event is from."""
    return any(pace.mode in ("guaranteed", "probabilistic") for pace in paces)


def source_column(columns: EventColumns) -> Column:
    """The source of an event, as it travels."""
    if columns.source is None:
        raise InputError(
            "no-source",
            "detection that waits for sources must know which one an event is from",
            hint="name the column: source='device'",
        )
    return attribute_column(columns.source).cast("string").alias("source")


def too_far_ahead(end: Column, allowed: int) -> Column:
    """Whether an event that ends then lies further ahead of the clock than is allowed.

    In a stream that is the clock when the micro-batch was planned, which Spark writes down: one that is run again decides the
    same.
    """
    midnight = F.unix_micros(F.current_date().cast("timestamp"))
    now = F.unix_micros(F.current_timestamp())
    # Spark writes numbers into the code that it makes. With the clock in it, code would be compiled anew in every micro-batch,
    # which takes long for a small one. The day changes rarely, and few events need a closer look, with a function that does
    # not become code.
    closer = F.zip_with(F.array(end), F.array(now + F.lit(allowed)), lambda one, other: one > other)
    return (end > midnight + F.lit(allowed)) & F.get(closer, F.lit(0))


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What the workers are told; `stream.run_stream` sends it to them."""

    job: ShardJob
    paces: tuple[PaceSettings, ...]  # of each line
    matches: pa.Schema
    domain: Array

    @property
    def schema(self) -> pa.Schema:
        """That of matches, and of late events if they are kept."""
        return self.matches.append(pa.field("late", pa.string())) if self.job.late == "keep" else self.matches

    @property
    def idle(self) -> bool:
        """Whether the clock on the wall is looked at."""
        return any(pace.idle_after is not None for pace in self.paces)

    @property
    def by_source(self) -> bool:
        """Whether it matters which source an event is from."""
        return by_source(self.paces)


def stream_plan(
    used: DataFrame,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
    options: StreamOptions,
    paces: Paces,
) -> StreamPlan:
    """What is to be done with prepared rows of a stream."""
    job, schema = job_of(used, events, columns, compiled, carried, limit)
    shards = options.shards
    if shards is None:
        shards = int(str(used.sparkSession.conf.get("spark.sql.shuffle.partitions")))
    lines = tuple(line_of(compiled, own, at_once=pace.mode == "best-effort") for pace, own in paces.items())
    shard_job = ShardJob(
        lines,
        job.schema,
        job.keys,
        shards if columns.key else 1,
        limit,
        options.late,
        options.repeated,
        options.allowed_ahead,
    )
    domain = np.bitwise_or.reduce([mask for one in compiled.plan.detectors for mask in one.program.domain])
    return StreamPlan(shard_job, tuple(paces), schema, domain)


def line_of(compiled: Compiled, outputs: Sequence[int], *, at_once: bool) -> Line:
    """What workers are told of the subscriptions that are decided together."""
    asked = dict(compiled.tests)
    questions = (repr(asked[bit]) if bit in asked else "" for bit in range(max(asked, default=-1) + 1))
    columns = [rt.travelling("value", name) for name in compiled.plan.columns]
    columns += [rt.travelling("field", name) for name in sorted(taken_fields(compiled))]
    plan = rt.subplan(compiled.plan, outputs)
    return Line(rt.to_bytes(plan), at_once, tuple(questions), tuple(columns))


def _policy(text: str) -> Detection:
    """A policy as in the core language: `guaranteed`, `best-effort`, `probabilistic(0.95)`."""
    name, bracket, rest = text.partition("(")
    threshold = None
    if bracket:
        try:
            threshold = float(rest.rstrip().removesuffix(")"))
        except ValueError:
            hint = "as in probabilistic(0.95)"
            raise InputError("bad-option", f"detection cannot be {text!r}", hint=hint) from None
    for mode in get_args(Mode):
        if mode == name.strip():
            return Detection(mode, threshold)
    hint = did_you_mean(name, get_args(Mode))
    raise InputError("unknown-policy", f"there is no detection policy {name!r}", hint=hint)


def _microseconds(option: str, text: str) -> int:
    found = parse_duration(text)
    if found is None:
        raise InputError(
            "bad-option", f"{option} cannot be {text!r}", hint="a duration, as in 10s, 5min or 1h"
        )
    return found
