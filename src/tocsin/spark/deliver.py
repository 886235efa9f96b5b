"""Deliver the events that correlations send, in event time, through one queue per subscription and key.

A receiver takes waiting events at *ticks*, the multiples of `every` since 1970-01-01 UTC. An event sent at a tick is
available at that tick. After the last event the ticks continue until the queue is empty. Events sent at the same moment
are ordered by row.

`algebra.correlation.delivery` defines the effect of an event's priority and expiry, and of the strategies `overwrite`
and `drop`; here Spark brings the events of a queue together in order, and a worker offers them one by one.

Paper: 001, section 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import inf
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.correlation import delivery
from tocsin.algebra.correlation.outcome import Output
from tocsin.algebra.correlation.types import DELIVERY_ATTRIBUTES
from tocsin.errors import InputError
from tocsin.events import parse_duration
from tocsin.runtime.results.match_rows import keys_among
from tocsin.spark.quoting import quoted

ADDED = T.StructType(
    [T.StructField("delivered_at", T.TimestampType()), T.StructField("lost", T.StringType())]
)
_MOMENT = pa.timestamp("us", tz="UTC")
_NEEDED = ("pattern", "start", "end", "what", "type", "value")
_SENT = "tocsin:sent"  # the column with the fields that a row's queue needs


class Receiver(NamedTuple):
    """How a receiver takes events: at most `most` of them every `every` microseconds, from a queue of this capacity."""

    every: int | None = None
    capacity: int | None = None
    most: int | None = None


class Fate(NamedTuple):
    """The fate of an output: when it was delivered, in microseconds, or why it was not."""

    delivered_at: int | None
    lost: delivery.Why | None


def deliver(
    matches: DataFrame, *, every: str | None = None, capacity: int | None = None, most: int | None = None
) -> DataFrame:
    """Report for each event that was sent when it was delivered, or why it was lost.

    Args:
        matches: the result of `tocsin.detect`; it may have further columns.
        every: how often a receiver takes waiting events, such as `100ms`; by default each event is delivered as it is
            sent.
        capacity: how many events can wait in a queue; by default there is no limit.
        most: how many events a receiver takes at a tick; by default all that wait.

    Returns:
        The rows of `matches` whose `what` is `push`, each once, with two more columns: `delivered_at`, null for an event
        that was lost, and `lost`, which is null or one of `overwritten`, `dropped` and `expired`. Rows that send nothing
        (`success`, `failure`, `trigger`, `skipped`, `dead`) are left out.
    """
    receiver = checked_receiver(every, capacity, most)
    _check(matches)
    sent = matches.where(F.col("what") == "push").withColumn(_SENT, F.monotonically_increasing_id())
    in_order = Window.partitionBy("pattern", *map(quoted, keys_among(matches.columns))).orderBy("end", _SENT)
    queued = sent.withColumn(
        _SENT,
        F.struct(
            # Spark compares the keys; a worker only needs to know where the next queue begins.
            (F.row_number().over(in_order) == 1).alias("is_first"),
            F.unix_micros("end").alias("time"),
            "type",
            "value",
            F.struct(*(_attribute(matches, name).alias(name) for name in DELIVERY_ATTRIBUTES)).alias(
                "attributes"
            ),
        ),
    )
    schema = T.StructType([*matches.schema, *ADDED])
    return queued.mapInArrow(partial(deliver_partition, receiver), schema)


def checked_receiver(every: str | None, capacity: int | None, most: int | None) -> Receiver:
    """Return the receiver described by the arguments of `deliver`; raise `InputError` if they are invalid."""
    for name, count in (("capacity", capacity), ("most", most)):
        if count is None:
            continue
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise InputError("bad-option", f"{name} cannot be {count!r}", hint="a whole number from 1 on")
        if every is None:
            raise InputError(
                "bad-option", f"{name} does not apply where no event waits", hint="say every='100ms' as well"
            )
    if every is None:
        return Receiver()
    interval = parse_duration(every) if isinstance(every, str) else None
    if not interval:
        hint = "a duration above zero, such as 100ms, 1s or 5min"
        raise InputError("bad-duration", f"every cannot be {every!r}", hint=hint)
    return Receiver(interval, capacity, most)


def _check(matches: DataFrame) -> None:
    if matches.isStreaming:
        hint = "write the matches to a table first"
        raise InputError(
            "streaming", "the events that are sent have to be in a table, not in a stream", hint=hint
        )
    for name in _NEEDED:
        if name not in matches.columns:
            hint = "take what tocsin.detect finds in a language that sends events"
            raise InputError("unknown-column", f"the matches have no column {name!r}", hint=hint)
    for name in ADDED.names:
        if name in matches.columns:
            hint = "were they delivered before? rename or drop it"
            raise InputError("duplicate-name", f"the matches have a column {name!r} already", hint=hint)


def _attribute(matches: DataFrame, name: str) -> Column:
    """Return a delivery attribute from whichever table an event is in.

    An attribute of the same name but another type is ordinary payload, and is not used.
    """
    tables = matches.schema["output"].dataType if "output" in matches.columns else T.StructType()
    assert isinstance(tables, T.StructType)
    wanted, kind = (
        (T.StringType, "string") if DELIVERY_ATTRIBUTES[name] == "string" else (T.NumericType, "double")
    )
    found = [
        F.col("output").getField(table.name).getField(name).cast(kind)
        for table in tables
        if isinstance(table.dataType, T.StructType)
        and name in table.dataType.names
        and isinstance(table.dataType[name].dataType, wanted)
    ]
    return F.coalesce(*found, F.lit(None).cast(kind))


def deliver_partition(receiver: Receiver, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: add the fates to the rows of whole queues, holding back only rows that still wait."""
    line, waiting, count = ReceiverQueue(receiver), None, 0
    for batch in batches:
        numbers = range(count, count + batch.num_rows)
        count = numbers.stop
        for number, sent in zip(numbers, batch.column(_SENT).to_pylist(), strict=True):
            if sent["is_first"]:
                line.close()
            line.send(Output(number, sent["type"], sent["attributes"], sent["value"], sent["time"]))
        place = batch.schema.get_field_index(_SENT)
        rows = pa.Table.from_batches([batch]).set_column(place, _SENT, pa.array(numbers, pa.int64()))
        decided, waiting = _split(rows if waiting is None else pa.concat_tables([waiting, rows]), line.fates)
        yield from decided.to_batches()
    if waiting is not None:
        line.close()
        decided, _ = _split(waiting, line.fates)
        yield from decided.to_batches()


def _split(rows: pa.Table, fates: dict[int, Fate]) -> tuple[pa.Table, pa.Table]:
    """Split rows into those whose fate is known, which is removed from `fates`, and those that still wait."""
    numbers = rows.column(_SENT).to_pylist()
    known = pa.array([number in fates for number in numbers], pa.bool_())
    own = [fates.pop(number) for number in numbers if number in fates]
    moments = pa.array([fate.delivered_at for fate in own], pa.int64()).cast(_MOMENT)
    done = rows.filter(known).drop_columns(_SENT).append_column("delivered_at", moments)
    done = done.append_column("lost", pa.array([fate.lost for fate in own], pa.string()))
    # Filtering keeps the number of chunks: without this it would only grow.
    return done, rows.filter(pc.invert(known)).combine_chunks()


class ReceiverQueue:
    """A queue with its receiver, and the fates of outputs by number; outputs must be sent in the order of time.

    >>> line = ReceiverQueue(Receiver(every=10, most=1))
    >>> for at, time in ((1, 7), (2, 10), (3, 11)):
    ...     line.send(Output(at, "T", time=time))
    >>> line.fates
    {1: Fate(delivered_at=10, lost=None)}
    >>> line.close()
    >>> line.fates[2], line.fates[3]
    (Fate(delivered_at=20, lost=None), Fate(delivered_at=30, lost=None))
    """

    def __init__(self, receiver: Receiver) -> None:
        self.fates: dict[int, Fate] = {}
        self._receiver = receiver
        self._queue = delivery.Queue(receiver.capacity)
        self._tick = 0  # the time of the next tick, if something waits

    def send(self, output: Output) -> None:
        """Offer an output to the queue, after the ticks that precede it."""
        assert output.time is not None
        self._tick_until(output.time)
        self._queue = delivery.offer(self._queue, output)
        self._note_lost()
        if self._receiver.every is None:
            self._take(output.time)
        else:
            self._tick = -(-output.time // self._receiver.every) * self._receiver.every

    def close(self) -> None:
        """Tick until nothing waits; the line can then be used for another queue."""
        self._tick_until(inf)

    def _tick_until(self, time: float) -> None:
        # At each tick something is delivered or expires, so there are at most as many ticks as outputs.
        while self._receiver.every is not None and self._queue.waiting and self._tick < time:
            self._take(self._tick)
            self._tick += self._receiver.every

    def _take(self, now: int) -> None:
        self._queue, taken = delivery.deliver(self._queue, now, self._receiver.most)
        self.fates.update((output.at, Fate(now, None)) for output in taken)
        self._note_lost()

    def _note_lost(self) -> None:
        self.fates.update((one.output.at, Fate(None, one.why)) for one in self._queue.lost)
        self._queue = replace(self._queue, lost=())
