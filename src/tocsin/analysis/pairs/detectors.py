"""Detectors that cannot be looked into: a Python callable, or a command that answers lines of JSON with lines of JSON.

A command gets `{"profile": "a ; b", "events": [{"id": "a1", "type": "a", "time": 1}, …]}` on its standard input and answers
`{"matches": [["a1", "b1"], …]}`, or `{"error": "why"}` if it does not know the profile. It is asked many times.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Any

from tocsin.errors import InputError

Detector = Callable[[str, Sequence[Mapping[str, Any]]], Iterable[Iterable[str]]]


class Refused(Exception):  # noqa: N818  (an answer, not a failure)
    """Raised for a profile that a detector does not know; the text says why."""


class Command:
    """A command as a detector; `with Command([...]) as detector` ends it afterwards."""

    def __init__(self, command: Sequence[str], timeout: float = 10.0) -> None:
        self.command = list(command)
        self.timeout = timeout
        self._lines: Queue[str] = Queue()
        try:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
        except OSError as problem:
            raise InputError(
                "no-detector", f"{self.command[0]} cannot be started: {problem.strerror}"
            ) from None
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")  # it has ended

    def __call__(self, profile: str, events: Sequence[Mapping[str, Any]]) -> list[list[str]]:
        """The matches of a profile in some events."""
        question = json.dumps({"profile": profile, "events": list(events)})
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=self.timeout)
        except Empty:
            raise self._failed(f"does not answer within {self.timeout:g} s") from None
        except OSError:
            line = ""
        if not line:
            raise self._failed(f"ended with exit code {self._process.wait()}")
        return self._matches(line)

    def _matches(self, line: str) -> list[list[str]]:
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            raise self._failed(f"answers {line.strip()[:60]!r}, which is not JSON") from None
        match found:
            case {"error": why}:
                raise Refused(str(why))
            case {"matches": list(matches)} if all(isinstance(match, list) for match in matches):
                return [[str(id) for id in match] for match in matches]
            case _:
                raise self._failed(f"answers {line.strip()[:60]!r}")

    def _failed(self, what: str) -> InputError:
        hint = 'it answers each line with {"matches": [["a1", "b1"]]} or {"error": "why"}'
        return InputError("bad-detector", f"{self.command[0]} {what}", hint=hint)

    def __enter__(self) -> Command:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
