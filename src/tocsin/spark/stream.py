"""Detection in a stream: each shard of keys remembers what it needs in Spark's state store, and answers as time passes.

The rows that come out are `kind string, packed binary`: matches, late events, and figures of each shard, as Arrow bytes.
Workers load this module for `ShardProcessor`; so it imports nothing that compiles patterns.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.events.pace import Pace, PaceSettings, Told
from tocsin.runtime.arrivals import AHEAD, ARRIVALS, CHANGES, EVENTS, ArrivalJob, pack_arrivals
from tocsin.runtime.buckets import Head, step
from tocsin.runtime.carry_over import Outline, carried_over, in_common
from tocsin.runtime.pack import from_ipc, to_ipc
from tocsin.runtime.program import Array
from tocsin.runtime.shard import LONG_AGO, ShardJob, late_rows, set_aside
from tocsin.runtime.tally import FIGURES, LATE, MATCH, REPEATED, RULES
from tocsin.spark.memory import (
    HEAD,
    OUTLINES,
    Counted,
    Home,
    Memory,
    begin,
    figures,
    head_bytes,
    home_at,
    known_buckets,
    outlines_of,
    purpose_of,
    remembered,
)
from tocsin.spark.places import shard_places

if TYPE_CHECKING:
    from tocsin.spark.lines import StreamPlan

TOLD = "kind string, packed binary"
OBSERVED = "tocsin-"  # how the names of what Spark is to observe begin
RULE_CHANGE = "rule_change"  # the column that tells what became of a change, if that is kept
_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Otherwise Spark measures what it has for Python after every row, which takes longer than all else it does with a row.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
}


def run_stream(used: DataFrame, plan: StreamPlan) -> DataFrame:
    """Prepared rows of a stream, all of them, become rows `kind, packed`; `job.run` is the same for a table."""
    spark = used.sparkSession
    use_rocksdb(spark)
    used = telling_time(used, plan.domain)
    if plan.idle:
        used = with_heartbeats(used)
    job = ArrivalJob(plan.job.shards, plan.job.keys, plan.domain, plan.by_source)
    return in_shards(used, job, ShardProcessor(plan.job, plan.paces))


def in_shards(used: DataFrame, job: ArrivalJob, processor: StatefulProcessor) -> DataFrame:
    """What a processor makes of prepared rows, each shard in a partition of its own if there are as many."""
    arrivals = used.mapInArrow(partial(pack_arrivals, job), from_arrow_schema(ARRIVALS))
    place = F.element_at(F.lit(shard_places(job.shards)), F.col("shard") + 1)
    return (
        arrivals.select(place.alias("place"), "kind", "packed")
        .groupBy("place")
        .transformWithStateInPandas(processor, TOLD, "append", "none")
    )


def telling_time(used: DataFrame, domain: Array) -> DataFrame:
    """The rows; one that no pattern looks at has nothing left but what tells the time, and costs Spark little to hand over."""
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in domain.tolist()]
    asked = [
        F.col(f"bits{word}").bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in enumerate(signed)
    ]
    ahead = F.col("ahead") if "ahead" in used.columns else F.lit(False)
    wanted = reduce(lambda one, other: one | other, asked, ahead)
    needed = {"end", "source", *(f"bits{word}" for word in range(len(signed)))}
    return used.select(
        *(F.col(name) if name in needed else F.when(wanted, F.col(name)).alias(name) for name in used.columns)
    )


def found_in(told: DataFrame, plan: StreamPlan) -> DataFrame:
    """Matches, and late events if they are kept."""
    return opened(told, plan.schema)


def opened(told: DataFrame, schema: pa.Schema) -> DataFrame:
    """Of what shards tell, the rows that this schema has columns for. Listeners of Spark get the figures (see `watch`)."""
    told_figures = F.collect_list(F.when(F.col("kind") == FIGURES, F.col("packed"))).alias("figures")
    seen = told.observe(f"{OBSERVED}{uuid4().hex}", told_figures)
    return seen.mapInArrow(partial(_opened, schema.serialize().to_pybytes()), from_arrow_schema(schema))


def _opened(schema: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    whole = pa.ipc.read_schema(pa.py_buffer(schema))
    for batch in batches:
        for kind, packed in zip(batch.column("kind").to_pylist(), batch.column("packed"), strict=True):
            if kind == MATCH:
                yield from _widened(from_ipc(packed.as_buffer()), whole).to_batches()
            elif kind == LATE and "late" in whole.names:
                yield from late_rows(from_ipc(packed.as_buffer()), whole).to_batches()
            elif kind == RULES and RULE_CHANGE in whole.names:
                yield from _widened(from_ipc(packed.as_buffer()), whole).to_batches()


def _widened(rows: pa.Table, whole: pa.Schema) -> pa.Table:
    """Rows with the columns that are missing, empty."""
    if rows.schema == whole:
        return rows
    there = set(rows.column_names)
    columns = [
        rows.column(field.name) if field.name in there else pa.nulls(rows.num_rows, field.type)
        for field in whole
    ]
    return pa.table(columns, schema=whole)


def use_rocksdb(spark: SparkSession) -> None:
    """The settings that state in Python needs, or that suit it; what the user has set stays."""
    for name, value in _SETTINGS.items():
        if spark.conf.get(name, None) is None:
            spark.conf.set(name, value)


def with_heartbeats(used: DataFrame) -> DataFrame:
    """The rows, and each second one that tells what the clock on the wall says."""
    clock = F.unix_micros("timestamp")
    beats = used.sparkSession.readStream.format("rate").option("rowsPerSecond", 1).load()
    empty = [
        (clock if field.name in ("start", "end") else F.lit(None)).cast(field.dataType).alias(field.name)
        for field in used.schema.fields
    ]
    return used.withColumn("clock", F.lit(None).cast("long")).unionAll(
        beats.select(*empty, clock.alias("clock"))
    )


class ShardProcessor(StatefulProcessor):
    """Keeps the memory of a shard in Spark's state store: a small head, and buckets of keys."""

    def __init__(self, job: ShardJob, paces: tuple[PaceSettings, ...]) -> None:
        self._job = job
        self._paces = paces
        self._purpose = purpose_of(job, paces)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.remember_in(Memory(handle))

    def remember_in(self, memory: Memory) -> None:
        """Keep everything there."""
        self._memory = memory

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        yield self.take_in(home_at(self._job, key), rows)

    def take_in(self, home: Home, rows: Iterator[Any]) -> pd.DataFrame:
        """What a shard tells of the rows of a micro-batch."""
        came = received(rows)
        heads, paces = self._recalled()
        out = taken_in(self._job, home.shard, heads, paces, self._memory, came)
        self._memory[HEAD] = head_bytes(home, self._purpose, heads, paces)
        return as_frame(out)

    def _recalled(self) -> tuple[list[Head], list[Pace]]:
        """What is known of the buckets and of time, made to fit if the patterns are not those of before."""
        data = self._memory.get(HEAD)
        if data is None:
            begin(self._memory, self._job.lines)
            return [Head(LONG_AGO) for _ in self._paces], [Pace(settings) for settings in self._paces]
        purpose, heads, paces = remembered(data, self._purpose[0])
        return (heads, paces) if purpose == self._purpose else self._carried_over(heads, paces)

    def _carried_over(self, heads: list[Head], paces: list[Pace]) -> tuple[list[Head], list[Pace]]:
        """The same for other patterns: what is still asked for goes on, the rest starts afresh."""
        outlines: list[Outline] = pickle.loads(self._memory[OUTLINES])
        # All is taken out before anything is put back, because lines may change their places.
        memories = {key: self._memory.pop(key) for key in known_buckets(heads)}
        new_heads, new_paces = [], []
        for number, (line, settings) in enumerate(zip(self._job.lines, self._paces, strict=True)):
            former = max(range(len(outlines)), key=lambda at: in_common(outlines[at], line))
            head = Head(heads[former].until)
            if in_common(outlines[former], line):
                entries = {}
                for bucket, entry in heads[former].entries.items():
                    memory = carried_over(outlines[former], line, memories[former, bucket])
                    if memory is not None:
                        self._memory[number, bucket] = memory
                        # Something may be due earlier or later than before: it is looked at next.
                        entries[bucket] = entry._replace(wakeup=LONG_AGO, size=len(memory))
                head = Head(head.until, heads[former].bits, entries)
            new_heads.append(head)
            new_paces.append(Pace(settings).going_on_from(paces[former]))
        self._memory[OUTLINES] = outlines_of(self._job.lines)
        return new_heads, new_paces


def taken_in(
    job: ShardJob, shard: int, heads: list[Head], paces: list[Pace], memory: Memory, came: Received
) -> list[tuple[str, bytes]]:
    """Let a shard take in a micro-batch; what it tells, as kinds and packed tables. `heads` and `paces` go on."""
    out: list[tuple[str, bytes]] = []
    matches: dict[str, int] = {}
    early = 0 if came.ahead is None else came.ahead.num_rows
    late = early
    if came.ahead is not None:
        out.append((LATE, to_ipc(set_aside(job, came.ahead))))
    for number, (head, pace) in enumerate(zip(heads, paces, strict=True)):
        until = pace.hear(came.told, came.clock)
        done = step(job, number, head, memory, came.events, until)
        heads[number] = done.head
        for found in done.matches:
            out.append((MATCH, to_ipc(found)))
            for one in pc.value_counts(found.column("pattern")).to_pylist():
                matches[one["values"]] = matches.get(one["values"], 0) + one["counts"]
        if done.late is not None:
            late += done.late.num_rows
            out.append((LATE, to_ipc(_of_line(number, done.late))))
        out += [(REPEATED, to_ipc(_of_line(number, again))) for again in done.repeated]
    in_time = 0 if came.events is None else came.events.num_rows
    counted = Counted(in_time + early, early, late, sum(one.events for one in came.told), matches)
    out.append((FIGURES, to_ipc(figures(shard, heads, paces, counted))))
    return out


def as_frame(out: list[tuple[str, bytes]]) -> pd.DataFrame:
    """What a shard tells, as Spark takes it."""
    return pd.DataFrame({"kind": [kind for kind, _ in out], "packed": [packed for _, packed in out]})


class Received(NamedTuple):
    """What comes to a shard in a micro-batch."""

    events: pa.Table | None
    ahead: pa.Table | None  # events too far ahead of the clock
    told: list[Told]  # of its sources
    clock: int | None  # on the wall
    changes: list[str]  # of rules


def received(rows: Iterator[Any]) -> Received:
    """All that comes in the pieces of a micro-batch."""
    events: list[pa.Table] = []
    ahead: list[pa.Table] = []
    told: list[Told] = []
    clocks: list[int] = []
    changes: list[str] = []
    for frame in rows:
        for kind, packed in zip(frame["kind"], frame["packed"], strict=True):
            table = from_ipc(packed)
            if kind in (EVENTS, AHEAD):
                (ahead if kind == AHEAD else events).append(_plain(table))
                continue
            if kind == CHANGES:
                changes += table.column("change").to_pylist()
                continue
            for mark in table.to_pylist():
                if mark["clock"] is not None:
                    clocks.append(mark["clock"])
                else:
                    told.append(Told(mark["source"], mark["events"], mark["latest"], tuple(mark["some"])))
    return Received(_joined(events), _joined(ahead), told, max(clocks, default=None), changes)


def _joined(tables: list[pa.Table]) -> pa.Table | None:
    return pa.concat_tables(tables) if tables else None


def _plain(events: pa.Table) -> pa.Table:
    """The same without dictionaries, which one piece may have and another not."""
    for at, field in enumerate(events.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            events = events.set_column(at, plain, events.column(at).cast(plain.type))
    return events


def _of_line(number: int, events: pa.Table) -> pa.Table:
    """Events that were set aside by a line; another may do the same with the same event."""
    return events.append_column("line", pa.array([number] * events.num_rows, pa.int32()))
