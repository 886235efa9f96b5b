"""Worker entry point: detection in files whose events are in order of time; each task reads a chunk and detects in it.

There is no shuffle. A task also reads the events close enough to its chunk to make a difference (see `time_chunks`), and
for matches that form a chain as many earlier ones as it takes to know the chain (see `leftmost_chain`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.batch.leftmost_chain import UNKNOWN, beginnings, chained, listing_candidates
from tocsin.runtime.batch.partition import (
    Job,
    Sorted,
    TiedError,
    detect_partition,
    numbers,
    reported,
    reports_events,
    results,
    sort_events,
)
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.program import Array, Plan, from_bytes
from tocsin.runtime.read.parquet_columns import OpenFiles
from tocsin.runtime.read.parquet_events import ReadJob, read_group, travelling_events
from tocsin.runtime.transport.time_chunks import ALWAYS, Chunk, Layout

LEAD = 5  # times the longest match: how far before its chunk a task begins to follow a chain at first
_FURTHER = 1.6  # times as far, if that was not enough


def detect_laid_out(
    reading: ReadJob, job: Job, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The matches that end in the chunks of a layout whose numbers are the rows of the batches."""
    plan, layout = from_bytes(job.plan), reading.layout
    assert layout is not None
    for batch in batches:
        for number in batch.column(0).to_pylist():
            if reports_events(plan, job):
                yield from _detect(plan, reading, layout, job, layout.chunks[number])
                continue
            try:
                yield from _detect(plan, reading.without_reports(), layout, job, layout.chunks[number])
            except TiedError:
                # Events are sorted before the first match is found, so nothing has been reported yet.
                yield from _detect(plan, reading, layout, job, layout.chunks[number])


def _detect(plan: Plan, reading: ReadJob, layout: Layout, job: Job, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    with OpenFiles() as files:
        events = _Events(reading, layout, files)
        if chained(plan):
            yield from _detect_chains(plan, events, job, chunk, layout.longest)
        else:
            since = _earlier(chunk.after, layout.longest)
            yield from detect_partition(job, events.between(since, chunk.until), chunk)


def _detect_chains(
    plan: Plan, read: _Events, job: Job, chunk: Chunk, longest: int
) -> Iterator[pa.RecordBatch]:
    """Detect in a chunk with a plan that has chains: from far enough back to know them, until its last match is decided."""
    until = chunk.until if chunk.until == ALWAYS.until else chunk.until + longest
    lead = LEAD * longest
    while isinstance(found := _followed(plan, read, job, chunk.after, until, lead, longest), _Unknown):
        # How far is enough can be found out from the events before the chunk, and from few keys.
        while isinstance(found, _Unknown):
            lead = int(lead * _FURTHER)
            found = _followed(plan, read, job, chunk.after, chunk.after, lead, longest, found.keys)
    matches = results(plan, found.events, job, FOREVER, whole_keys=True, begins=found.begins)
    yield from reported(plan, job, matches, chunk)


class _Followed(NamedTuple):
    """Events, and for each chain the row of each key from which it can be followed; None if that is the first row."""

    events: Sorted
    begins: dict[int, Array] | None


class _Unknown(NamedTuple):
    """Chains that cannot be followed from the first event on. `keys` are their keys, or the first part of these."""

    keys: pa.Array | None


def _followed(
    plan: Plan,
    read: _Events,
    job: Job,
    after: int,
    until: int,
    lead: int,
    longest: int,
    keys: pa.Array | None = None,
) -> _Followed | _Unknown:
    """The events from `lead` before one moment until another, if chains are known there; optionally of some keys only."""
    since = after - lead
    if since <= read.first:
        return _Followed(sort_events(read.between(ALWAYS.after, until, keys), job.keys), None)
    events = sort_events(read.between(since, until, keys), job.keys)
    begins = _begins(plan, events, job, after, since + longest, after - longest)
    unknown = np.unique(np.concatenate([np.flatnonzero(rows == UNKNOWN) for rows in begins.values()]))
    if not len(unknown):
        return _Followed(events, begins)
    return _Unknown(
        events.events.column("key0").take(pa.array(events.offsets[unknown])) if job.keys else None
    )


def _begins(plan: Plan, events: Sorted, job: Job, after: int, certain: int, horizon: int) -> dict[int, Array]:
    """For each chain and key the row from which it can be followed, or UNKNOWN (see `leftmost_chain.beginnings`)."""
    end = numbers(events.events, "end")
    passed = np.concatenate([[0], np.cumsum(end <= horizon)])
    behind = events.offsets[:-1] + np.diff(passed[events.offsets])
    begins = {number: behind.copy() for number in chained(plan)}
    early = np.flatnonzero(end <= after)
    offsets = np.searchsorted(early, events.offsets)
    keys = np.flatnonzero(np.diff(offsets))  # keys that have events by then
    asked = [name for name in events.events.column_names if name not in ("id", "type", "attributes")]
    known = Sorted(events.events.select(asked).take(pa.array(early)), np.append(offsets[keys], len(early)))
    for result in results(listing_candidates(plan), known, job, after, whole_keys=True):
        own, keys = keys[: result.keys.size], keys[result.keys.size :]
        rows, early = early[: result.events.num_rows], early[result.events.num_rows :]
        for number, begin in begins.items():
            found = beginnings(result.matches[number], len(own), certain, horizon)
            begin[own[found >= 0]] = rows[found[found >= 0]]
            begin[own[found == UNKNOWN]] = UNKNOWN
    return begins


def _earlier(moment: int, by: int) -> int:
    return moment if moment == ALWAYS.after else moment - by


class _Events:
    """The events of a layout, each row group read on first use."""

    def __init__(self, reading: ReadJob, layout: Layout, files: OpenFiles) -> None:
        self._reading, self._layout, self._files = reading, layout, files
        self._read: dict[int, pa.RecordBatch] = {}
        self.first = int(layout.least.min(initial=FOREVER)) - 1
        """A moment before all events."""

    def between(self, after: int, until: int, keys: pa.Array | None = None) -> list[pa.RecordBatch]:
        """The events that end after `after` and by `until`, optionally those of some keys only."""
        layout = self._layout
        wanted = np.flatnonzero((layout.most > after) & (layout.least <= until))
        # At least one batch, so that there is a schema.
        found = [] if len(wanted) else [self._batch(0).slice(0, 0)]
        for number in wanted.tolist():
            batch = self._batch(number)
            if layout.least[number] <= after or layout.most[number] > until:
                end = batch.column("end")
                batch = batch.filter(pc.and_(pc.greater(end, after), pc.less_equal(end, until)))
            if keys is not None:
                batch = batch.filter(pc.is_in(batch.column("key0"), value_set=keys))
            found.append(batch)
        return found

    def _batch(self, number: int) -> pa.RecordBatch:
        if number not in self._read:
            file = self._layout.files[self._layout.file[number]]
            table = read_group(self._reading, self._files, file, int(self._layout.group[number]))
            events = travelling_events(self._reading, table).combine_chunks()
            batches = events.to_batches()
            self._read[number] = (
                batches[0] if batches else pa.RecordBatch.from_pylist([], schema=events.schema)
            )
        return self._read[number]
