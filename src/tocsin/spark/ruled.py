"""Detection in a stream with rules that change while it runs (decision 11).

Changes come in the micro-batch with the events, to every shard; so every shard changes its rules at the same point, and a
micro-batch that is run again changes them again in the same place. The rules in force are kept in the state.
Workers load this module for `RuledProcessor`; the compiler they load only when rules are not those of the program.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.errors import InputError, TocsinError
from tocsin.events.pace import Pace, PaceSettings
from tocsin.runtime.buckets import Head
from tocsin.runtime.carry_over import Outline, carried_over, in_common
from tocsin.runtime.pack import to_ipc
from tocsin.runtime.rules import (
    KEPT,
    Book,
    Change,
    Decision,
    Rule,
    changed,
    in_turn,
    of_program,
    read_change,
    shown,
)
from tocsin.runtime.shard import LONG_AGO, Line, ShardJob
from tocsin.runtime.shard import shown as moment
from tocsin.runtime.tally import RULES
from tocsin.spark.memory import (
    HEAD,
    OUTLINES,
    RULE_BOOK,
    Home,
    Memory,
    begin,
    head_bytes,
    home_at,
    known_buckets,
    outlines_of,
    purpose_of,
    remembered,
)
from tocsin.spark.stream import RULE_CHANGE, as_frame, received, taken_in

_BATCH = "streaming.sql.batchId"  # under which Spark tells its tasks the number of the micro-batch


class Ruled(NamedTuple):
    """Rules as a shard is told of them. The first line is that of the query's own options, and is always there."""

    lines: tuple[Line, ...]
    paces: tuple[PaceSettings, ...]
    placed: Mapping[str, int]  # for each rule its line


class RuledProcessor(StatefulProcessor):
    """Keeps the memory of a shard, and the rules it is of, in Spark's state store."""

    def __init__(
        self, job: ShardJob, columns: str, program: tuple[Rule, ...], ruled: Ruled, settings: bytes
    ) -> None:
        self._job = job  # without lines
        self._columns = columns  # that events travel with, and wait with
        self._program = program
        self._ruled = ruled  # the rules of the program
        self._settings = settings
        self._purposes: dict[int, tuple[Ruled, tuple[bytes, bytes]]] = {}

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
        data = self._memory.get(RULE_BOOK)
        before: Book | None = None if data is None else pickle.loads(data)
        book = Book(self._program, self._program) if before is None else before
        then = self._told_of(book.rules)
        heads, paces = self._recalled(then)
        book, now, decisions = self._changed(book, then, came.changes)
        gone = heads
        if now is not then:
            heads, paces = self._carried_over(now, heads, paces)
        decisions = [
            _placed(one, then, gone, self._batch)
            if one.action == "remove"
            else _placed(one, now, heads, self._batch)
            for one in decisions
        ]
        if decisions or book != before:
            history = (*book.history, *decisions)[-KEPT:]
            self._memory[RULE_BOOK] = pickle.dumps(book._replace(history=history), protocol=5)
        job = self._job._replace(lines=now.lines)
        out = taken_in(job, home.shard, heads, paces, self._memory, came)
        self._memory[HEAD] = head_bytes(home, self._purpose(now), heads, paces)
        if decisions and home.shard == 0:  # all shards have decided the same
            out.append((RULES, to_ipc(pa.table({RULE_CHANGE: [shown(one) for one in decisions]}))))
        return as_frame(out)

    @property
    def _batch(self) -> int | None:
        context = TaskContext.get()
        number = None if context is None else context.getLocalProperty(_BATCH)
        return None if number is None else int(number)

    def _told_of(self, rules: tuple[Rule, ...]) -> Ruled:
        if rules == self._program:
            return self._ruled
        # Imported here, because most workers never need it.
        from tocsin.spark.compile_rules import compiled_from

        return compiled_from(self._settings, rules)

    def _purpose(self, ruled: Ruled) -> tuple[bytes, bytes]:
        """What a memory is for, worked out once for the shards of a task."""
        if id(ruled) not in self._purposes:
            shape, patterns = purpose_of(self._job._replace(lines=ruled.lines), ruled.paces)
            shape = hashlib.blake2b(self._columns.encode(), key=shape, digest_size=16).digest()
            self._purposes[id(ruled)] = (ruled, (shape, patterns))
        return self._purposes[id(ruled)][1]

    def _recalled(self, ruled: Ruled) -> tuple[list[Head], list[Pace]]:
        """What is known of the buckets and of time, for the rules that were in force."""
        data = self._memory.get(HEAD)
        if data is None:
            begin(self._memory, ruled.lines)
            return [Head(LONG_AGO) for _ in ruled.paces], [Pace(settings) for settings in ruled.paces]
        purpose, heads, paces = remembered(data, self._purpose(ruled)[0])
        if purpose != self._purpose(ruled):  # the options of the query are others
            return self._carried_over(ruled, heads, paces)
        return heads, paces

    # --- Changes

    def _changed(self, book: Book, ruled: Ruled, given: list[str]) -> tuple[Book, Ruled, list[Decision]]:
        """The rules after all changes of a micro-batch, and what became of each."""
        changes: list[Change] = []
        decisions: list[Decision] = []
        if book.program != self._program:
            changes += of_program(book, self._program)
            book = book._replace(program=self._program)
        told: list[Change] = []
        for data in sorted(given):  # tasks send them in no order
            try:
                told.append(read_change(data))
            except InputError as problem:
                decisions.append(_refused(Change(None, "", ""), problem))
        changes += sorted(told, key=_order)
        if not changes:
            return book, ruled, decisions
        together = self._all_at_once(book, changes)
        if together is not None:
            made = [_taken(change) for change in changes]
            return *together, [*decisions, *made]
        for change in changes:
            try:
                book, ruled = self._one(book, change)
                decisions.append(_taken(change))
            except Exception as problem:  # noqa: BLE001  (no rule may stop a query, whatever is wrong)
                decisions.append(_refused(change, problem))
        return book, ruled, decisions

    def _all_at_once(self, book: Book, changes: list[Change]) -> tuple[Book, Ruled] | None:
        """The same if all changes are good, which is usual and compiles once; None if one is not."""
        try:
            for change in changes:
                book = _noted(book, change)
            return book, self._told_of(book.rules)
        except Exception:  # noqa: BLE001  (which one it was, and why, is found out one by one)
            return None

    def _one(self, book: Book, change: Change) -> tuple[Book, Ruled]:
        book = _noted(book, change)
        return book, self._told_of(book.rules)

    def _carried_over(
        self, ruled: Ruled, heads: list[Head], paces: list[Pace]
    ) -> tuple[list[Head], list[Pace]]:
        """What is known of the buckets and of time, for other rules: those that stay go on, events wait for all."""
        outlines: list[Outline] = pickle.loads(self._memory[OUTLINES])
        # All is taken out before anything is put back, because lines may change their places.
        memories = {key: self._memory.pop(key) for key in known_buckets(heads)}
        new_heads, new_paces = [], []
        for number, (line, settings) in enumerate(zip(ruled.lines, ruled.paces, strict=True)):
            former = _former(line, settings, outlines, paces)
            head, pace = Head(heads[former].until), Pace(settings).going_on_from(paces[former])
            if outlines[former].at_once == line.at_once:
                entries = {}
                for bucket, entry in heads[former].entries.items():
                    memory = carried_over(outlines[former], line, memories[former, bucket])
                    if memory is not None:
                        self._memory[number, bucket] = memory
                        entries[bucket] = entry._replace(wakeup=LONG_AGO, size=len(memory))
                head = Head(head.until, heads[former].bits, entries)
            elif outlines[former].at_once:
                # Used as they came, events were never late; now only what comes from here on can be.
                head, pace.until = Head(LONG_AGO), LONG_AGO
            new_heads.append(head)
            new_paces.append(pace)
        self._memory[OUTLINES] = outlines_of(ruled.lines)
        return new_heads, new_paces


def _former(line: Line, settings: PaceSettings, outlines: list[Outline], paces: list[Pace]) -> int:
    """The line that another goes on from: that of the same pace, or the one it has most rules of, or the first."""
    same = [number for number, pace in enumerate(paces) if pace.settings == settings]
    return same[0] if same else max(range(len(outlines)), key=lambda at: in_common(outlines[at], line))


def _order(change: Change) -> tuple[int, str]:
    """The order of changes in a micro-batch, whatever tasks they come from."""
    return (-1 if change.number is None else change.number, repr(change))


def _noted(book: Book, change: Change) -> Book:
    in_turn(book, change)
    rules = changed(book.rules, change, book.version + 1)
    last = book.last if change.number is None else change.number
    return book._replace(rules=rules, version=book.version + 1, last=last)


def _taken(change: Change) -> Decision:
    return Decision(change.number, change.action, change.name, None, None)


def _refused(change: Change, problem: Exception) -> Decision:
    code, message, hint = "rule-failed", f"{type(problem).__name__}: {problem}", None
    if isinstance(problem, TocsinError):
        code, message, hint = problem.code, problem.message, problem.hint
    what, name = change.action or None, change.name or None
    return Decision(change.number, what, name, None, None, code, message, hint)


def _placed(decision: Decision, ruled: Ruled, heads: list[Head], batch: int | None) -> Decision:
    """A decision with the point in the stream it was made at."""
    until = LONG_AGO if decision.code else heads[ruled.placed.get(decision.name or "", 0)].until
    return decision._replace(batch=batch, until=moment(until) if until > LONG_AGO else None)
