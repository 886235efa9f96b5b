"""Steps of a run on a terminal: the current one, and the results of those before it."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tocsin.spark.observe.record import Seen


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
