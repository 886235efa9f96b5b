"""Progress of a run: one step after another, each with its outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol, TextIO

from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.record import Seen


class Progress(Protocol):
    """A listener to the steps of a run. A step ends before the next one begins."""

    def begin(self, step: str) -> None: ...

    def done(self, result: str) -> None: ...

    def resume(self, sources: Mapping[str, Counters], matches: Mapping[str, int]) -> None:
        """Take the totals of a stream that goes on, before its next micro-batch."""
        ...

    def batch(self, seen: Seen) -> None:
        """Report a finished micro-batch, which is a step of its own."""
        ...

    @property
    def alerts(self) -> int:
        """How many of the latest matches of a micro-batch are wanted in words."""
        ...


class Silent:
    """Reports nothing."""

    alerts = 0

    def resume(self, sources: Mapping[str, Counters], matches: Mapping[str, int]) -> None:
        pass

    def begin(self, step: str) -> None:
        pass

    def done(self, result: str) -> None:
        pass

    def batch(self, seen: Seen) -> None:
        pass


class Lines:
    """Writes a plain line for each finished step, as for a log."""

    alerts = 0

    def resume(self, sources: Mapping[str, Counters], matches: Mapping[str, int]) -> None:
        """Leave the totals to the report."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._step = ""
        self._began = 0.0

    def begin(self, step: str) -> None:
        self._step, self._began = step, time.monotonic()

    def done(self, result: str) -> None:
        line = f"{self._step}: {result} ({time.monotonic() - self._began:.1f} s)"
        self._stream.write(line + "\n")
        self._stream.flush()

    def batch(self, seen: Seen) -> None:
        self.done(str(seen))
