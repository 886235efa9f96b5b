"""Chunks that tasks read by themselves find together what the whole finds, also where matches are a chain."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import tocsin
from support.chains import LEFTMOST, TEXTS, chains_that_never_meet, event, random_events, random_patterns
from support.strategies import SECOND
from support.time_chunks import job_of, prepared, rows
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.span import overlap
from tocsin.events import Event
from tocsin.runtime.batch import parquet_chunks as direct
from tocsin.runtime.batch.leftmost_chain import BEHIND, UNKNOWN, beginnings
from tocsin.runtime.batch.partition import Job, detect_partition
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.program import from_bytes
from tocsin.runtime.results.match_rows import match_schema
from tocsin.runtime.transport.time_chunks import ALWAYS, Chunk


class Events:
    """What `direct` reads from files, from a table here."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.first = min(table.column("end").to_pylist()) - 1

    def between(self, after: int, until: int, keys: pa.Array | None = None) -> list[pa.RecordBatch]:
        end = self.table.column("end")
        own = self.table.filter(pc.and_(pc.greater(end, after), pc.less_equal(end, until)))
        if keys is not None:
            own = own.filter(pc.is_in(own.column("key0"), value_set=keys))
        return own.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=self.table.schema)]


def in_chunks(compiled: Compiled, job: Job, table: pa.Table, bounds: list[int]) -> list[str]:
    longest = overlap(compiled, chains=True)
    assert longest is not None
    edges = [ALWAYS.after, *sorted({bound * SECOND for bound in bounds}), ALWAYS.until]
    plan = from_bytes(job.plan)
    found = [
        batch
        for after, until in pairwise(edges)
        for batch in direct._detect_chains(plan, Events(table), job, Chunk(after, until), longest)  # type: ignore[arg-type]
    ]
    return rows(found)


def keyed(compiled: Compiled, events: list[Event]) -> tuple[Job, pa.Table]:
    table = prepared(compiled, events)
    keys = pa.array([str(event.key) for event in events])
    schema = match_schema([pa.field("key", pa.string())], None).serialize().to_pybytes()
    return job_of(compiled)._replace(keys=1, schema=schema), table.append_column("key0", keys)


@pytest.mark.slow
@pytest.mark.parametrize("lead", [2, 5])
@pytest.mark.parametrize("seed", range(60))
def test_chains_are_the_same_in_chunks(seed: int, lead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "LEAD", lead)
    random = Random(seed)
    texts = random.sample(TEXTS, random.choice([1, 1, 2]))
    wanted = {str(n): tocsin.parse(text + LEFTMOST, name=str(n)) for n, text in enumerate(texts)}
    compiled = compile(list(wanted.values()), points=seed % 2 == 0)
    events = random_events(random, 150, random.choice([1, 1, 3]), random.choice([60, 200]))
    job, table = keyed(compiled, events)
    whole = rows(list(detect_partition(job, table.to_batches())))
    for _ in range(4):
        bounds = [random.randrange(200) for _ in range(random.choice([1, 2, 5]))]
        assert in_chunks(compiled, job, table, bounds) == whole, (texts, bounds)


@pytest.mark.slow
def test_chains_of_random_patterns_are_the_same_in_chunks() -> None:
    found = cut = 0
    for compiled, job, table, whole in random_patterns():
        cut, found = cut + 1, found + len(whole)
        for bounds in ([3], [1, 4, 8], [2, 3]):
            assert in_chunks(compiled, job, table, bounds) == whole, (compiled, bounds)
    assert cut > 20
    assert found > 20


def test_a_chain_that_never_meets_another_is_followed_from_the_beginning() -> None:
    compiled, job, table, whole = chains_that_never_meet()
    assert in_chunks(compiled, job, table, [150, 301, 399]) == whole


def test_no_events_and_chunks_without_any() -> None:
    compiled = compile([tocsin.parse(f"([A], [B])_{{T1=3s}}{LEFTMOST}")])
    table, job = prepared(compiled, [event("A", 0, 1), event("B", 1, 2)]), job_of(compiled)
    assert len(in_chunks(compiled, job, table, [-50, 100, 200, 300])) == 1


def matches_of(spans: list[tuple[int, int]]) -> Matches:
    """Matches of two events each, of one key, whose refs are the times."""
    flat = np.array([moment for span in spans for moment in span], np.int64)
    zeros = np.zeros(len(spans), np.int64)
    return Matches(
        zeros, flat[::2], flat[1::2], np.empty((len(spans), 0)), np.arange(len(spans) + 1) * 2,
        flat, np.zeros(len(flat), np.int64), flat, flat,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("candidates", "begins"),
    [
        ([], BEHIND),
        ([(5, 8)], BEHIND),  # perhaps one from before lies over it; but all is over when the horizon comes
        ([(5, 8), (12, 15)], 12),
        ([(5, 13), (12, 15)], BEHIND),  # either, but not both
        ([(5, 13), (12, 25)], UNKNOWN),
        ([(5, 25)], UNKNOWN),
        ([(15, 25)], 15),
        ([(5, 13), (11, 19), (14, 25)], UNKNOWN),
        ([(5, 25), (8, 25), (14, 25)], 14),
        ([(5, 13), (11, 13), (14, 25)], 14),
        ([(25, 28)], BEHIND),
    ],
)
def test_where_a_chain_is_known(candidates: list[tuple[int, int]], begins: int) -> None:
    assert beginnings(matches_of(candidates), 1, 10, 20).tolist() == [begins]
