"""The stateful operator of a stream: each shard of keys keeps its state, and emits matches as the watermark advances.

Where rules change while a query runs (decision 11), every shard receives the changes in the micro-batch with the
events; so every shard changes its rules at the same point, and a retried micro-batch changes them again at that point.
Workers load this module, so it imports nothing that compiles patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.stream.buckets import step
from tocsin.runtime.stream.rule_book import KEPT, Book, Decision, book_bytes, shown
from tocsin.runtime.stream.shard import ShardJob, set_aside
from tocsin.runtime.stream.shard import shown as moment
from tocsin.runtime.stream.tally import FIGURES, LATE, MATCH, REPEATED, RULES
from tocsin.runtime.transport.pack import BLOB_BYTES, UNIT_BYTES, to_ipc
from tocsin.spark.batch.shard_numbers import shard_places
from tocsin.spark.stream.damage import naming
from tocsin.spark.stream.recall import Known, Watched, fitted, recalled
from tocsin.spark.stream.received import Received, received
from tocsin.spark.stream.shard_head import Home, ShardHead, head_bytes
from tocsin.spark.stream.state_store import HEAD, RULE_BOOK, Counted, Memory, figures, shape_of

RULE_CHANGE = "rule_change"  # the column with the decision on a change
Output = tuple[str, pa.Table]  # a kind (see `tally`) and its rows
_BATCH = "streaming.sql.batchId"  # the property in which Spark passes the number of the micro-batch to tasks


class Turn(NamedTuple):
    """The effect of a micro-batch's changes on the rules. Without rules that change, `book` is None."""

    before: Watched
    now: Watched
    book: Book | None = None
    decisions: tuple[Decision, ...] = ()
    unwritten: bool = False  # whether the book differs from the one that was read


class ChangingRules(Protocol):
    """Rules that change while a query runs, as implemented in `spark.rules.changing_rules`."""

    columns: str  # the schema of events on their way to the shards and in the state

    def turn(self, book: bytes | None, changes: list[str]) -> Turn:
        """Return the rules before and after the changes of a micro-batch; `book` is the one saved after the last."""
        ...


class ShardProcessor(StatefulProcessor):
    """Keeps the memory of a shard in Spark's state store: a small head, buckets of keys, and the rules if they change."""

    def __init__(self, job: ShardJob, detected: Watched, rules: ChangingRules | None = None) -> None:
        self._job = job
        self._detected = detected
        self._rules = rules
        self._shape = shape_of(job, "" if rules is None else rules.columns)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.remember_in(Memory(handle))

    def remember_in(self, memory: Memory) -> None:
        """Keep all state in `memory`."""
        self._memory = memory

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        shard = shard_places(self._job.shards).index(int(key[0]))
        yield from packed_frames(self.take_in(Home(0, shard), rows))

    def take_in(self, home: Home, rows: Iterator[Any]) -> list[Output]:
        """Process the rows of a micro-batch in a shard, and return its output."""
        with naming(f"shard {home.shard}"):
            came = received(rows)
            turn = Turn(self._detected, self._detected)
            if self._rules is not None:
                turn = self._rules.turn(self._memory.get(RULE_BOOK), came.changes)
            gone = known = recalled(self._memory, self._shape, turn.before)
            if turn.now is not turn.before:
                known = fitted(self._memory, turn.now, known)
            decisions = self._noted(turn, gone, known)
            job = self._job._replace(groups=turn.now.groups)
            out = advanced(job, home.shard, known, self._memory, came)
            head = ShardHead(home, (self._shape, turn.now.digest), *known)
            self._memory[HEAD] = head_bytes(head)
        if decisions and home.shard == 0:  # all shards have made the same decisions
            out.append((RULES, pa.table({RULE_CHANGE: [shown(one) for one in decisions]})))
        return out

    def _noted(self, turn: Turn, gone: Known, known: Known) -> list[Decision]:
        """Save the book of rules if it has changed; return the decisions with the points at which they take effect."""
        if turn.book is None:
            return []
        batch = _batch_number()
        decisions = []
        for one in turn.decisions:
            own, heads = (turn.before, gone[0]) if one.action == "remove" else (turn.now, known[0])
            until = LONG_AGO if one.code else heads[own.group_of.get(one.name or "", 0)].until
            since = moment(until) if until > LONG_AGO else None
            decisions.append(one._replace(batch=batch, until=since))
        if decisions or turn.unwritten:
            history = (*turn.book.history, *decisions)[-KEPT:]
            self._memory[RULE_BOOK] = book_bytes(turn.book._replace(history=history))
        return decisions


def _batch_number() -> int | None:
    context = TaskContext.get()
    number = None if context is None else context.getLocalProperty(_BATCH)
    return None if number is None else int(number)


def advanced(job: ShardJob, shard: int, known: Known, memory: Memory, came: Received) -> list[Output]:
    """Process a micro-batch in a shard and return its output; the heads and paces in `known` are updated."""
    heads, paces = known
    out: list[Output] = []
    matches: dict[str, int] = {}
    early = 0 if came.ahead is None else came.ahead.num_rows
    late = early
    if came.ahead is not None:
        out.append((LATE, set_aside(job, came.ahead)))
    for number, (head, pace) in enumerate(zip(heads, paces, strict=True)):
        until = pace.hear(came.marks, came.clock)
        done = step(job, number, head, memory, came.events, until)
        heads[number] = done.head
        if done.matches:
            found = pa.concat_tables(done.matches)
            out.append((MATCH, found))
            for one in pc.value_counts(found.column("pattern")).to_pylist():
                matches[one["values"]] = matches.get(one["values"], 0) + one["counts"]
        if done.late is not None:
            late += done.late.num_rows
            out.append((LATE, _of_group(number, done.late)))
        out += [(REPEATED, _of_group(number, again)) for again in done.repeated]
    in_time = 0 if came.events is None else came.events.num_rows
    counted = Counted(in_time + early, early, late, sum(one.events for one in came.marks), matches)
    out.append((FIGURES, figures(shard, heads, paces, counted)))
    return out


def _of_group(number: int, events: pa.Table) -> pa.Table:
    """Mark events with the pace group that set them aside; several groups may set aside the same event."""
    return events.append_column("pace_group", pa.array([number] * events.num_rows, pa.int32()))


def packed_frames(out: Iterable[Output]) -> Iterator[pd.DataFrame]:
    """Encode the output of a shard as data frames `kind, packed`: each table once, in values small enough for Spark."""
    kinds: list[str] = []
    values: list[bytes] = []
    for kind, table in out:
        rows = max(1, table.num_rows * BLOB_BYTES // max(1, table.nbytes))
        for first in range(0, max(1, table.num_rows), rows):
            kinds.append(kind)
            values.append(to_ipc(table.slice(first, rows)))
            if sum(map(len, values)) >= UNIT_BYTES:
                yield arrow_frame({"kind": pa.array(kinds), "packed": pa.array(values, pa.binary())})
                kinds, values = [], []
    if kinds:
        yield arrow_frame({"kind": pa.array(kinds), "packed": pa.array(values, pa.binary())})


def arrow_frame(columns: dict[str, pa.Array]) -> pd.DataFrame:
    """Return a data frame over Arrow arrays, which PySpark passes on without creating a Python object per value."""
    return pd.DataFrame({name: pd.arrays.ArrowExtensionArray(column) for name, column in columns.items()})
