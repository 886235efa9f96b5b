"""The task of one measuring process and its result, exchanged as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.bench.workloads import Threshold, Workload


@dataclass(frozen=True, slots=True)
class Job:
    """One workload on one engine."""

    workload: Workload
    engine: str
    path: str  # the Parquet file of the events
    rows: int
    keys: int
    window: int  # milliseconds
    cores: int
    rounds: int  # at least
    seconds: float = 0.0  # that all rounds but the first take together at least

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        values = json.loads(text)
        thresholds = tuple(Threshold(**one) for one in values["workload"].pop("thresholds"))
        return cls(**{**values, "workload": Workload(**values["workload"], thresholds=thresholds)})


class Found(NamedTuple):
    """The result of an engine; None for figures it does not compute."""

    matches: int | None
    span_sum: int | None


Round = Callable[[], Callable[[], Found]]
"""One round: what is called is timed; what that returns says what was found, when the clock has stopped."""


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write a result where the parent process expects it."""
    path.write_text(json.dumps(result), encoding="utf-8")
