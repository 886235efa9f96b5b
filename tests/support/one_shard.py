"""One shard of a stream in this process, without Spark, and the keyed rows it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from support.table_columns import ARROW
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.execute import holds
from tocsin.events import Event
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.results.match_rows import match_schema
from tocsin.runtime.stream.buckets import Head, step
from tocsin.runtime.stream.shard import ShardJob, late_rows
from tocsin.spark.events.prepare import taken_fields
from tocsin.spark.stream.stream_plan import pace_group

SCHEMA = match_schema([pa.field("key", pa.string())], None)
KEEPING = SCHEMA.append(pa.field("late", pa.string()))


class Shard:
    """A shard in this process: its buckets are a dictionary, and all that is remembered is bytes."""

    def __init__(self, compiled: Compiled, late: str = "fail", at_once: bool = False) -> None:
        group = pace_group(compiled, range(len(compiled.plan.outputs)), at_once=at_once)
        self.job = ShardJob((group,), SCHEMA.serialize().to_pybytes(), 1, 1, MAX_TOKENS, late)
        self.head = Head(LONG_AGO)
        self.store: dict[tuple[int, int], bytes] = {}
        self.late: list[pa.Table] = []

    def advance(self, arrived: pa.Table | None, until: int) -> pa.Table:
        done = step(self.job, 0, self.head, self.store, arrived, until)
        self.head = done.head
        self.late += [] if done.late is None else [late_rows(done.late, KEEPING)]
        assert set(self.store) == {(0, bucket) for bucket in done.head.entries}
        return pa.concat_tables([SCHEMA.empty_table(), *done.matches])

    @property
    def wakeup(self) -> int | None:
        return min((e.wakeup for e in self.head.entries.values() if e.wakeup is not None), default=None)


def prepared(compiled: Compiled, events: Sequence[Event]) -> pa.Table:
    """Events as the rows that Spark prepares."""
    words = [0] * len(events)
    for bit, test in compiled.tests:
        words = [word | holds(test, event) << bit for word, event in zip(words, events, strict=True)]
    columns = {
        "start": pa.array([e.interval.start for e in events], pa.int64()),
        "end": pa.array([e.interval.end for e in events], pa.int64()),
        "key0": pa.array([e.key for e in events], pa.string()),
        "id": pa.array([e.id for e in events], pa.int64()),
        "type": pa.array([min(e.types) for e in events], pa.string()),
    }
    for number in range(compiled.plan.words):
        own = [word >> 64 * number & (1 << 64) - 1 for word in words]
        columns[f"bits{number}"] = pa.array(own, pa.uint64()).view(pa.int64())
    for prefix, names in (("value", compiled.plan.columns), ("field", sorted(taken_fields(compiled)))):
        for name in names:
            values = pa.array([e.attributes.get(name) for e in events], ARROW.get(name, pa.string()))
            columns[f"{prefix}:{name}"] = values
    return pa.table(columns)


def rows(found: pa.Table) -> list[str]:
    return sorted(map(repr, found.to_pylist()))
