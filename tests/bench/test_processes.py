"""Processes that are watched: their memory, with that of what they start, and their end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tocsin.bench.processes import run_watched

LINUX = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is known only from /proc")

# Starts another Python, which takes 200 MB and then waits.
PARENT = """
import subprocess, sys
child = "import pathlib, os, sys, time; taken = bytearray(200_000_000); taken[::4096] = b'x' * len(taken[::4096])"
child += "; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(float(sys.argv[2]))"
sys.exit(subprocess.run([sys.executable, "-c", child, *sys.argv[1:]]).returncode)
"""


@pytest.mark.slow
def test_the_exit_code_and_what_was_printed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", "import sys; print('out'); sys.exit('why')"]
    assert run_watched(command, None, log, 60).code == 1
    assert set(log.read_text().split()) == {"out", "why"}
    command = [sys.executable, "-c", "import os, sys; sys.exit(int(os.environ['CODE']))"]
    assert run_watched(command, {**os.environ, "CODE": "7"}, log, 60).code == 7


@LINUX
@pytest.mark.slow
def test_memory_counts_all_processes(tmp_path: Path) -> None:
    outcome = run_watched(
        [sys.executable, "-c", PARENT, str(tmp_path / "pid"), "0.5"], None, tmp_path / "log", 60
    )
    assert outcome.code == 0
    assert outcome.peak_mb is not None
    assert 190 < outcome.peak_mb < 400
    assert outcome.peak_worker_mb is None


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize(("argument", "known"), [("pyspark.worker", True), ("-Dx=pyspark.worker", False)])
def test_workers_are_told_from_java_that_knows_their_name(tmp_path: Path, argument: str, known: bool) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "pid"), "0.5", argument]
    worker = run_watched(command, None, tmp_path / "log", 60).peak_worker_mb
    assert (worker is not None and worker > 190) is known


@LINUX
@pytest.mark.slow
def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    outcome = run_watched(
        [sys.executable, "-c", PARENT, str(tmp_path / "pid"), "600"], None, tmp_path / "log", 3
    )
    assert outcome.code is None
    child = Path("/proc") / (tmp_path / "pid").read_text()
    ends = time.monotonic() + 10
    while _runs(child) and time.monotonic() < ends:
        os.sched_yield()
    assert not _runs(child)


def _runs(process: Path) -> bool:
    """Whether a process is there and more than the rest of one that ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind a process to cores")
def test_a_process_and_what_it_starts_have_the_cores_they_are_given(tmp_path: Path) -> None:
    look = "import os, time; time.sleep(0.3); print(len(os.sched_getaffinity(0)), flush=True)"
    program = f"{look}; import subprocess, sys; subprocess.run([sys.executable, '-c', {look!r}])"
    for cores in (1, len(os.sched_getaffinity(0))):
        run_watched([sys.executable, "-c", program], None, tmp_path / "log", 60, cores)
        assert (tmp_path / "log").read_text().split() == [str(cores)] * 2
