"""The record of a micro-batch, which the log, the live view, metrics and listeners all use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from tocsin.errors import counted
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.few import few_matches

# Figures of shards that can be added up.
_SUMS = ("keys", "partial_matches", "waiting", "bytes", "arrived", "late")


@dataclass(frozen=True, slots=True)
class Seen:
    """The record of a micro-batch. Times are texts in ISO 8601, UTC; `time` is when it finished."""

    query: str  # name of the pipeline or of the query
    batch: int
    time: str
    seconds: float
    until: str | None  # the watermark: everything up to it is decided
    sources: Mapping[str, Counters]  # what became of the events of each source
    matches: Mapping[str, int]  # by subscription
    reached: Mapping[str, str | None] = field(default_factory=dict)  # the latest event of each source so far
    silent: Sequence[str] = ()  # sources that are no longer waited for
    reasons: Mapping[str, int] = field(default_factory=dict)  # why events are dead, with counts
    written: Mapping[str, int] = field(default_factory=dict)  # rows written, by folder or table
    state: Mapping[str, int] = field(default_factory=dict)  # sums over all shards
    shards: Sequence[Mapping[str, Any]] = ()  # the figures of each shard
    rules: Sequence[Mapping[str, Any]] = ()  # the outcome of each change of rules
    held: Mapping[str, int] = field(default_factory=dict)  # matches that quiet subscriptions held back
    alerts: Sequence[str] = ()  # the latest matches in words, for who shows them
    gone: Mapping[str, int] = field(
        default_factory=dict
    )  # files deleted before they were read, by their folder

    @property
    def total(self) -> Counters:
        """The sum of the counters of all sources."""
        return sum(self.sources.values(), Counters(0, 0, 0, 0, 0))

    @property
    def lag(self) -> float | None:
        """How many seconds the watermark is behind wall-clock time."""
        return None if self.until is None else _seconds(self.until, self.time)

    @property
    def behind(self) -> dict[str, float | None]:
        """How many seconds each source is behind the most advanced one; None for one that sent nothing."""
        foremost = max((moment for moment in self.reached.values() if moment), default=None)
        return {
            name: None if moment is None or foremost is None else _seconds(moment, foremost)
            for name, moment in self.reached.items()
        }

    def line(self) -> str:
        """The record as a line of JSON, without the figures of each shard and the matches in words."""
        plain = asdict(self)
        del plain["shards"], plain["alerts"]
        for name in ("rules", "held", "gone"):
            if not plain[name]:
                del plain[name]
        return json.dumps(plain)

    def __str__(self) -> str:
        total = self.total
        found = few_matches({name: count for name, count in self.matches.items() if count})
        others = (("late", total.late), ("repeated", total.repeated), ("dead", total.dead))
        aside = "".join(f", {count:,} {what}" for what, count in others if count)
        unheard = [
            name for name, moment in self.reached.items() if moment is None and name not in self.silent
        ]
        noted = "".join(f"; {name} is silent and not waited for" for name in self.silent)
        noted += "".join(f"; nothing was heard of {name} yet" for name in unheard)
        noted += "".join(f"; {deleted_before(count, folder)}" for folder, count in self.gone.items())
        held = sum(self.held.values())
        noted = (f", {held:,} held back" if held else "") + noted
        return f"{counted(total.read, 'event')}{aside}; {found or 'no match'}{noted}"


def deleted_before(count: int, folder: str) -> str:
    """What is said of files that nobody can read any more."""
    files = "1 file was" if count == 1 else f"{count:,} files were"
    return f"{files} deleted from {folder} before being read"


Watcher = Callable[[Seen], None]


def moment(time: datetime | None) -> str | None:
    """Format a moment as it appears in records."""
    return None if time is None else f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def _seconds(earlier: str, later: str) -> float:
    between = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return round(between.total_seconds(), 3)


def decided(figures: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the watermark of all shards that did something."""
    return moment(min((one["until"] for one in figures if one["until"] is not None), default=None))


def summed(figures: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Sum the figures of all shards' states."""
    return {name: sum(one[name] for one in figures) for name in _SUMS} if figures else {}


def heard_of(figures: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Return how far each source that is waited for has come, and which are left out. All shards receive the same."""
    reached = {name: moment(time) for one in figures for name, time in one["reached"]}
    return reached, tuple(sorted({name for one in figures for name in one["left_out"]}))
