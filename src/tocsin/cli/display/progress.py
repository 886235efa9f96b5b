"""The progress of a command on a terminal: the steps of a run with their results, or one line that changes."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.record import Seen

_PAUSE = 0.2  # seconds between two looks at the work
COMPILING = (
    "TOCSIN_COMPILING"  # the file in which workers note the kernels they compile; see `runtime.compiling`
)


class Steps:
    """Shows steps on standard error. A context manager: whatever happens, the terminal is left as it was."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._running = Progress(*columns, console=self._console, transient=True)
        self._step = ""
        self._began = 0.0

    def __enter__(self) -> Steps:
        self._running.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._running.stop()

    alerts = 0

    def resume(self, sources: Mapping[str, Counters], matches: Mapping[str, int]) -> None:
        """Leave the totals to the report."""

    def begin(self, step: str) -> None:
        self._step, self._began = step, time.monotonic()
        self._running.add_task(step, total=None)

    def done(self, result: str) -> None:
        for task in self._running.task_ids:
            self._running.remove_task(task)
        seconds = f"{time.monotonic() - self._began:.1f} s"
        # Text from the file is shown literally: brackets in it are not markup.
        self._console.print(f"✓ {self._step}: {result} ({seconds})", markup=False, highlight=False)

    def batch(self, seen: Seen) -> None:
        self.done(str(seen))


class Activity:
    """The current step of a command, and its progress."""

    def __init__(self, show: Any = None, compiled: Path | None = None) -> None:
        self._show, self._compiled = show, compiled
        self._step = ""
        self._tracker: Any = None

    def step(self, text: str) -> None:
        """Set the description of the current step."""
        self._step = text
        self.refresh()

    def follow(self, session: Any) -> None:
        """Show the tasks of a Spark session from now on."""
        self._tracker = session.sparkContext.statusTracker()

    def refresh(self) -> None:
        """Update the progress that is shown."""
        if self._show is not None:
            self._show(f"{self._step}{self._tasks()}{self._kernels()}")

    def _tasks(self) -> str:
        stages = [] if self._tracker is None else self._tracker.getActiveStageIds()
        found = [self._tracker.getStageInfo(stage) for stage in stages]
        tasks = sum(one.numTasks for one in found if one is not None)
        done = sum(one.numCompletedTasks for one in found if one is not None)
        return f": {done} of {tasks} tasks" if tasks else ""

    def _kernels(self) -> str:
        try:
            count = 0 if self._compiled is None else self._compiled.read_bytes().count(b"\n")
        except FileNotFoundError:
            count = 0
        return f"; compiling kernels for this machine, once ({count} so far)" if count else ""


@contextmanager
def activity() -> Iterator[Activity]:
    """Yield an activity that is shown on standard error if that is a terminal, and leaves nothing behind there."""
    if not sys.stderr.isatty():
        yield Activity()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with (
        tempfile.TemporaryDirectory(prefix="tocsin-activity-") as folder,
        Progress(*columns, console=Console(stderr=True), transient=True) as shown,
    ):
        line = shown.add_task("", total=None)
        compiled = Path(folder) / "compiled"
        # Before Spark starts: its workers inherit it.
        os.environ[COMPILING] = str(compiled)
        doing = Activity(lambda text: shown.update(line, description=text), compiled)
        done = threading.Event()
        looking = threading.Thread(target=_look, args=(doing, done), name="tocsin-activity", daemon=True)
        looking.start()
        try:
            yield doing
        finally:
            done.set()
            looking.join()
            del os.environ[COMPILING]


def _look(doing: Activity, done: threading.Event) -> None:
    while not done.wait(_PAUSE):
        doing.refresh()
