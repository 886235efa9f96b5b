"""What a command says it is doing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tocsin.cli.display.progress import Activity, activity


class Tracker:
    """Two stages of a job, of which one has just ended."""

    def getActiveStageIds(self) -> list[int]:  # noqa: N802  (as Spark calls it)
        return [1, 2]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802
        return None if stage == 1 else SimpleNamespace(numTasks=8, numCompletedTasks=3)


def test_the_step_the_tasks_and_the_kernels_are_shown(tmp_path: Path) -> None:
    shown: list[str] = []
    compiled = tmp_path / "compiled"
    doing = Activity(shown.append, compiled)
    doing.step("starting Spark")
    doing.follow(SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=Tracker)))
    doing.step("detecting")
    compiled.write_text("kernel.run-55\nkeys.find-3\n")
    doing.refresh()
    assert shown == [
        "starting Spark",
        "detecting: 3 of 8 tasks",
        "detecting: 3 of 8 tasks; compiling kernels for this machine, once (2 so far)",
    ]


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with activity() as doing:
        doing.step("starting Spark")
        doing.refresh()
    assert capsys.readouterr() == ("", "")
