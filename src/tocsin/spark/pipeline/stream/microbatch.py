"""Process each micro-batch of a stream: count, write, record it in the ledger, report it.

The rows of a micro-batch, which `runtime.stream.tally` describes, are kept while it is written: to ask for them again
would be to detect again.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from threading import Event
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.errors import InputError, counted
from tocsin.events import format_timestamp
from tocsin.languages.rule_file import Metadata
from tocsin.runtime.stream import tally
from tocsin.runtime.transport.pack import unpack
from tocsin.spark.batch.route import Route
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.few import few
from tocsin.spark.observe.record import Seen, decided, heard_of, moment, summed
from tocsin.spark.pipeline.added_columns import (
    BLOCK,
    DEAD,
    FILE,
    IRRELEVANT,
    PROBLEM,
    ROW,
    SOURCE,
    TEXT,
    USED,
)
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.plan.jobs import Job
from tocsin.spark.pipeline.report.match_text import first_matches, last_matches
from tocsin.spark.pipeline.sinks.rule_rows import Rules, in_one_table, with_rules
from tocsin.spark.pipeline.sinks.stream_targets import Destination, Target
from tocsin.spark.pipeline.sinks.write_files import offsets_of, with_lines
from tocsin.spark.pipeline.sources.composites import carrying
from tocsin.spark.pipeline.sources.text_files import Split
from tocsin.spark.pipeline.stream.known_rules import KnownRules
from tocsin.spark.pipeline.stream.ledger import Ledger, Numbers, Page
from tocsin.spark.pipeline.stream.output_rows import OutputRows
from tocsin.spark.pipeline.stream.quiet_state import QuietState
from tocsin.spark.pipeline.stream.reported_rows import (
    Found,
    Held,
    HeldId,
    alerts_in,
    in_order,
    together,
    without,
)
from tocsin.spark.sent import sent

_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # of the years 1 to 9999, in microseconds
_DEAD = from_arrow_schema(
    pa.schema(
        [
            *((name, pa.string()) for name in ("source", "problem", "file")),
            ("block", pa.int64()),
            ("row", pa.int64()),
            ("text", pa.string()),
        ]
    )
)


class Stopped(Exception):  # noqa: N818  it is no error
    """A stream was asked to stop before a micro-batch began."""


Later = Callable[[str], tuple[Found, tuple[Destination, ...]]]


@dataclass(frozen=True)
class Plan:
    """Everything that stays the same from one micro-batch to the next."""

    pipeline: Pipeline
    found: Mapping[str, Found]
    jobs: tuple[Job, ...]
    routes: Mapping[str, Route]  # by which the events of each subscription travel
    destinations: tuple[Destination, ...]
    dead_letters: Target | None
    late: Target | None
    known: KnownRules
    quiet: QuietState
    deleted: Callable[[int], Mapping[str, int]]  # how many files of a micro-batch are gone, by their folder
    alerts: int = 0  # how many of the latest matches are reported as text
    later: Later | None = (
        None  # for a rule that came while the stream ran, how its matches are got at and written
    )


class Writer:
    """Writes one micro-batch after another. `failure` is the exception that stopped it, if any."""

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        stop: Event,
        notify: Callable[[Seen], None],
        begun: Callable[[int], None],
    ) -> None:
        self._plan, self._ledger, self._stop, self._notify, self._begun = plan, ledger, stop, notify, begun
        self._found, self._destinations = dict(plan.found), list(plan.destinations)
        self.busy = False
        self.failure: Exception | None = None
        self._latest: tuple[str, ...] = ()
        self._gone: Counter[str] = Counter()  # files, not noted in the ledger yet
        self.samples: dict[str, tuple[str, ...]] = {
            name: ()
            for sink in plan.pipeline.sinks
            if sink.format == "console"
            for name in sink.subscriptions
        }

    def write(self, frame: DataFrame, batch: int) -> None:
        """Write one micro-batch; Spark calls this for each."""
        if self._stop.is_set():
            self.failure = Stopped()
            raise self.failure
        self.busy = True
        try:
            self._gone.update(self._plan.deleted(batch))
            if self._ledger.has(batch):
                # All is written, but what the shards remember may not be.
                frame.write.format("noop").mode("overwrite").save()
            else:
                self._begun(batch)
                page, shards = self._page(frame, batch)
                self._ledger.add(page)
                self._gone.clear()
                self._notify(page.seen(self._plan.pipeline.name, shards, self._latest))
        except Exception as problem:
            self.failure = problem
            raise
        finally:
            self.busy = False

    def _page(self, frame: DataFrame, batch: int) -> tuple[Page, list[dict[str, Any]]]:
        """Return the entry for the ledger, and the figures of each shard."""
        began = time.monotonic()
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            rows = OutputRows(kept)
            self._meet(rows)
            changes = tuple(json.loads(one["rule_change"]) for one in rows.table(tally.RULES))
            self._plan.known.take(changes)
            aside = self._set_aside(rows)
            sources, reasons = _counters(self._plan, rows, {} if aside is None else _aside_by_source(aside))
            matches = {
                name: sum(rows.count(tally.MATCH, pattern) for pattern in found.patterns)
                for name, found in self._found.items()
            }
            figures = rows.table(tally.FIGURES)
            held = self._hold_back(rows, matches, figures, batch)
            matches = {name: count - held.counts.get(name, 0) for name, count in matches.items()}
            written = self._write(rows, aside, matches, held.ids, batch)
            reached, silent = self._reached(rows, figures)
        finally:
            kept.unpersist()
        numbers = Numbers(sources, reasons, matches, written, held.counts, dict(self._gone))
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        page = Page(
            batch,
            now,
            round(time.monotonic() - began, 3),
            decided(figures),
            numbers,
            summed(figures),
            self._ledger.batches + 1,
            self._ledger.totals + numbers,
            reached,
            silent,
            changes,
        )
        return page, figures

    def _reached(
        self, rows: OutputRows, figures: list[dict[str, Any]]
    ) -> tuple[dict[str, str | None], tuple[str, ...]]:
        """Return the latest event of each source so far, and the sources that are not waited for."""
        before = {} if self._ledger.last is None else self._ledger.last.reached
        reached = {source.name: before.get(source.name) for source in self._plan.pipeline.sources}
        for row in rows.table(tally.TALLY):
            if row["use"] != DEAD and row["end_max"] is not None:
                # What Python's calendar does not reach is shown as its first or last moment.
                end = min(max(row["end_max"], _FIRST), _LAST)
                latest = moment(datetime.fromisoformat(format_timestamp(end)).replace(tzinfo=UTC))
                reached[row["source"]] = max(reached[row["source"]] or "", latest or "")
        waited_for, silent = heard_of(figures)
        return reached | waited_for, silent

    def _meet(self, rows: OutputRows) -> None:
        """Prepare targets for the matches of rules that were added while the stream ran."""
        known = {pattern for found in self._found.values() for pattern in found.patterns}
        for name in rows.names(tally.MATCH):
            if name not in known and self._plan.later is not None:
                self._found[name], own = self._plan.later(name)
                self._destinations += own

    def _hold_back(
        self, rows: OutputRows, matches: Mapping[str, int], figures: list[dict[str, Any]], batch: int
    ) -> Held:
        """Return the matches of quiet subscriptions that are not reported."""
        quiet = self._plan.known.quiet
        if not quiet:
            return Held(frozenset(), {})
        alerts = [
            alert
            for name in quiet
            if matches.get(name)
            for alert in alerts_in(self._matches(rows, name, frozenset()))
        ]
        ends = [one["until"] for one in figures if one["until"] is not None]
        until = round(min(ends).timestamp() * 1_000_000) if ends else None
        held = self._plan.quiet.hold_back(alerts, quiet, batch, until, in_order(self._plan.jobs))
        return Held(frozenset(held), dict(Counter(name for name, _ in held)))

    def _write(
        self,
        rows: OutputRows,
        aside: DataFrame | None,
        matches: Mapping[str, int],
        held: frozenset[HeldId],
        batch: int,
    ) -> dict[str, int]:
        """Write everything; return how many rows each target received."""
        written: dict[str, int] = {}

        @cache
        def frame_of(name: str) -> DataFrame | None:
            return self._matches(rows, name, held) if matches.get(name) else None

        for destination in self._destinations:
            if destination.together:
                written[destination.place] = self._write_together(destination, rows, matches, held, batch)
            else:
                (name,) = destination.subscriptions
                written[destination.place] = self._write_to(destination, frame_of(name), matches[name], batch)
        self._sample(frame_of)
        self._latest = self._alerts(frame_of, matches)
        dead, late = rows.count(tally.DEAD), rows.count(tally.LATE)
        if self._plan.dead_letters is not None and self._plan.pipeline.dead_letters is not None:
            _write_or_clear(self._plan.dead_letters, _letters(rows) if dead else None, dead, batch)
            written[self._plan.pipeline.dead_letters.path] = dead
        if self._plan.late is not None and self._plan.pipeline.late is not None:
            own = _shown_late(aside, self._plan) if late and aside is not None else None
            _write_or_clear(self._plan.late, own, late, batch)
            written[self._plan.pipeline.late.path] = late
        return written

    def _write_to(self, destination: Destination, frame: DataFrame | None, count: int, batch: int) -> int:
        (name,) = destination.subscriptions
        if frame is not None and destination.sent is not None:
            frame = sent(frame, destination.sent)
            count = frame.count()
        elif frame is not None:
            frame = carrying(frame, self._found[name].carried)
            if destination.rules:
                frame = with_rules(frame, self._rules([name]))
        _write_or_clear(destination.target, frame, count, batch)
        return count

    def _write_together(
        self,
        destination: Destination,
        rows: OutputRows,
        matches: Mapping[str, int],
        held: frozenset[HeldId],
        batch: int,
    ) -> int:
        """Write the matches of several subscriptions to one target."""
        own = list(self._found) if destination.grows else destination.subscriptions
        names = [name for name in own if matches.get(name)]
        parts = together(rows, {name: self._found[name] for name in names}, held)
        whole = with_rules(in_one_table(parts), self._rules(names)) if parts else None
        count = sum(matches[name] for name in names)
        _write_or_clear(destination.target, whole, count, batch)
        return count

    def _rules(self, names: Iterable[str]) -> Rules:
        known = self._plan.known.metadata
        return {
            pattern: (name, known.get(name, Metadata()))
            for name in names
            for pattern in self._found[name].patterns
        }

    def _matches(self, rows: OutputRows, name: str, held: frozenset[HeldId]) -> DataFrame:
        found = self._found[name]
        return without(rows.opened([tally.MATCH], unpack, found.schema, found.patterns), held)

    def _set_aside(self, rows: OutputRows) -> DataFrame | None:
        """Return late and repeated events, if there are any."""
        if not rows.count(tally.LATE) + rows.count(tally.REPEATED):
            return None
        found = rows.opened([tally.LATE, tally.REPEATED], tally.late_rows, from_arrow_schema(tally.LATE_ROWS))
        names = F.array(*(F.lit(source.name) for source in self._plan.pipeline.sources))
        return found.withColumn("source", names[F.col("origin")])

    def _alerts(
        self, frame_of: Callable[[str], DataFrame | None], matches: Mapping[str, int]
    ) -> tuple[str, ...]:
        """Return the latest matches of this micro-batch as text, for a few subscriptions."""
        found: list[tuple[datetime, str]] = []
        names = [name for name, count in matches.items() if count and self._plan.alerts]
        for name in names[: self._plan.alerts]:
            frame = frame_of(name)
            assert frame is not None
            shown = carrying(frame, self._found[name].carried)
            latest = last_matches(shown, self._found[name].job.key, self._plan.alerts)
            found += [(end, f"{name}  {text}") for end, text in latest]
        return tuple(text for _, text in sorted(found)[-self._plan.alerts :]) if found else ()

    def _sample(self, frame_of: Callable[[str], DataFrame | None]) -> None:
        """Return the first matches of this run, for console sinks."""
        keys = {entry.name: entry.key for entry in self._plan.pipeline.subscriptions}
        for sink in self._plan.pipeline.sinks:
            for name in sink.subscriptions if sink.format == "console" else ():
                room = sink.rows - len(self.samples[name])
                if room > 0 and (frame := frame_of(name)) is not None:
                    shown = carrying(frame, self._found[name].carried)
                    self.samples[name] += first_matches(shown, keys[name], room)


def _counters(
    plan: Plan, rows: OutputRows, aside: Mapping[str, tuple[int, int]]
) -> tuple[dict[str, Counters], dict[str, int]]:
    """Return the checked counters of each source, and the number of dead letters by reason."""
    counts: dict[tuple[str, str], int] = {}
    reasons: dict[str, int] = {}
    for row in rows.table(tally.TALLY):
        place = row["source"], row["use"]
        counts[place] = counts.get(place, 0) + row["count_all"]
        if row["problem"] is not None:
            reasons[row["problem"]] = reasons.get(row["problem"], 0) + row["count_all"]
    _check_arrived(plan, rows)
    counters = {}
    for source in plan.pipeline.sources:
        name = source.name
        used, irrelevant, dead = (counts.get((name, use), 0) for use in (USED, IRRELEVANT, DEAD))
        late, repeated = aside.get(name, (0, 0))
        read = sum(count for (own, _), count in counts.items() if own == name)
        used -= late + repeated
        counters[name] = Counters(read, used, irrelevant, dead, 0, late, repeated).checked(name)
    return counters, dict(sorted(reasons.items()))


def _check_arrived(plan: Plan, rows: OutputRows) -> None:
    """Raise an error unless every event counted for a job where it was read also arrived at its shards."""
    arrived: dict[str, int] = {}
    for figures in rows.table(tally.FIGURES):
        arrived[figures["job"]] = arrived.get(figures["job"], 0) + figures["arrived"]
    for job in plan.jobs:
        asked, came = rows.count(tally.ASKED, str(job.number)), arrived.get(str(job.number), 0)
        if asked != came:
            raise InputError(
                "counters",
                f"{counted(asked, 'event is', 'events are')} for {few(job.names)}, but {came:,} arrived",
                hint="run it again, and make sure that files do not change once they are in their folder",
            )


def _aside_by_source(aside: DataFrame) -> dict[str, tuple[int, int]]:
    """Count late and repeated events of each source; an event that is late for two jobs counts once."""
    event = ("source", "id", "start", "end")
    late = F.count("reason").alias("late")
    own = aside.groupBy("job", "pace_group", *event).agg(late, F.count(F.lit(1)).alias("all"))
    events = own.groupBy(*event).agg(F.max("late").alias("late"), F.max("all").alias("all"))
    totals = events.groupBy("source").agg(F.sum("late").alias("late"), F.sum("all").alias("all"))
    return {row["source"]: (row["late"], row["all"] - row["late"]) for row in totals.collect()}


def _write_or_clear(target: Target, rows: DataFrame | None, count: int, batch: int) -> None:
    """Write the rows of a micro-batch, if there are any, replacing anything written for it before."""
    if rows is None or not count:
        target.clear(batch)
    else:
        target.write(rows, count, batch)


def _shown_late(aside: DataFrame, plan: Plan) -> DataFrame:
    """Return late events in the form in which they are kept: source, subscription, and the reason."""
    names = [F.lit(str(job.number)) for job in plan.jobs]
    subscriptions = [F.array(*map(F.lit, job.names)) for job in plan.jobs]
    by_job = F.create_map(*(part for pair in zip(names, subscriptions, strict=True) for part in pair))
    return aside.where(F.col("reason").isNotNull()).select(
        "source",
        by_job[F.col("job")].alias("subscriptions"),
        "reason",
        "type",
        F.timestamp_micros("start").alias("start"),
        F.timestamp_micros("end").alias("end"),
        "id",
        "key",
        "attributes",
    )


def _letters(rows: OutputRows) -> DataFrame:
    """Return the dead letters, each with its line in its file."""
    dead = rows.opened([tally.DEAD], unpack, _DEAD)
    named = dead.toDF(SOURCE, PROBLEM, FILE, BLOCK, ROW, TEXT)
    return with_lines(named, offsets_of(dead.sparkSession, _splits(rows.table(tally.BLOCKS))))


def _splits(blocks: Iterable[Mapping[str, Any]]) -> Iterable[Split]:
    """Return where the blocks of files begin; each block reports its number of lines as a negative number."""
    by_file = groupby(
        sorted(blocks, key=lambda one: (one["file"], one["block"])), key=lambda one: one["file"]
    )
    for file, own in by_file:
        before = 0
        for one in own:
            yield Split(file, one["block"], before)
            before -= one["row"]
