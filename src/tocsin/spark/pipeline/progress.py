"""How a run tells what it does: one step after the other, each with what came of it."""

from __future__ import annotations

import time
from typing import Protocol, TextIO

from tocsin.spark.seen import Seen


class Progress(Protocol):
    """Whoever wants to know. A step begins, and is done before the next begins."""

    def begin(self, step: str) -> None: ...

    def done(self, result: str) -> None: ...

    def batch(self, seen: Seen) -> None:
        """A micro-batch is done, which was a step of its own."""
        ...


class Silent:
    """Nobody wants to know."""

    def begin(self, step: str) -> None:
        pass

    def done(self, result: str) -> None:
        pass

    def batch(self, seen: Seen) -> None:
        pass


class Lines:
    """A plain line for each step once it is done, as for a log."""

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
