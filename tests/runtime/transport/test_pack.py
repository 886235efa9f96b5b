"""Rows are packed by shard and come out again, equal keys together, whatever task packed them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from tocsin.runtime.transport import pack as packing
from tocsin.runtime.transport.pack import PACKED, pack_by_key, pack_table, shard_of, unpack, unpack_tables

KEYS = [
    pa.array([3, 1, 3, None, 2], pa.int32()),
    pa.array(["p", "", "p", None, "a longer text"], pa.string()),
    pa.array([0.0, 1.5, -0.0, float("nan"), 0.0], pa.float64()),
    pa.array([True, False, True, None, True]),
    pa.array([b"x", b"xy", b"x", None, b""], pa.binary()),
    pa.array([datetime.date(2024, 1, day) for day in (1, 2, 1, 3, 4)]),
    pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("1.50"), None, Decimal("0.00")]),
]


def table(rows: int, *, kinds: int = 3) -> pa.Table:
    numbers = np.arange(rows)
    return pa.table(
        {
            "end": pa.array(numbers, pa.int64()),
            "key0": pa.array(numbers * 7919 % 101, pa.int32()),
            "id": pa.array(numbers, pa.int64()),
            "type": pa.array([f"T{number % kinds}" for number in numbers.tolist()]),
            "bits0": pa.array(numbers % 4, pa.int8()),
        }
    )


def rows(tables: list[pa.Table]) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for one in tables for row in one.to_pylist())


@pytest.mark.parametrize("key", KEYS, ids=lambda key: str(key.type))
def test_equal_keys_are_in_one_shard_in_whatever_batch_they_come(key: pa.Array) -> None:
    whole = shard_of(pa.table({"key0": key}), 1000, 1)
    assert whole[0] == whole[2]
    assert 0 <= whole.min() <= whole.max() < 1000
    alone = [shard_of(pa.table({"key0": key[i : i + 1]}), 1000, 1)[0] for i in range(len(key))]
    assert alone == whole.tolist()
    chunked = pa.chunked_array([key[3:], key[:3]])
    assert shard_of(pa.table({"key0": chunked}), 1000, 1).tolist() == [*whole[3:], *whole[:3]]


def test_the_width_of_a_number_and_how_a_text_is_coded_make_no_difference() -> None:
    wide = shard_of(pa.table({"key0": pa.array([1, -5], pa.int64())}), 50, 1)
    assert shard_of(pa.table({"key0": pa.array([1, -5], pa.int8())}), 50, 1).tolist() == wide.tolist()
    texts = pa.array(["p", "q", "p"])
    plain = shard_of(pa.table({"key0": texts}), 50, 1)
    assert shard_of(pa.table({"key0": texts.dictionary_encode()}), 50, 1).tolist() == plain.tolist()
    assert shard_of(pa.table({"key0": texts.cast(pa.large_string())}), 50, 1).tolist() == plain.tolist()


def test_the_order_of_key_columns_counts() -> None:
    a, b = pa.array(range(200)), pa.array(range(200, 400))
    one = shard_of(pa.table({"key0": a, "key1": b}), 1000, 2)
    other = shard_of(pa.table({"key0": b, "key1": a}), 1000, 2)
    assert (one != other).mean() > 0.9


@pytest.mark.parametrize("shards", [1, 2, 7, 200])
def test_keys_are_spread_evenly(shards: int) -> None:
    for keys in (pa.array(range(20_000), pa.int32()), pa.array([f"device {n}" for n in range(20_000)])):
        counts = np.bincount(shard_of(pa.table({"key0": keys}), shards, 1), minlength=shards)
        # Six standard deviations of a fair dice.
        assert abs(counts - 20_000 / shards).max() <= 6 * np.sqrt(20_000 / shards)


def test_what_is_packed_comes_out_again_and_each_key_once() -> None:
    events = table(5000)
    packed = list(pack_by_key(8, 1, events.to_batches(max_chunksize=700)))
    assert all(batch.schema == PACKED for batch in packed)
    assert rows([pa.Table.from_batches([batch]) for batch in unpack(packed)]) == rows([events])
    homes: dict[int, set[int]] = {}
    for batch in packed:
        for shard, own in zip(batch.column("shard").to_pylist(), unpack_tables([batch]), strict=True):
            for key in own.column("key0").unique().to_pylist():
                homes.setdefault(key, set()).add(shard)
    assert len(homes) == 101
    assert all(len(shards) == 1 for shards in homes.values())


def test_rows_without_a_key_are_all_in_shard_0() -> None:
    (batch,) = pack_table(table(10), 5, 0)
    assert batch.column("shard").to_pylist() == [0]


def test_large_shards_are_cut_and_large_tables_packed_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "BLOB_BYTES", 2000)
    monkeypatch.setattr(packing, "UNIT_BYTES", 9000)
    events = table(2000)
    batches = list(pack_table(events, 2, 1))
    assert len(batches) > 3
    tables = list(unpack_tables(batches))
    assert max(one.nbytes for one in tables) < 4000
    assert rows(tables) == rows([events])


def test_few_types_travel_as_numbers_and_many_as_text() -> None:
    few, many = (next(unpack_tables(pack_table(table(3000, kinds=kinds), 1, 1))) for kinds in (3, 2000))
    assert pa.types.is_dictionary(few.schema.field("type").type)
    assert many.schema.field("type").type == pa.string()
