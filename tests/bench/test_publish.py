"""Measurements side by side, and the figures that are published of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tocsin.bench.compare import ratios, series
from tocsin.bench.events import EventSet
from tocsin.bench.measure import Measurement
from tocsin.bench.publish import publish
from tocsin.bench.table import table
from tocsin.errors import InputError

ONE = Measurement(
    workload="W1",
    engine="tocsin-parquet",
    rows=1_000,
    seconds=2.0,
    events_per_second=500,
    peak_mb=100,
    matches=7,
    span_sum=70,
    agrees=True,
    keys=10,
    types="ABCDEFGH",
    window_ms=60_000,
    patterns=1,
    cores=2,
    round_seconds=(3.0, 2.0),
)
SORT = replace(ONE, engine="spark-sort", seconds=4.0, events_per_second=250, matches=None, span_sum=None)
DUCKDB = replace(ONE, engine="duckdb", seconds=1.0, events_per_second=1_000)
KERNEL = replace(ONE, engine="tocsin-kernel", seconds=0.01, events_per_second=100_000, cores=1)
FAILED = replace(ONE, engine="flink", seconds=None, events_per_second=None, agrees=False, reason="no <Java>")


def test_ratios_are_within_a_workload() -> None:
    other = replace(SORT, workload="W3", seconds=100.0)
    found = ratios([ONE, SORT, DUCKDB, KERNEL, FAILED, other])
    assert [one.of_sort for one in found] == [0.5, None, 0.25, None, None, None]
    assert found[0].faster == {"duckdb": 0.5}
    assert all(not one.faster for one in found[1:])
    assert all(one.of_first is None for one in found)
    assert series([ONE, SORT, KERNEL]) is None


@pytest.mark.parametrize(
    ("along", "second"),
    [
        ("window", replace(ONE, window_ms=6_000_000, seconds=3.0)),
        ("cores", replace(ONE, cores=1, seconds=3.0)),
    ],
)
def test_a_series_is_compared_with_its_first(along: str, second: Measurement) -> None:
    assert series([ONE, second]) == along
    assert [one.of_first for one in ratios([ONE, second])] == [None, 1.5]
    assert {along, "time/first"} <= set(table([ONE, second])[0])


def test_more_patterns_are_a_series() -> None:
    many = [replace(ONE, workload=f"many_{n}", patterns=n, seconds=float(n)) for n in (1, 10)]
    assert series(many) == "patterns"
    assert [one.of_first for one in ratios(many)] == [None, 10.0]


def test_a_table_says_what_failed_and_what_disagrees() -> None:
    headings, rows = table([ONE, SORT, FAILED])
    shown = [dict(zip(headings, row, strict=True)) for row in rows]
    assert [row["seconds"] for row in shown] == ["2.000", "4.000", "failed"]
    assert [row["agrees"] for row in shown] == ["yes", "", "NO"]
    assert "worker MB" not in headings


@pytest.mark.slow
def test_runs_are_added_and_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    events = EventSet(1_000, 10)
    page = publish(folder, events, [ONE, SORT, FAILED])
    publish(folder, events, [ONE, replace(ONE, window_ms=6_000_000)])
    publish(folder, EventSet(1_000, 1, shares=(("A", 1.0), ("B", 3.0))), [ONE])
    publish(folder, events, [replace(ONE, seconds=8.0, events_per_second=125), SORT])
    runs = json.loads((folder / "figures.json").read_text())
    assert set(runs) == {"1000-10", "1000-10-window", "1000-1-A1B3"}
    assert runs["1000-10"]["measurements"][0]["seconds"] == 8.0
    assert {"machine", "versions", "made"} <= set(runs["1000-10"])
    text = page.read_text()
    assert "| W1 | tocsin-parquet | 8.000 | 125 |" in text
    assert "| W1 | tocsin-parquet | 2.000 | 500 | 100 | 7 |" in text
    assert "1,000 events, no key, only A 25 %, B 75 %" in text
    for name in runs:
        assert f"({name}.svg)" in text
        words = {node.text for node in ElementTree.parse(folder / f"{name}.svg").iter()}
        assert any(word and "tocsin-parquet" in word for word in words)


@pytest.mark.slow
def test_a_run_in_which_everything_failed_can_be_published(tmp_path: Path) -> None:
    publish(tmp_path, EventSet(1_000, 10), [FAILED])
    ElementTree.parse(tmp_path / "1000-10.svg")
    assert "failed" in (tmp_path / "figures.md").read_text()


@pytest.mark.parametrize("text", ["[]", "{", '{"x": 1}', '{"x": {"measurements": [{"a": 1}]}}'])
def test_a_file_that_holds_no_figures_is_not_touched(tmp_path: Path, text: str) -> None:
    (tmp_path / "figures.json").write_text(text)
    with pytest.raises(InputError, match="holds no figures"):
        publish(tmp_path, EventSet(1_000, 10), [ONE])
    assert (tmp_path / "figures.json").read_text() == text
