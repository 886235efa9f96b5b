"""Temporary folders go with their process, and those of killed processes at the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tocsin.spark.session.run_folder import passing_folder, remove_abandoned

WAITS = """
import sys, time
from tocsin.spark.session.run_folder import run_folder
folder = run_folder("spark")
(folder / "much").mkdir()
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def process(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that has made a folder and waits."""
    made = subprocess.Popen(
        [sys.executable, "-c", WAITS],
        env=os.environ | {"TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert made.stdout is not None
    return made, Path(made.stdout.readline().strip())


def test_a_folder_goes_at_the_end(temporary: Path) -> None:
    with passing_folder("warm") as folder:
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_those_of_the_living_stay_and_those_of_the_killed_go(temporary: Path) -> None:
    ended, _ = process(temporary)
    ended.communicate("")
    assert list(temporary.iterdir()) == [], "its own end removes it"
    alive, kept = process(temporary)
    killed, abandoned = process(temporary)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert abandoned.is_dir()
    with passing_folder("warm"):
        assert (kept / "much").is_dir()
        assert not abandoned.exists()
    alive.communicate("")


def test_nothing_that_tocsin_did_not_make_is_removed(temporary: Path) -> None:
    for name in ("tocsin-spark-notes", "tocsin-chaos-0123abcd", "spark-0123abcd", "tocsin-spark-0123abcd"):
        (temporary / name).mkdir()
        (temporary / name / "file").touch()
    long_ago = time.time() - 10_000
    for name in ("tocsin-spark-89abcdef", "tocsin-spark-01234567"):
        (temporary / name).mkdir()
    os.utime(temporary / "tocsin-spark-89abcdef", (long_ago, long_ago))
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere" / "lock").touch()
    (temporary / "tocsin-spark-76543210").symlink_to(temporary / "elsewhere")
    remove_abandoned()
    left = {one.name for one in temporary.iterdir()}
    assert left == {
        "tocsin-spark-notes",
        "tocsin-chaos-0123abcd",
        "spark-0123abcd",
        "tocsin-spark-0123abcd",  # not empty, and without a lock: not made by this version
        "tocsin-spark-01234567",  # may be about to be locked
        "elsewhere",
        "tocsin-spark-76543210",
    }
    assert (temporary / "elsewhere" / "lock").exists()
