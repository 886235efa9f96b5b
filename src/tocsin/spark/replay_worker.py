"""Worker entry point of a replay: a detection policy in front of the kernels. Imports neither the compiler nor pyspark.

The columns of an arrival: `place` (the worker it is for), `arrival`, `source`, `start`, `end`, `id`, `wanted` (whether
it is relevant), and `event`, the columns of `runtime.batch.partition`, which is null except for relevant events of the
place's keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.events.stability import Policy
from tocsin.runtime.batch.partition import Job, batch_of
from tocsin.runtime.feed import feed
from tocsin.runtime.program import from_bytes
from tocsin.runtime.results.match_rows import to_arrow
from tocsin.runtime.state import initial

DETECTED_AT = "detected_at"  # the last column of the matches
_ORDER = [(name, "ascending") for name in ("arrival", "end", "start", "id")]


MakePolicy = Callable[[], Policy[int]]


class ReplayJob(NamedTuple):
    """The job for a table, with one output, and a factory for the policy."""

    batch: Job
    policy: MakePolicy


def replay_partition(job: ReplayJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: yield the matches of a partition's places, each with the arrival after which it was found."""
    collected = [batch for batch in batches if batch.num_rows]
    if not collected:
        return
    table = pa.Table.from_batches(collected)
    for place in pc.unique(table.column("place")):
        own = table.filter(pc.equal(table.column("place"), place))
        yield from _replay(job, own.sort_by(_ORDER).combine_chunks())


def _replay(job: ReplayJob, table: pa.Table) -> Iterator[pa.RecordBatch]:
    plan = from_bytes(job.batch.plan)
    schema = pa.ipc.read_schema(pa.py_buffer(job.batch.schema))
    arrivals = table.column("arrival").cast(schema.field(DETECTED_AT).type)
    payload = table.column("event").combine_chunks()
    events, here = pa.Table.from_struct_array(payload), payload.is_valid().to_pylist()
    times_out = any(detector.timer_names for detector in plan.detectors)
    policy, state = job.policy(), initial(plan, in_order=False)
    for row, (source, start, end, id, wanted, now) in enumerate(_log(table)):
        used = policy.arrive(source, row if wanted else None, end, (end, start, id), now)
        policy.late.clear()  # late events are left out of a replay
        own = [event for event in used if here[event]]
        if not own and not (times_out and state.partial_matches):
            continue
        batch = batch_of(plan, events, np.array(own, np.int64), job.batch.keys)
        result = feed(plan, state, batch, policy.watermark, limit=job.batch.limit)
        assert result.state is not None
        state = result.state
        found = to_arrow(plan, result, 0, schema.remove(len(schema) - 1))
        if found.num_rows:
            when = pa.repeat(arrivals[row], found.num_rows)
            yield from found.append_column(schema.field(DETECTED_AT), when).to_batches()


def _log(table: pa.Table) -> Iterator[tuple[str | None, int, int, int | str, bool, int | None]]:
    """Return the source, start, end, id and relevance of each arrival, and its wall-clock time if there is one."""
    columns = [table.column(name).to_pylist() for name in ("source", "start", "end", "id", "wanted")]
    arrival = table.column("arrival")
    clock = [None] * len(arrival)
    if pa.types.is_timestamp(arrival.type):
        clock = arrival.cast(pa.timestamp("us", arrival.type.tz)).cast(pa.int64()).to_pylist()
    return zip(*columns, clock, strict=True)
