"""What is to be seen of a stream: one record for each micro-batch, for the log, the live view, metrics and listeners alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from tocsin.spark.counters import Counters

# Figures of shards that can be added up.
_SUMS = ("keys", "partial_matches", "waiting", "bytes", "arrived", "late")


@dataclass(frozen=True, slots=True)
class Seen:
    """A micro-batch. Times are texts in ISO 8601, UTC; `time` is when it was done."""

    query: str  # name of the pipeline or of the query
    batch: int
    time: str
    seconds: float
    until: str | None  # how far everything is decided: the watermark
    sources: Mapping[str, Counters]  # what became of the events of each source
    matches: Mapping[str, int]  # by subscription
    reached: Mapping[str, str | None] = field(default_factory=dict)  # the latest event of each source so far
    silent: Sequence[str] = ()  # sources that are not waited for any longer
    reasons: Mapping[str, int] = field(default_factory=dict)  # why events are dead
    written: Mapping[str, int] = field(default_factory=dict)  # rows, by the folder or table
    state: Mapping[str, int] = field(default_factory=dict)  # figures of all shards together
    shards: Sequence[Mapping[str, Any]] = ()  # and of each shard
    rules: Sequence[Mapping[str, Any]] = ()  # what became of changes of rules

    @property
    def total(self) -> Counters:
        """What became of the events of all sources."""
        return sum(self.sources.values(), Counters(0, 0, 0, 0, 0))

    @property
    def lag(self) -> float | None:
        """Seconds between what is decided and the clock on the wall."""
        return None if self.until is None else _seconds(self.until, self.time)

    @property
    def behind(self) -> dict[str, float | None]:
        """Seconds that each source lies behind the foremost; None for one of which nothing was heard."""
        foremost = max((moment for moment in self.reached.values() if moment), default=None)
        return {
            name: None if moment is None or foremost is None else _seconds(moment, foremost)
            for name, moment in self.reached.items()
        }

    def line(self) -> str:
        """The record as a line of JSON, without the figures of each shard."""
        plain = asdict(self)
        del plain["shards"]
        if not self.rules:
            del plain["rules"]
        return json.dumps(plain)

    def __str__(self) -> str:
        total = self.total
        found = ", ".join(f"{count:,} {name}" for name, count in self.matches.items() if count)
        others = (("late", total.late), ("repeated", total.repeated), ("dead", total.dead))
        aside = "".join(f", {count:,} {what}" for what, count in others if count)
        unheard = [
            name for name, moment in self.reached.items() if moment is None and name not in self.silent
        ]
        noted = "".join(f"; {name} is silent and not waited for" for name in self.silent)
        noted += "".join(f"; nothing was heard of {name} yet" for name in unheard)
        return f"{total.read:,} events{aside}; {found or 'no match'}{noted}"


Watcher = Callable[[Seen], None]


def moment(time: datetime | None) -> str | None:
    """A moment as records have it."""
    return None if time is None else f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def _seconds(earlier: str, later: str) -> float:
    between = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return round(between.total_seconds(), 3)


def decided(figures: Sequence[Mapping[str, Any]]) -> str | None:
    """How far time has come for all shards that did something."""
    return moment(min((one["until"] for one in figures if one["until"] is not None), default=None))


def summed(figures: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What all shards remember together."""
    return {name: sum(one[name] for one in figures) for name in _SUMS} if figures else {}


def heard_of(figures: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """How far each source that is waited for has come, and which of them are left out. All shards hear the same."""
    reached = {name: moment(time) for one in figures for name, time in one["reached"]}
    return reached, tuple(sorted({name for one in figures for name in one["left_out"]}))
