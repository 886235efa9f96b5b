"""`tocsin run`: the result on standard output, everything else on standard error, mistakes with exit code 2."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tocsin.cli import main
from tocsin.cli.display.progress import Steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = """\
[[source]]
name = "doors"
format = "csv"
path = "doors.csv"
time_unit = "s"

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open];[Close]"

[[sink]]
format = "console"
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    (tmp_path / "doors.csv").write_text("time,type,room\n1,Open,A\n2,Open,B\nsoon,Open,B\n3,Close,A\n")
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    return tmp_path / "pipeline.toml"


def test_check_starts_nothing(pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(pipeline), "--check"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{pipeline}: no mistakes; subscriptions: Through\n"
    assert printed.err == ""


@pytest.mark.parametrize("options", [[], ["--check"], ["--quiet", "--json"]])
def test_mistakes_go_to_standard_error(
    pipeline: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = PIPELINE.replace("doors.csv", "windows.csv").replace('"console"', '"consol"')
    pipeline.write_text(text)
    assert main(["run", str(pipeline), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"({pipeline}, line 4, column 8)" in printed.err
    assert "hint: did you mean 'console'?" in printed.err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "none.toml")]) == 2
    assert capsys.readouterr().err == f"no-file: there is no file {tmp_path / 'none.toml'}\n"


@pytest.mark.spark
@pytest.mark.slow
def test_the_result_as_json(spark: SparkSession, pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(pipeline), "--quiet", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    report = json.loads(printed.out)
    assert report["matches"] == {"Through": 1}
    none = {"irrelevant": 0, "limited": 0, "late": 0, "repeated": 0}
    assert report["total"] == {"read": 4, "used": 3, "dead": 1, **none}
    assert report["reasons"] == {"the time in 'time' cannot be read": 1}
    assert report["samples"] == {"Through": ["1970-01-01 00:00:01 to 00:00:03  room A: Open, Close"]}


def test_steps_on_a_terminal() -> None:
    shown = StringIO()
    with Steps(Console(file=shown, force_terminal=True, width=80)) as steps:
        steps.begin("reading [doors]")
        steps.done("4 events")
        steps.begin("detecting Through")
        steps.done("1 Through")
    assert "✓ reading [doors]: 4 events (0.0 s)" in shown.getvalue()
    assert "✓ detecting Through: 1 Through (0.0 s)" in shown.getvalue()


def test_steps_leave_the_terminal_as_it_was_when_something_fails() -> None:
    shown = StringIO()

    def fail() -> None:
        with Steps(Console(file=shown, force_terminal=True)) as steps:
            steps.begin("reading")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    hidden, back = "\x1b[?25l", "\x1b[?25h"
    assert shown.getvalue().count(hidden) == shown.getvalue().count(back) >= 1
