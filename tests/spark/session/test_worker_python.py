"""Tocsin in a session that somebody else made, with a Python for the workers that has no Tocsin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import plain_session_driver
from tocsin.spark.session.worker_python import NEEDED, ask_python

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `python3` in it that has no packages at all."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    return folder / "env" / "bin"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> dict[str, Any]:
    """What a program finds that is run by this Python by its path, while another `python3` is first on the PATH."""
    folder = tmp_path_factory.mktemp("plain")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    env["PATH"] = os.pathsep.join([str(bare), env["PATH"]])
    driver = [sys.executable, plain_session_driver.__file__, str(folder), str(bare / "python3")]
    done = subprocess.run(driver, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return answers


def test_a_python_says_what_it_lacks(bare: Path) -> None:
    told = ask_python(str(bare / "python3"), {"PYTHONPATH": ""})
    assert told.lacks == NEEDED
    assert "which has no tocsin, no msgpack" in str(told.fault)
    assert ask_python(sys.executable, {}).fault is None
    assert ask_python(str(bare / "no-python"), {}).fault == "which does not run"


def test_a_wrong_python_is_named_and_replaced_if_nobody_chose_it(found: dict[str, Any], bare: Path) -> None:
    assert found["chosen"].startswith(f"worker-python: Spark's workers run {bare / 'python3'}, which has no ")
    assert "set PYSPARK_PYTHON" in found["chosen"]
    assert len(found["chosen"].splitlines()) <= 2
    assert found["python"] == sys.executable
    assert len(found["found"]) > 100


def test_a_table_that_is_a_plain_scan_of_parquet_is_read_as_the_files_are(found: dict[str, Any]) -> None:
    assert found["routes"] == ["parquet", "parquet"]
    assert found["scan"] == found["found"]
    by_files, by_table = found["chosen scan"]
    assert by_files == by_table
    assert 0 < len(by_files) < len(found["scan"])


def test_a_route_says_which_settings_would_help(found: dict[str, Any]) -> None:
    by_files, by_table = found["advice"]
    assert by_files.startswith("faster with a session of tocsin.local_session()")
    assert by_table.startswith("faster with spark.sql.execution.arrow.maxRecordsPerBatch=20000, spark.sql.")


def test_ten_thousand_comparisons_do_not_overflow_a_small_stack(found: dict[str, Any]) -> None:
    assert len(found["range"]) > 20
    for route in ("parquet", "look-up", "stream look-up"):
        assert found[route] == found["range"], route
    assert len(found["range in spark"]) > 5
    for route in ("spark", "stream spark"):
        assert found[route] == found["range in spark"], route
    assert len(found["short"]) > 2
    assert found["nested"] == found["nested in spark"] == found["short"]


def test_tables_of_other_libraries_go_in_and_out(found: dict[str, Any]) -> None:
    assert found["local"] == [True] * 5


def test_nanoseconds_are_read_and_cut_off(found: dict[str, Any]) -> None:
    by_arrow, by_spark = found["nanos"]
    assert by_arrow == by_spark
    assert len(by_arrow) == 100
    # -50.00000005 s, rounded down to whole microseconds.
    assert found["nanos starts"] == [-50.000001, -48.000001]
