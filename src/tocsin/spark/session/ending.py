"""The end of a command by Ctrl-C or SIGTERM, at any moment: one line, and no process left behind.

The handler ends Java and whatever else was started, and raises `KeyboardInterrupt`. What still runs then fails at
once instead of waiting for an answer of Java, and nobody hears of it.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE_SECONDS = 4.0  # Java removes its folders when it is asked to end, which takes it less than a second
_JVM = "tocsin.spark.session.jvm"


class Ending:
    """While it is entered, signals end the command; `outcome` is the message and the exit code of the command."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}
        # In a program that has started Spark itself, the processes that were there before are none of ours.
        self._others = descendants() if "pyspark" in sys.modules else set()

    def __enter__(self) -> Ending:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._obey)
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, trace: TracebackType | None) -> None:
        if self.signal is None:
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def _obey(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        for other in _SIGNALS:
            signal.signal(other, signal.SIG_DFL)  # a second signal ends the process at once
        _say_no_more()
        send(signal.SIGTERM, descendants() - self._others)
        raise KeyboardInterrupt

    def outcome(self) -> tuple[str, int]:
        """End every process that is left; return what to print, and the exit code."""
        _say_no_more()
        end_all(lambda: descendants() - self._others)
        if self.signal == signal.SIGTERM:
            return "tocsin: terminated", 128 + signal.SIGTERM
        return "tocsin: interrupted", 128 + signal.SIGINT


def _say_no_more() -> None:
    """Keep Java, the clients of Spark and other threads from printing how they ended."""
    if _JVM in sys.modules:
        sys.modules[_JVM].say_no_more()
    logging.disable()
    warnings.simplefilter("ignore")
    threading.excepthook = lambda _: None
    sys.unraisablehook = lambda _: None


def end_all(left: Callable[[], set[int]]) -> None:
    """Ask processes to end, and end those that have not after a while."""
    until = time.monotonic() + _PATIENCE_SECONDS
    send(signal.SIGTERM, left())
    while pids := left():
        if time.monotonic() > until:
            send(signal.SIGKILL, pids)
        _reap(pids)
        time.sleep(0.02)


def _reap(pids: set[int]) -> None:
    for pid in pids:
        with suppress(OSError):  # not a child of ours, but of one of them
            os.waitpid(pid, os.WNOHANG)


def send(number: int, pids: set[int]) -> None:
    """Send a signal to processes, as far as they are still there."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def descendants() -> set[int]:
    """Return the processes that this one has started, those that these have started, and so on."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    new = [os.getpid()]
    while new:
        new = [pid for parent in new for pid in children.get(parent, ()) if pid not in found]
        found.update(new)
    return found


def _parents() -> list[tuple[int, int]]:
    """Return every process of the machine with its parent."""
    if Path("/proc/self/stat").exists():
        return [pair for name in os.listdir("/proc") if name.isdigit() and (pair := _parent(name))]
    listed = subprocess.Popen(["ps", "-axo", "pid=,ppid="], stdout=subprocess.PIPE, text=True)
    lines = listed.communicate()[0].splitlines()
    pairs = [(int(pid), int(parent)) for pid, parent in (line.split() for line in lines)]
    return [pair for pair in pairs if pair[0] != listed.pid]


def _parent(name: str) -> tuple[int, int] | None:
    try:
        with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
            return int(name), int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None  # it has ended meanwhile
