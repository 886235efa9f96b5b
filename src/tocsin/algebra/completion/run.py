"""What evaluating an expression or a machine over a trace gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tocsin.algebra.completion.output import Emitted


class Status(StrEnum):
    """Whether an expression has completed, and how."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Run:
    """The outputs, with the positions (from 1) of the events that caused them, and the final status."""

    outputs: tuple[tuple[int, Emitted], ...]
    status: Status
    completed_at: int | None
