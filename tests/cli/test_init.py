"""`tocsin init`: what it makes works, and what it prints next works when it is typed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tocsin.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert "output-exists" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
    assert main(["init", str(tmp_path / "mine")]) == 2
    assert "mine is a file" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["init", str(tmp_path / "file" / "inside")]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("unwritable: ")
    assert "Traceback" not in shown


def test_what_is_made_is_listed_and_can_be_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "alerts"
    assert main(["init", str(folder)]) == 0
    listed = {line.strip() for line in capsys.readouterr().out.split("\n\n")[0].splitlines()[1:]}
    made = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert made == listed
    (folder / "pipeline.toml").write_text("changed")  # not read-only, wherever the package was read-only


@pytest.mark.slow
@pytest.mark.spark
def test_what_is_printed_next_works_when_it_is_typed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my alerts"]) == 0
    commands = [shlex.split(line) for line in capsys.readouterr().out.split("next:\n")[1].splitlines()]
    assert [words[:2] for words in commands] == [["tocsin", "run"], ["tocsin", "test"]]
    assert main([*commands[0][1:], "--check", "--quiet"]) == 0
    capsys.readouterr()
    assert main(commands[0][1:]) == 0
    shown = capsys.readouterr().out
    assert "room archive: Open, Temp temp=14.0" in shown
    assert shown.count("T1") == 2
    files = (tmp_path / "my alerts" / "alerts").rglob("part-*")
    alerts = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert sorted((alert["rule"], alert["severity"], alert["room"]) for alert in alerts) == [
        ("ColdRoom", "low", "archive"),
        ("LeftOpen", "high", "archive"),
        ("LeftOpen", "high", "kitchen"),
    ]
    assert main(commands[1][1:]) == 0
    assert "12 passed, 0 failed, 0 skipped" in capsys.readouterr().out
