"""`tocsin explain PATTERN --from FILE`: the route by which the events of a file would reach the pattern."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_columns_without_a_file_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "[Open]", "--key", "room"]) == 2
    assert "bad-option: --key describes events, and there are none" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "[Open]", "--from", "nowhere.parquet"]) == 2
    assert "no-file" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.slow
def test_the_route_of_a_file_is_a_section(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"type": "Open", "time": second, "room": "A"} for second in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "doors.parquet")
    (tmp_path / "doors.csv").write_text("type,time,room\nOpen,1,A\n")
    asked = ["--time", "time", "--time-unit", "s", "--key", "room"]
    assert main(["explain", "[Open];[Close]", "--from", str(tmp_path / "doors.parquet"), *asked]) == 0
    printed = capsys.readouterr().out
    assert "\nroute\n  taken" in printed
    assert "parquet: tasks read Parquet files with Arrow" in printed
    assert "not parquet in chunks" in printed
    assert main(["explain", "[Open];[Close]", "--from", str(tmp_path / "doors.csv"), *asked, "--json"]) == 0
    sections = {one["title"]: one["part"] for one in json.loads(capsys.readouterr().out)["sections"]}
    assert sections["route"]["taken"] == "by key"
    assert sections["route"]["not_taken"]["parquet"] == "the table is not read from Parquet files"


@pytest.mark.spark
@pytest.mark.slow
def test_a_file_of_events_and_a_pipeline_do_not_go_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pipeline.toml").write_text("")
    assert main(["explain", str(tmp_path / "pipeline.toml"), "--from", "doors.csv"]) == 2
    assert "--from does not apply to a pipeline" in capsys.readouterr().err
