"""A process and its descendants, watched from outside: their memory is measured, and all of them can be ended.

Memory is read from Linux's /proc; elsewhere it is unknown.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_EVERY = 0.1  # seconds between two samples
_WORKER = (
    b"pyspark.worker"  # an argument of Spark's Python workers; the options of its Java name modules, too
)


class Outcome(NamedTuple):
    """How a process ended: its exit code, None if it timed out, and the memory it used."""

    code: int | None
    peak_mb: int | None  # of all its processes together
    peak_worker_mb: int | None  # of the largest Python worker of Spark


@dataclass
class _Memory:
    """The peak of the memory seen, in bytes. Memory that processes share counts in each of them."""

    whole: int = 0
    worker: int = 0

    def look(self, root: int) -> None:
        resident = {}
        for process in _descendants(root):
            with contextlib.suppress(OSError, IndexError, ValueError):  # it may have ended meanwhile
                pages = int((_PROC / str(process) / "statm").read_text().split()[1])
                resident[process] = pages * os.sysconf("SC_PAGE_SIZE")
        self.whole = max(self.whole, sum(resident.values()))
        for process, size in resident.items():
            if size > self.worker and _is_worker(process):
                self.worker = size


def run_watched(
    command: Sequence[str],
    environment: Mapping[str, str] | None,
    log: Path,
    timeout: float,
    cores: int | None = None,
) -> Outcome:
    """Run a command to its end, or until it times out; its output goes to a file.

    Args:
        cores: how many cores it and its descendants may use, on systems that can restrict it; all by default.
    """
    memory, ended = _Memory(), threading.Event()
    with log.open("wb") as output:
        started = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        if cores is not None and hasattr(os, "sched_setaffinity"):
            # Immediately, so that its descendants are restricted too: Java has threads beside those of Spark's tasks.
            os.sched_setaffinity(started.pid, sorted(os.sched_getaffinity(0))[:cores])

        def watch() -> None:
            while not ended.wait(_EVERY):
                memory.look(started.pid)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        code: int | None
        try:
            code = started.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            ended.set()
            watching.join()
            if started.poll() is None:
                _end(started)
    known = memory.whole > 0
    return Outcome(
        code,
        memory.whole // 2**20 if known else None,
        memory.worker // 2**20 if memory.worker else None,
    )


def _end(started: subprocess.Popen[bytes]) -> None:
    """End a process and its descendants, which may have left its group."""
    for process in reversed(_descendants(started.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        started.kill()
    started.wait()


def _descendants(root: int) -> list[int]:
    """A process and its descendants, parents first; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    for status in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            # The name in brackets may contain anything, so the fields are counted from its end.
            parent = int(status.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found = [root] if (_PROC / str(root)).exists() else []
    for process in found:
        found += children.get(process, [])
    return found


def _is_worker(process: int) -> bool:
    try:
        return _WORKER in (_PROC / str(process) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
