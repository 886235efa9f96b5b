"""`tocsin bench`: real runs over few events, what makes it fail, and options that are refused."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tocsin.bench.events import EventSet, SortedEvents, parquet_file
from tocsin.bench.oracle import answer
from tocsin.bench.workloads import MINUTE, WORKLOADS
from tocsin.cli import main

FIELDS = [
    "workload",
    "engine",
    "rows",
    "seconds",
    "events_per_second",
    "peak_mb",
    "matches",
    "span_sum",
    "agrees",
]
OURS = ("tocsin-kernel", "tocsin-dataframe", "tocsin-parquet", "spark-sort")


def _bench(
    capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str
) -> tuple[int, list[dict[str, Any]], str]:
    """The exit code, the measurements and what was said on the way, of a run with --json."""
    capsys.readouterr()
    code = main(["bench", "--data", str(folder), "--json", *arguments])
    out, err = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err


@pytest.mark.slow
@pytest.mark.spark
def test_all_engines_agree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    engines = [*OURS, *(["duckdb", "duckdb-asof"] if importlib.util.find_spec("duckdb") else [])]
    code, found, err = _bench(
        capsys,
        tmp_path,
        *("--rows", "20000", "--keys", "100", "--workloads", "W1", "--rounds", "2"),
        *("--engines", ",".join(engines)),
    )
    assert code == 0, err
    assert [(one["workload"], one["engine"]) for one in found] == [("W1", e) for e in engines]
    columns = SortedEvents(parquet_file(EventSet(20_000, 100), tmp_path)).columns
    for one in found:
        assert list(one)[: len(FIELDS)] == FIELDS
        assert one["agrees"] is True
        assert one["rows"] == 20_000
        assert one["seconds"] == one["round_seconds"][1]  # the first one warms up
        assert one["events_per_second"] == pytest.approx(20_000 / one["seconds"], abs=1)
        assert one["peak_mb"] is None or one["peak_mb"] > 20
        right = (None, None)
        if one["engine"] != "spark-sort":
            right = answer(WORKLOADS[one["workload"]], MINUTE, columns)
        assert (one["matches"], one["span_sum"]) == right


@pytest.mark.slow
def test_a_disagreement_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pattern forgets that no B may lie between."""
    wrong = replace(WORKLOADS["W4"], text="([A], [C])_{T1=WINDOW} with matches = leftmost")
    monkeypatch.setitem(WORKLOADS, "W4", wrong)
    arguments = (
        "--rows",
        "5000",
        "--keys",
        "10",
        "--workloads",
        "W1,W4",
        "--engines",
        "tocsin-kernel",
        "--rounds",
        "1",
    )
    code, (first, second), err = _bench(capsys, tmp_path, *arguments)
    assert code == 1
    assert (first["agrees"], second["agrees"]) == (True, False)
    assert second["matches"] > 0
    assert f"it found {second['matches']} matches" in second["reason"]
    assert second["reason"] in err


@pytest.mark.slow
def test_an_engine_that_fails_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WORKLOADS, "W4", replace(WORKLOADS["W4"], text="([A], [C"))
    arguments = ("--rows", "1000", "--keys", "10", "--engines", "tocsin-kernel", "--rounds", "1")
    code, (found,), err = _bench(capsys, tmp_path, *arguments, "--workloads", "W4")
    assert code == 1
    assert (found["seconds"], found["matches"], found["agrees"]) == (None, None, False)
    assert "is never closed" in found["reason"]
    assert f"W4 on tocsin-kernel: failed: {found['reason']}" in err
    code, (found,), err = _bench(capsys, tmp_path, *arguments, "--workloads", "W1", "--timeout", "0.01")
    assert code == 1
    assert "--timeout" in found["reason"]


@pytest.mark.slow
def test_short_rounds_are_repeated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("--rows", "1000", "--keys", "10", "--engines", "tocsin-kernel", "--workloads", "W1")
    _, (few,), _ = _bench(capsys, tmp_path, *arguments, "--rounds", "3")
    _, (many,), _ = _bench(capsys, tmp_path, *arguments, "--seconds", "0.5")
    assert len(few["round_seconds"]) == 3
    assert len(many["round_seconds"]) > 20
    assert sum(many["round_seconds"][1:]) > 0.4  # of rounded numbers


@pytest.mark.slow
def test_a_series_is_shown_as_a_table_and_published(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    figures = tmp_path / "figures"
    command = ["bench", "--data", str(tmp_path), "--rows", "5000", "--keys", "10", "--rounds", "1"]
    command += ["--engines", "tocsin-kernel", "--workloads", "W1", "--window", "1min,10min", "--cores", "1,2"]
    assert main([*command, "--publish", str(figures)]) == 0
    out, err = capsys.readouterr()
    assert "time/first" in out
    assert [line.split()[:4] for line in out.splitlines() if "tocsin-kernel" in line] == [
        ["W1", "60", "s", "tocsin-kernel"],
        ["W1", "600", "s", "tocsin-kernel"],
    ]
    assert "W1 on tocsin-kernel, window 600 s, 1 core: " in err
    assert "| W1 | 600 s | tocsin-kernel |" in (figures / "figures.md").read_text()


def test_the_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*WORKLOADS, *OURS, "duckdb", "flink", "W2", "MATCH_RECOGNIZE"))


def test_what_is_not_installed_is_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["bench", "--engines", "flink"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "left out: flink: Flink is not installed: tocsin bench --install-peers" in err
    assert "no engine is left" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rows", "0"], "rows cannot be 0"),
        (["--keys", "-1"], "keys cannot be -1"),
        (["--rounds", "0"], "--rounds cannot be 0"),
        (["--seconds", "0"], "--seconds cannot be 0"),
        (["--timeout", "-1"], "--timeout cannot be"),
        (["--seed", "-1"], "--seed cannot be"),
        (["--types", "XYZ"], "--types cannot be 'XYZ'"),
        (["--workloads", "W9"], "there is no workload 'W9'"),
        (["--workloads", "W2"], "MATCH_RECOGNIZE"),
        (["--workloads", ","], "no workload is named"),
        (["--patterns", "0"], "--patterns cannot be '0'"),
        (["--patterns", "20000"], "--patterns cannot be 20,000"),
        (["--engines", "tocsin-kernle"], "did you mean 'tocsin-kernel'?"),
        (["--engines", ""], "no engine is left"),
        (["--window", "0s"], "--window cannot be '0s'"),
        (["--window", "1min,90ms"], "--window cannot be '90ms'"),
        (["--cores", "two"], "--cores cannot be 'two'"),
    ],
)
def test_options_that_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str, tmp_path: Path
) -> None:
    assert main(["bench", "--data", str(tmp_path), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
