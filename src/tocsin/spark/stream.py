"""Detection in a stream: each shard of keys remembers what it needs in Spark's state store, and answers as time passes.

The rows that come out are `kind string, packed binary`: matches, late events, and figures of each shard, as Arrow bytes.
Workers load this module for `ShardProcessor`; so it imports nothing that compiles patterns.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, MutableMapping
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

from tocsin.errors import InputError
from tocsin.events.pace import Pace, PaceSettings, Told
from tocsin.runtime.arrivals import AHEAD, ARRIVALS, CHANGES, EVENTS, ArrivalJob, pack_arrivals
from tocsin.runtime.buckets import Head, step
from tocsin.runtime.carry_over import Outline, carried_over, in_common, outline
from tocsin.runtime.pack import from_ipc, to_ipc
from tocsin.runtime.program import Array
from tocsin.runtime.shard import LONG_AGO, Line, ShardJob, late_rows, set_aside
from tocsin.runtime.tally import FIGURES, LATE, MATCH, REPEATED, RULES

if TYPE_CHECKING:
    from tocsin.spark.lines import StreamPlan

TOLD = "kind string, packed binary"
OBSERVED = "tocsin-"  # how the names of what Spark is to observe begin
RULE_CHANGE = "rule_change"  # the column that tells what became of a change, if that is kept
VERSION = 2  # of what a shard remembers
_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Otherwise Spark measures what it has for Python after every row, which takes longer than all else it does with a row.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
}
_FIGURES = pa.schema(
    [
        pa.field("shard", pa.int32()),
        *(
            pa.field(name, pa.int64())
            for name in (
                "keys",
                "partial_matches",
                "waiting",
                "bytes",
                "arrived",  # events that some pattern looks at
                "ahead",  # those of them too far ahead of the clock
                "late",  # those and the late
                "heard",  # events of the whole micro-batch, in whatever shard
            )
        ),
        pa.field("until", pa.timestamp("us", tz="UTC")),
        pa.field("oldest", pa.timestamp("us", tz="UTC")),
        pa.field("left_out", pa.list_(pa.string())),
        pa.field("reached", pa.map_(pa.string(), pa.timestamp("us", tz="UTC"))),
        pa.field("matches", pa.map_(pa.string(), pa.int64())),
    ]
)


def run_stream(used: DataFrame, plan: StreamPlan) -> DataFrame:
    """Prepared rows of a stream, all of them, become rows `kind, packed`; `job.run` is the same for a table."""
    spark = used.sparkSession
    use_rocksdb(spark)
    used = telling_time(used, plan.domain)
    if plan.idle:
        used = with_heartbeats(used)
    job = ArrivalJob(plan.job.shards, plan.job.keys, plan.domain, plan.by_source)
    return (
        used.mapInArrow(partial(pack_arrivals, job), from_arrow_schema(ARRIVALS))
        .groupBy("shard")
        .transformWithStateInPandas(ShardProcessor(plan.job, plan.paces), TOLD, "append", "none")
    )


def telling_time(used: DataFrame, domain: Array) -> DataFrame:
    """The rows; one that no pattern looks at has nothing left but what tells the time, and costs Spark little to hand over."""
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in domain.tolist()]
    asked = [F.col(f"bits{word}").bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in enumerate(signed)]
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
    figures = F.collect_list(F.when(F.col("kind") == FIGURES, F.col("packed"))).alias("figures")
    seen = told.observe(f"{OBSERVED}{uuid4().hex}", figures)
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


class Counted(NamedTuple):
    """How much came to a shard in a micro-batch, and what came of it."""

    arrived: int = 0
    ahead: int = 0
    late: int = 0
    heard: int = 0
    matches: dict[str, int] = {}  # noqa: RUF012  (never changed)


class ShardProcessor(StatefulProcessor):
    """Keeps the memory of a shard in Spark's state store: a small head, and buckets of keys."""

    def __init__(self, job: ShardJob, paces: tuple[PaceSettings, ...]) -> None:
        self._job = job
        self._paces = paces
        self._purpose = purpose_of(job, paces)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState("head", "packed binary")
        self._outlines = handle.getValueState("outlines", "packed binary")
        self._buckets = Buckets(handle.getMapState("buckets", "line int, bucket int", "packed binary"))

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        came = received(rows)
        heads, paces = self._recalled()
        out = taken_in(self._job, int(key[0]), heads, paces, self._buckets, came)
        self._head.update((pickle.dumps((VERSION, self._purpose, heads, paces), protocol=5),))
        yield as_frame(out)

    def _recalled(self) -> tuple[list[Head], list[Pace]]:
        """What is known of the buckets and of time, made to fit if the patterns are not those of before."""
        data = self._head.get()
        if data is None:
            self._outlines.update((outlines_of(self._job.lines),))
            return [Head(LONG_AGO) for _ in self._paces], [Pace(settings) for settings in self._paces]
        purpose, heads, paces = remembered(bytes(data[0]), self._purpose[0])
        return (heads, paces) if purpose == self._purpose else self._carried_over(heads, paces)

    def _carried_over(self, heads: list[Head], paces: list[Pace]) -> tuple[list[Head], list[Pace]]:
        """The same for other patterns: what is still asked for goes on, the rest starts afresh."""
        data = self._outlines.get()
        assert data is not None
        outlines: list[Outline] = pickle.loads(bytes(data[0]))
        # All is taken out before anything is put back, because lines may change their places.
        memories = {key: self._buckets.pop(key) for key in known_buckets(heads)}
        new_heads, new_paces = [], []
        for number, (line, settings) in enumerate(zip(self._job.lines, self._paces, strict=True)):
            former = max(range(len(outlines)), key=lambda at: in_common(outlines[at], line))
            head = Head(heads[former].until)
            if in_common(outlines[former], line):
                entries = {}
                for bucket, entry in heads[former].entries.items():
                    memory = carried_over(outlines[former], line, memories[former, bucket])
                    if memory is not None:
                        self._buckets[number, bucket] = memory
                        # Something may be due earlier or later than before: it is looked at next.
                        entries[bucket] = entry._replace(wakeup=LONG_AGO, size=len(memory))
                head = Head(head.until, heads[former].bits, entries)
            new_heads.append(head)
            new_paces.append(Pace(settings).going_on_from(paces[former]))
        self._outlines.update((outlines_of(self._job.lines),))
        return new_heads, new_paces


def taken_in(
    job: ShardJob, shard: int, heads: list[Head], paces: list[Pace], buckets: Buckets, came: Received
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
        done = step(job, number, head, buckets, came.events, until)
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
    out.append((FIGURES, to_ipc(_figures(shard, heads, paces, counted))))
    return out


def as_frame(out: list[tuple[str, bytes]]) -> pd.DataFrame:
    """What a shard tells, as Spark takes it."""
    return pd.DataFrame({"kind": [kind for kind, _ in out], "packed": [packed for _, packed in out]})


def outlines_of(lines: Iterable[Line]) -> bytes:
    """What is kept beside memories, to understand them when patterns change."""
    return pickle.dumps([outline(line) for line in lines], protocol=5)


def purpose_of(job: ShardJob, paces: tuple[PaceSettings, ...]) -> tuple[bytes, bytes]:
    """What a memory is for: with other columns or shards it means nothing, for other patterns it can be made to fit."""
    shape = hashlib.blake2b(job.schema, digest_size=16)
    shape.update(repr((job.shards, job.keys)).encode())
    patterns = hashlib.blake2b(repr((job.lines, paces)).encode(), digest_size=16)
    return shape.digest(), patterns.digest()


def known_buckets(heads: list[Head]) -> list[tuple[int, int]]:
    """Every memory there is, by line and bucket."""
    return [(number, bucket) for number, head in enumerate(heads) for bucket in head.entries]


class Buckets(MutableMapping[tuple[int, int], bytes]):
    """Spark's state as a mapping. Nobody asks which buckets there are: the heads know."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def __getitem__(self, key: tuple[int, int]) -> bytes:
        value = self._state.getValue(key)
        if value is None:
            raise KeyError(key)
        return bytes(value[0])

    def __setitem__(self, key: tuple[int, int], value: bytes) -> None:
        self._state.updateValue(key, (value,))

    def __delitem__(self, key: tuple[int, int]) -> None:
        self._state.removeKey(key)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for key in self._state.keys():  # noqa: SIM118  (no mapping itself)
            yield (key[0], key[1])

    def __len__(self) -> int:
        return sum(1 for _ in self)


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


def remembered_figures(shard: int, head: bytes) -> pa.Table:
    """The figures of a shard from the head that a checkpoint holds of it."""
    _, heads, paces = _readable(head)
    return _figures(shard, heads, paces, Counted())


def remembered(data: bytes, shape: bytes) -> tuple[tuple[bytes, bytes], list[Head], list[Pace]]:
    """What a head says, if it is of the same columns and shards."""
    purpose, heads, paces = _readable(data)
    if purpose[0] != shape:
        raise InputError(
            "other-checkpoint",
            "this checkpoint is of other columns or another number of shards, with rules that change or without",
            hint="go back to what it was made with, or start from a fresh checkpoint",
        )
    return purpose, heads, paces


def _readable(data: bytes) -> tuple[tuple[bytes, bytes], list[Head], list[Pace]]:
    """What a head says: its purpose, and of each line buckets and time."""
    version, *others = pickle.loads(data)
    if version != VERSION:
        raise InputError(
            "checkpoint-version",
            f"this checkpoint has version {version}, and this tocsin reads version {VERSION}",
            hint="start from a fresh checkpoint, or use the tocsin that wrote it",
        )
    purpose, heads, paces = others
    return purpose, heads, paces


def _figures(shard: int, heads: list[Head], paces: list[Pace], counted: Counted) -> pa.Table:
    entries = [entry for head in heads for entry in head.entries.values()]
    until = min(head.until for head in heads)
    row = {
        "shard": shard,
        "keys": sum(entry.keys for entry in entries),
        "partial_matches": sum(entry.partial_matches for entry in entries),
        "waiting": sum(entry.waiting for entry in entries),
        "bytes": sum(entry.size for entry in entries),
        **counted._asdict(),
        "matches": list(counted.matches.items()),
        "until": until if until > LONG_AGO else None,
        "oldest": min((entry.oldest for entry in entries if entry.oldest is not None), default=None),
        "left_out": sorted({name for pace in paces for name in pace.left_out}),
        # How far each source that is waited for has come; all paces heard the same.
        "reached": [
            (name, moment if moment > LONG_AGO else None)
            for name, moment in sorted({n: m for pace in paces for n, m in pace.reached.items()}.items())
        ],
    }
    return pa.Table.from_pylist([row], _FIGURES)
