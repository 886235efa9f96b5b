"""The events of the bench: the same on every machine, in any size, in files that are made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from tocsin.bench.events import SHARES, EventSet, SortedEvents, csv_files, parquet_file, shares_of
from tocsin.errors import InputError


@pytest.mark.parametrize(("rows", "keys"), [(5_000, 1), (5_000, 2), (5_000, 50), (10, 100), (1, 1)])
def test_no_two_events_of_a_key_share_a_time(rows: int, keys: int) -> None:
    table = EventSet(rows, keys).table()
    key, time = table["key"].to_numpy(), table["ts"].to_numpy()
    assert table.num_rows == rows
    assert (np.diff(time) >= 0).all()
    assert set(key) <= set(range(keys))
    assert len(set(zip(key.tolist(), time.tolist(), strict=True))) == rows


def test_a_key_sees_an_event_every_two_seconds() -> None:
    for keys in (1, 20):
        time = EventSet(20_000, keys).table()["ts"].to_numpy()
        assert (time[-1] - time[0]) / 20_000 * keys == pytest.approx(2_000, rel=0.01)


def test_the_seed_decides() -> None:
    events = EventSet(1_000, 10)
    assert events.table().equals(EventSet(1_000, 10).table())
    assert not events.table().equals(EventSet(1_000, 10, seed=1).table())


def test_types_come_as_often_as_they_should() -> None:
    types = EventSet(50_000, 10).table()["type"].to_pylist()
    for name, share in SHARES.items():
        assert types.count(name) / 50_000 == pytest.approx(share, abs=0.01)
    mixed = EventSet(50_000, 10, shares=shares_of("A=5,B=90,C=5")).table()["type"].to_pylist()
    assert set(mixed) == set("ABC")
    assert mixed.count("B") / 50_000 == pytest.approx(0.9, abs=0.01)
    only = EventSet(50_000, 10, shares=shares_of("ABC")).table()["type"].to_pylist()
    assert only.count("B") / 50_000 == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("text", ["", "ABX", "AA", "A=0", "A=x", "A=5,Z=5", "A=5,A=6", "A=inf"])
def test_types_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="--types"):
        shares_of(text)


@pytest.mark.parametrize(("rows", "keys"), [(0, 1), (1, 0), (10**10, 1), (1, 10**9)])
def test_sizes_that_are_none(rows: int, keys: int) -> None:
    with pytest.raises(InputError, match="cannot be"):
        EventSet(rows, keys)


def test_files_are_made_once_and_hold_the_same_events(tmp_path: Path) -> None:
    events = EventSet(1_001, 10)
    path = parquet_file(events, tmp_path / "new" / "folder")
    made = path.stat().st_mtime_ns
    assert parquet_file(events, tmp_path / "new" / "folder").stat().st_mtime_ns == made
    assert pyarrow.parquet.read_table(path).equals(events.table())
    other = parquet_file(EventSet(1_001, 10, shares=shares_of("ABC")), path.parent)
    assert other != path
    folder = csv_files(path)
    rows: list[tuple[int, int, str, float]] = []
    for part in sorted(folder.iterdir()):
        names = pyarrow.csv.ReadOptions(column_names=["key", "ts", "type", "v"])
        rows += [tuple(row.values()) for row in pyarrow.csv.read_csv(part, names).to_pylist()]
    assert sorted(rows) == sorted(tuple(row.values()) for row in events.table().to_pylist())
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, other.name, folder.name}


def test_columns_in_memory_are_sorted_by_key_and_time(tmp_path: Path) -> None:
    events = EventSet(1_000, 10)
    columns = SortedEvents(parquet_file(events, tmp_path)).columns
    rows = sorted(tuple(row.values()) for row in events.table().to_pylist())
    assert columns.key.tolist() == [row[0] for row in rows]
    assert columns.time.tolist() == [row[1] for row in rows]
    assert [columns.names[code] for code in columns.code] == [row[2] for row in rows]
    assert columns.value.tolist() == [row[3] for row in rows]
    assert not columns.is_type("X").any()
