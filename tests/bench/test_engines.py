"""The engines of the bench, in this process: every workload, on two sizes of windows, against the right answers."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from tocsin.bench.engines import ENGINES, in_flink
from tocsin.bench.events import EventSet, SortedEvents, parquet_file
from tocsin.bench.job import Found, Job
from tocsin.bench.oracle import answer
from tocsin.bench.peers import flink_python
from tocsin.bench.workloads import PAIRS, WORKLOADS, workload

ALL = [*WORKLOADS, "many_5"]


@pytest.fixture(scope="module", params=[1, 60], ids=["no key", "keys"])
def job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job to be changed; its events are dense in what the patterns look at."""
    events = EventSet(6_000, request.param, shares=(("A", 2.0), ("B", 3.0), ("C", 2.0), ("D", 2.0)))
    path = parquet_file(events, tmp_path_factory.mktemp("events"))
    return Job(workload("W1"), "", str(path), events.rows, events.keys, 60_000, 2, 1)


def _found(job: Job, engine: str, name: str, window: int) -> tuple[Found, Found]:
    """What an engine finds, and what it should: no sum of spans if it gives none."""
    wanted = workload(name)
    wanted = replace(wanted, thresholds=wanted.thresholds[::19])  # six of a hundred
    own = Job(wanted, engine, job.path, job.rows, job.keys, window, job.cores, job.rounds)
    found = importlib.import_module(ENGINES[engine].home).prepare(own)()()
    right = answer(wanted, window, SortedEvents(Path(job.path)).columns)
    return found, Found(right.matches, None if found.span_sum is None else right.span_sum)


@pytest.mark.slow
@pytest.mark.parametrize("window", [20_000, 300_000])
@pytest.mark.parametrize("name", ALL)
def test_the_kernels(job: Job, name: str, window: int) -> None:
    found, right = _found(job, "tocsin-kernel", name, window)
    assert found == right
    assert (found.span_sum is None) == WORKLOADS.get(name, WORKLOADS["W1"]).counted


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("duckdb") is None, reason="DuckDB is not installed")
@pytest.mark.parametrize(
    ("name", "engine"),
    [
        (name, engine)
        for name in ALL
        for engine in ("duckdb", "duckdb-asof")
        if not ENGINES[engine].unable(workload(name))
    ],
)
def test_duckdb(job: Job, name: str, engine: str) -> None:
    found, right = _found(job, engine, name, 20_000)
    assert found == right


def test_engines_say_what_they_cannot_do() -> None:
    unable = {
        (name, one)
        for name, engine in ENGINES.items()
        for one in ALL
        if engine.unable(workload(one)) is not None
    }
    anymatch = {"W1_anymatch", "W1_allmatches"}
    flink = {(name, one) for name in ("flink", "flink-streaming") for one in (*anymatch, "W6", "many_5")}
    peers = ("duckdb", "duckdb-asof", "flink", "flink-streaming")
    pairs = {(name, one.name) for name in peers for one in PAIRS}
    assert unable == flink | pairs | {("duckdb-asof", one) for one in anymatch}


def test_the_windows_and_the_choice_of_matches_reach_flink() -> None:
    assert "WITHIN INTERVAL '90' SECOND" in in_flink.query(WORKLOADS["W1"], 90_000)
    assert "WITHIN" not in in_flink.query(WORKLOADS["W1_nowindow"], 90_000)
    assert "SKIP PAST LAST ROW" in in_flink.query(WORKLOADS["W3"], 90_000)
    assert "SKIP TO NEXT ROW" in in_flink.query(WORKLOADS["W3_noskip"], 90_000)


def test_flink_is_there_only_when_it_was_installed_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert flink_python() is None
    assert "--install-peers" in str(ENGINES["flink"].missing())
    folder = tmp_path / "tocsin" / "bench" / "flink-2.3.0"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    assert flink_python() is None
    (folder / "installed").touch()
    assert flink_python() == folder / "bin" / "python"
    assert ENGINES["flink"].missing() is None
