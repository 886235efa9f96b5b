"""Chains of leftmost matches (see `chain`) in a stream that is cut by time: tasks find the links, one task follows the chain.

A task finds all candidates that end in its chunk, but does not know by which of them the chain comes in. It keeps those that
can be reached from anywhere it may come in, which are soon the chain alone, and makes their rows. Whoever has the rows of all
chunks can follow the chain: they are candidates, and none that is in the chain is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from tocsin.runtime.chain import chained, following, listing_candidates
from tocsin.runtime.chunks import Chunk
from tocsin.runtime.compiling import kernel
from tocsin.runtime.feed import Result
from tocsin.runtime.found import Matches, some
from tocsin.runtime.matches import to_arrow
from tocsin.runtime.pack import pack_rows, unpack_tables
from tocsin.runtime.partition import OUTPUT_ROWS, Job, chunks_of, numbers, results, sort_events
from tocsin.runtime.program import Array, Plan, from_bytes

_BEHIND = np.iinfo(np.int64).max  # the place of a timer: behind the events of its moment
_NONE = -1  # the chain of a match that is in none
# Beside the columns of a match: its chain, and when its first and its last event were, with their places among the events of
# that moment, which are the same in every chunk.
_LINK = ("chain", "started", "first", "ended", "last")


def has_links(plan: Plan) -> bool:
    """Whether each match of a chain is reported as a row of its own, without which a chain cannot be followed through rows."""
    chains = set(chained(plan))
    return all(plan.detectors[number].choice.take == "all" for number in chains) and not any(
        output.where and chains.intersection(output.detectors) for output in plan.outputs
    )


def find_links(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What Spark calls: packed chunks of a stream without keys become packed rows of what may be in a chain."""
    plan = listing_candidates(from_bytes(job.plan))
    chains = chained(from_bytes(job.plan))
    for chunk, events in chunks_of(batches):
        if not events:
            continue
        for result in results(plan, sort_events(events, job.keys), job, chunk.until, whole_keys=True):
            for rows in _rows(plan, chains, job, result, chunk):
                yield from pack_rows(rows, 0)


def follow_links(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What Spark calls: all that `find_links` has found becomes matches."""
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
    """For each subscription the rows of the matches that end in a chunk, with their links."""
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
        told = [np.concatenate(own), *np.concatenate([links[one] for one in output.detectors], axis=1)]
        for name, values in zip(_LINK, told, strict=True):
            rows = rows.append_column(name, pa.array(values, pa.int64()))
        yield rows


def _reachable_of(matches: Matches, end: Array, after: int) -> Matches:
    """Those of the candidates by which a chain may come in from before, and those that follow in it, in the order of starts."""
    started, first, ended, last = _links(matches, end)
    order = np.lexsort((first, started))
    reachable = _reachable(started[order], first[order], ended[order], last[order], after)
    return some(matches, order[reachable])


def _links(matches: Matches, end: Array) -> Array:
    """When the first and the last event of each match were, and their places in that moment: int64 (4, matches)."""
    firsts, lasts = matches.offsets[:-1], matches.offsets[1:] - 1
    started, ended = matches.times[firsts], matches.times[lasts]
    first = matches.refs[firsts] - np.searchsorted(end, started)
    last = matches.refs[lasts] - np.searchsorted(end, ended)
    return np.stack([started, first, ended, np.where(matches.roles[lasts] < 0, _BEHIND, last)])


@kernel
def _reachable(started, first, ended, last, after):  # type: ignore[no-untyped-def]
    """Which candidates may be in the chain. It comes in by one that began before the chunk, or by the first that did not."""
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
    """Which candidates are in the chain, given all that may be, from the first on."""
    chosen = np.zeros(len(started), np.bool_)
    at = 0
    while at < len(started):
        chosen[at] = True
        at = following(at, len(started), first, started, last, ended)
    return chosen
