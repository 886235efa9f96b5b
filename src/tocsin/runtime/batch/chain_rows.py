"""Chains of leftmost matches (see `leftmost_chain`) over events that are cut by time: tasks find links, one task follows them.

A task finds all candidates that end in its chunk, but does not know through which of them the chain enters the chunk. It keeps
those that can be reached from any possible entry, which soon are the chain alone, and writes their rows. The task that gets the
rows of all chunks can follow the chain: the rows are candidates, and every match of the chain is among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from tocsin.runtime.batch.leftmost_chain import chained, following, listing_candidates
from tocsin.runtime.batch.partition import OUTPUT_ROWS, Job, chunks_of, numbers, results, sort_events
from tocsin.runtime.compiling import kernel
from tocsin.runtime.feed import Result
from tocsin.runtime.kernels.match_arrays import Matches, some
from tocsin.runtime.program import Array, Plan, from_bytes
from tocsin.runtime.results.match_rows import to_arrow
from tocsin.runtime.transport.pack import pack_rows, unpack_tables
from tocsin.runtime.transport.time_chunks import Chunk

_BEHIND = np.iinfo(np.int64).max  # the position of a timer: after the events of its moment
_NONE = -1  # the chain number of a match that is in no chain
# In addition to the columns of a match: its chain, and the times of its first and last event, with their positions among the
# events of that moment, which are the same in every chunk.
_LINK = ("chain", "started", "first", "ended", "last")


def has_links(plan: Plan) -> bool:
    """Whether each match of a chain is reported as a row of its own, so that the chain can be followed through rows."""
    chains = set(chained(plan))
    return all(plan.detectors[number].choice.take == "all" for number in chains) and not any(
        output.where and chains.intersection(output.detectors) for output in plan.outputs
    )


def find_links(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: packed chunks of events without keys in, packed rows of matches that may be in a chain out."""
    plan = listing_candidates(from_bytes(job.plan))
    chains = chained(from_bytes(job.plan))
    for chunk, events in chunks_of(batches):
        if not events:
            continue
        for result in results(plan, sort_events(events, job.keys), job, chunk.until, whole_keys=True):
            for rows in _rows(plan, chains, job, result, chunk):
                yield from pack_rows(rows, 0)


def follow_links(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: all rows from `find_links` in, the matches of the chains out."""
    tables = list(unpack_tables(batches))
    if not tables:
        return
    columns = {name: np.concatenate([numbers(table, name) for table in tables]) for name in _LINK}
    kept = columns["chain"] == _NONE
    for chain in np.unique(columns["chain"][~kept]).tolist():
        own = np.flatnonzero(columns["chain"] == chain)
        own = own[np.lexsort((columns["first"][own], columns["started"][own]))]
        kept[own] = _in_chain(*(columns[name][own] for name in _LINK[1:]))
    for table in tables:
        own, kept = kept[: table.num_rows], kept[table.num_rows :]
        yield from table.drop_columns(list(_LINK)).filter(pa.array(own)).to_batches(max_chunksize=OUTPUT_ROWS)


def _rows(plan: Plan, chains: tuple[int, ...], job: Job, result: Result, chunk: Chunk) -> Iterator[pa.Table]:
    """The rows of the matches that end in a chunk, one table per subscription, with their links."""
    schema = pa.ipc.read_schema(pa.py_buffer(job.schema))
    end = numbers(result.events, "end")
    found, links = [], []
    for number, matches in enumerate(result.matches):
        matches = some(matches, np.flatnonzero((matches.end > chunk.after) & (matches.end <= chunk.until)))
        if number in chains:
            matches = _reachable_of(matches, end, chunk.after)
        found.append(matches)
        links.append(_links(matches, end) if number in chains else np.zeros((4, len(matches.key)), np.int64))
    for number, output in enumerate(plan.outputs):
        rows = to_arrow(plan, result._replace(matches=tuple(found)), number, schema, wanted=job.wanted)
        own = [
            np.full(len(found[one].key), number * len(found) + one if one in chains else _NONE)
            for one in output.detectors
        ]
        linked = [np.concatenate(own), *np.concatenate([links[one] for one in output.detectors], axis=1)]
        for name, values in zip(_LINK, linked, strict=True):
            rows = rows.append_column(name, pa.array(values, pa.int64()))
        yield rows


def _reachable_of(matches: Matches, end: Array, after: int) -> Matches:
    """The candidates through which a chain may enter the chunk and those that follow them, ordered by start."""
    started, first, ended, last = _links(matches, end)
    order = np.lexsort((first, started))
    reachable = _reachable(started[order], first[order], ended[order], last[order], after)
    return some(matches, order[reachable])


def _links(matches: Matches, end: Array) -> Array:
    """Times of the first and last event of each match, and their positions in that moment: int64 (4, matches)."""
    firsts, lasts = matches.offsets[:-1], matches.offsets[1:] - 1
    started, ended = matches.times[firsts], matches.times[lasts]
    first = matches.refs[firsts] - np.searchsorted(end, started)
    last = matches.refs[lasts] - np.searchsorted(end, ended)
    return np.stack([started, first, ended, np.where(matches.roles[lasts] < 0, _BEHIND, last)])


@kernel
def _reachable(started, first, ended, last, after):  # type: ignore[no-untyped-def]
    """Which candidates may be in the chain. It enters through one that began before the chunk, or the first that did not."""
    reachable = np.zeros(len(started), np.bool_)
    for at in range(len(started)):
        reachable[at] = True
        if started[at] > after:
            break
    for at in range(len(started)):
        if reachable[at]:
            then = following(at, len(started), first, started, last, ended)
            if then < len(started):
                reachable[then] = True
    return reachable


@kernel
def _in_chain(started, first, ended, last):  # type: ignore[no-untyped-def]
    """Which candidates are in the chain, starting from the first, given all that may be."""
    chosen = np.zeros(len(started), np.bool_)
    at = 0
    while at < len(started):
        chosen[at] = True
        at = following(at, len(started), first, started, last, ended)
    return chosen
