"""A partition gives the same matches in whatever pieces its rows come, and however a large key is cut."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import tocsin
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.runtime.batch import partition
from tocsin.runtime.batch.partition import Job, detect_partition, detect_shards, sort_events
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.program import to_bytes
from tocsin.runtime.results.match_rows import match_schema
from tocsin.runtime.transport.pack import pack_by_key

SCHEMA = match_schema([pa.field("key", pa.int32())], None)
PATTERN = "([A], [B][C])_{T1=60s}"


def table(compiled: Compiled, rows: int, keys: int, *, seed: int = 1) -> pa.Table:
    """Random events of three types; the first key has most of them, and some end at the same moment."""
    chance = np.random.default_rng(seed)
    kinds = np.array(["A", "B", "C"])[chance.integers(0, 3, rows)]
    bits = np.zeros(rows, np.int64)
    for bit, test in compiled.tests:
        bits |= (kinds == test.type).astype(np.int64) << bit  # type: ignore[union-attr]
    key = np.where(chance.random(rows) < 0.7, 0, chance.integers(0, keys, rows))
    return pa.table(
        {
            "end": pa.array(chance.integers(0, rows, rows) * 500_000),
            "key0": pa.array(key.astype(np.int32)),
            "id": pa.array(np.arange(rows)),
            "type": pa.array(kinds),
            "bits0": pa.array(bits.astype(np.int8)),
        }
    )


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile([tocsin.parse(PATTERN)])


@pytest.fixture(scope="module")
def job(compiled: Compiled) -> Job:
    return Job(to_bytes(compiled.plan), SCHEMA.serialize().to_pybytes(), 1, MAX_TOKENS)


def rows(batches: list[pa.RecordBatch]) -> list[str]:
    return sorted(map(repr, pa.Table.from_batches(batches).to_pylist()))


def test_pieces_may_come_packed_and_in_any_order(compiled: Compiled, job: Job) -> None:
    events = table(compiled, 1500, 9)
    whole = rows(list(detect_partition(job, events.to_batches())))
    assert len(whole) > 100
    packed = [b for piece in events.to_batches(max_chunksize=400) for b in pack_by_key(3, 1, [piece])]
    random.Random(5).shuffle(packed)
    assert rows(list(detect_shards(job, packed))) == whole


def test_types_as_text_and_by_number_meet(compiled: Compiled, job: Job) -> None:
    events = table(compiled, 300, 3)
    whole = rows(list(detect_partition(job, events.to_batches())))
    first, second = events.slice(0, 100), events.slice(100)
    coded = second.set_column(3, "type", second.column("type").dictionary_encode())
    assert rows(list(detect_partition(job, [*first.to_batches(), *coded.to_batches()]))) == whole


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_a_key_with_most_of_the_events_is_fed_in_slices(
    compiled: Compiled, job: Job, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    events = table(compiled, 400, 5)
    whole = rows(list(detect_partition(job, events.to_batches())))
    monkeypatch.setattr(partition, "SLICE", size)
    assert rows(list(detect_partition(job, events.to_batches()))) == whole


def test_slices_hold_whole_keys_or_whole_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "SLICE", 4)
    end = np.array([1, 2, 3, 1, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 1])
    found = list(partition._slices(np.array([0, 3, 14, 15]), end))
    assert found == [(0, 3, True), (3, 9, False), (9, 13, False), (13, 14, True), (14, 15, True)]


def test_much_text_gets_wide_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_WIDE", 10)
    batch = pa.record_batch(
        {
            "end": pa.array([2, 1]),
            "id": pa.array(["p", "q"]),
            "type": pa.array(["A", "B"]),
            "attributes": pa.array([{"s": "one", "l": ["x"]}, {"s": None, "l": []}]),
        }
    )
    found = sort_events([batch], 0).events
    assert found.schema.field("attributes").type.field("s").type == pa.large_string()
    assert found.column("attributes").to_pylist() == [{"s": None, "l": []}, {"s": "one", "l": ["x"]}]


def test_a_large_key_goes_on_where_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two slices of a key there may be no partial match at all; the events of the second are no less its own."""
    compiled = compile([tocsin.parse("([A], [B])_{T1=600ms}")])
    events = table(compiled, 900, 3)
    for keys in (0, 1):
        schema = match_schema([pa.field("key", pa.int32())] * keys, None)
        job = Job(to_bytes(compiled.plan), schema.serialize().to_pybytes(), keys, MAX_TOKENS)
        whole = rows(list(detect_partition(job, events.to_batches())))
        assert len(whole) > 50
        for size in (3, 10, 100):
            monkeypatch.setattr(partition, "SLICE", size)
            assert rows(list(detect_partition(job, events.to_batches()))) == whole
        monkeypatch.undo()
