"""Ctrl-C and SIGTERM end every command at any moment, with one line, and leave no process and no folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TOCSIN = "import sys; from tocsin.cli import main; sys.exit(main())"
MARK = "TOCSIN_TEST_OF_INTERRUPTS"  # every process that a command starts has it in its environment
READY = 0.4  # seconds until Python itself, and no line of Tocsin, has started
NORMAL = 20.0  # seconds in which every command has done most of what it does

PIPELINE = """
[[source]]
name = "events"
format = "parquet"
path = "{path}"
{stream}

[[subscription]]
name = "Pairs"
key = "room"
pattern = "[A];[B]"

[[sink]]
format = "parquet"
path = "out"
mode = "overwrite"
"""
STREAM = """
[stream]
checkpoint = "checkpoint"
"""
CASES = """
- name: pairs
  pattern: "[A];[B]"
  events: [[A, 1], [B, 2], [A, 3], [B, 4]]
  matches: [[1, 2], [1, 4], [3, 4]]
"""

COMMANDS = {
    "detect": ("detect", "[A];[B]", "--from", "events/events.parquet", "--key", "room"),
    "run": ("run", "batch.toml"),
    "stream": ("run", "stream.toml"),
    "once": ("run", "stream.toml", "--once"),
    "state": ("state", "checkpoint"),
    "explain": ("explain", "([A], [B in {B, T1}])_{T1=5min}"),
    "check": ("check", "subscriptions.ecl"),
    "warm": ("warm",),
    "bench": ("bench", "--rows", "20000"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Events, pipelines and texts for all commands."""
    folder = tmp_path_factory.mktemp("interrupts")
    first = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        {"time": first + timedelta(seconds=n), "type": "AB"[n % 2], "room": f"r{n % 7}"} for n in range(2000)
    ]
    (folder / "events").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "events" / "events.parquet")
    (folder / "batch.toml").write_text(PIPELINE.format(path="events/events.parquet", stream=""))
    text = PIPELINE.format(path="events", stream="stream = true").replace('mode = "overwrite"\n', "")
    (folder / "stream.toml").write_text(text + STREAM)
    (folder / "subscriptions.ecl").write_text("accumulate{a,b}\n")
    (folder / "tmp").mkdir()
    return folder


def start(folder: Path, words: tuple[str, ...]) -> subprocess.Popen[str]:
    """Start a command as from a terminal: in a session of its own, with a temporary directory of its own."""
    environment = os.environ | {"TMPDIR": str(folder / "tmp"), MARK: str(folder)}
    environment.pop("SPARK_LOCAL_DIRS", None)
    return subprocess.Popen(
        [sys.executable, "-c", TOCSIN, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def left_behind(folder: Path) -> Iterator[str]:
    """The processes that a command of this test has started and that still run."""
    wanted = f"{MARK}={folder}\0".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (entry / "environ").read_bytes():
                yield (entry / "cmdline").read_text().replace("\0", " ")[:200]
        except OSError:
            continue


def interrupted(folder: Path, command: str, after: float, number: signal.Signals) -> None:
    """Send a signal to a command and look at what it says and leaves."""
    process = start(folder, COMMANDS[command])
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        if command == "stream":  # the first one lets the micro-batch end
            try:
                process.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
    # Pipes are read to their end, so nobody who wrote to them is left.
    _, told = process.communicate(timeout=60)
    context = f"{command}, {number.name} after {after:.2f} s: exit {process.returncode}\n{told}"
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert process.returncode in (0, 1, -number, 128 + number), context
    last = told.splitlines()[-1:] or [""]
    if process.returncode == 128 + number:
        assert last[0].endswith(f"tocsin: {word}"), context  # bench begins a line before it knows the result
    assert "Traceback" not in told, context
    assert "Exception" not in told, context
    assert list(left_behind(folder)) == [], context
    if process.returncode >= 0:
        assert [one.name for one in (folder / "tmp").iterdir()] == [], context


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    ("command", "after"), [("run", 1.2), ("detect", 2.4), ("stream", 4.0), ("warm", READY)]
)
def test_ctrl_c_prints_one_line_and_leaves_nothing(folder: Path, command: str, after: float) -> None:
    interrupted(folder, command, after, signal.SIGINT)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("seed", range(60))
def test_so_it_is_at_random_moments_of_all_commands(folder: Path, seed: int) -> None:
    random = Random(seed)
    command = list(COMMANDS)[seed % len(COMMANDS)]
    after = READY + random.random() ** 2 * NORMAL
    interrupted(folder, command, after, random.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM)))


@pytest.mark.slow
@pytest.mark.spark
def test_the_folders_of_a_killed_run_go_at_the_next_start(folder: Path) -> None:
    process = start(folder, COMMANDS["run"])
    until = time.monotonic() + 60
    while not list((folder / "tmp").glob("tocsin-spark-*/blockmgr-*")) and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)  # Java is in the same session, and is killed as well
    process.communicate()
    left = [one.name for one in (folder / "tmp").iterdir()]
    assert len(left) == 1, left
    again = start(folder, COMMANDS["run"])
    _, told = again.communicate(timeout=120)
    assert again.returncode == 0, told
    assert list((folder / "tmp").iterdir()) == []
