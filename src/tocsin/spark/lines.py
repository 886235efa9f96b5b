"""What a stream is to do, for its workers: which subscriptions are decided together, when, and with what they remember."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from tocsin.algebra.subscription import Detection
from tocsin.automata.compile import Compiled
from tocsin.errors import InputError
from tocsin.events import parse_duration
from tocsin.events.pace import PaceSettings
from tocsin.runtime import program as rt
from tocsin.runtime.program import Array
from tocsin.runtime.shard import Line, ShardJob
from tocsin.spark.columns import EventColumns
from tocsin.spark.job import job_of, taken_fields


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a user may say of a stream; see `tocsin.detect`."""

    delay: str = "10s"
    detection: str | None = None
    sources: tuple[str, ...] = ()
    silent_after: str | None = None
    idle: str | None = None
    shards: int | None = None
    late: str = "fail"

    def pace(self, own: Detection | None) -> PaceSettings:
        """When events are used, by what a subscription says itself, or by these options."""
        mode, threshold = ("within-delay", None) if self.detection is None else _policy(self.detection)
        if own is not None:
            mode, threshold = own.mode, own.threshold
        return PaceSettings(
            mode,
            _microseconds("delay", self.delay),
            self.sources if mode in ("guaranteed", "probabilistic") else (),
            threshold,
            None if self.silent_after is None else _microseconds("silent_after", self.silent_after),
            None if self.idle is None else _microseconds("idle", self.idle),
        )


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What the workers are told; `stream.run_stream` sends it to them."""

    job: ShardJob
    paces: tuple[PaceSettings, ...]  # of each line
    schema: pa.Schema  # of matches, and of late events if they are kept
    domain: Array

    @property
    def idle(self) -> bool:
        """Whether the clock on the wall is looked at."""
        return any(pace.idle_after is not None for pace in self.paces)

    @property
    def by_source(self) -> bool:
        """Whether it matters which source an event is from."""
        return any(pace.mode in ("guaranteed", "probabilistic") for pace in self.paces)


def stream_plan(
    used: DataFrame,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
    options: StreamOptions,
    detections: Mapping[str, Detection | None],
) -> StreamPlan:
    """What is to be done with prepared rows of a stream. `detections` are those that subscriptions themselves name."""
    if options.late not in ("fail", "drop", "keep"):
        raise InputError("bad-option", f"late cannot be {options.late!r}", hint="fail, drop or keep")
    job, schema = job_of(used, events, columns, compiled, carried, limit)
    spark = used.sparkSession
    shards = options.shards
    if shards is None:
        shards = int(str(spark.conf.get("spark.sql.shuffle.partitions"))) if columns.key else 1
    if shards < 1:
        raise InputError("bad-option", f"shards cannot be {shards}", hint="1 or more")
    outputs: dict[PaceSettings, list[int]] = {}
    for number, output in enumerate(compiled.plan.outputs):
        outputs.setdefault(options.pace(detections.get(output.name)), []).append(number)
    lines = tuple(line_of(compiled, own, at_once=pace.mode == "best-effort") for pace, own in outputs.items())
    whole = schema.append(pa.field("late", pa.string())) if options.late == "keep" else schema
    shard_job = ShardJob(lines, job.schema, job.keys, shards, limit, options.late)
    domain = np.bitwise_or.reduce([mask for one in compiled.plan.detectors for mask in one.program.domain])
    plan = StreamPlan(shard_job, tuple(outputs), whole, domain)
    if plan.by_source and columns.source is None:
        raise InputError(
            "no-source",
            "detection that waits for sources must know which one an event is from",
            hint="name the column: source='device'",
        )
    return plan


def line_of(compiled: Compiled, outputs: Sequence[int], *, at_once: bool) -> Line:
    """What workers are told of the subscriptions that are decided together."""
    asked = dict(compiled.tests)
    questions = (repr(asked[bit]) if bit in asked else "" for bit in range(max(asked, default=-1) + 1))
    columns = [rt.travelling("value", name) for name in compiled.plan.columns]
    columns += [rt.travelling("field", name) for name in sorted(taken_fields(compiled))]
    plan = rt.subplan(compiled.plan, outputs)
    return Line(rt.to_bytes(plan), at_once, tuple(questions), tuple(columns))


def _policy(text: str) -> tuple[str, float | None]:
    """A policy as in the core language: `guaranteed`, `best-effort`, `probabilistic(0.95)`."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return name, None
    try:
        return name.strip(), float(rest.rstrip().removesuffix(")"))
    except ValueError:
        hint = "as in probabilistic(0.95)"
        raise InputError("bad-option", f"detection cannot be {text!r}", hint=hint) from None


def _microseconds(option: str, text: str) -> int:
    found = parse_duration(text)
    if found is None:
        raise InputError(
            "bad-option", f"{option} cannot be {text!r}", hint="a duration, as in 10s, 5min or 1h"
        )
    return found
