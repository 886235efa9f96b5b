"""The watermark of a stream, computed from the marks of time in its micro-batches.

A micro-batch reports for each source how many events came, when the latest of them ended, and the ends of a sample of them.
A pace receives these marks, one micro-batch after another, and returns the watermark: events that end by then are decided,
timers up to then run out, and an event that arrives later all the same is late. The watermark never goes back, and it depends
on nothing but the marks, so that a stream that is read again is decided in the same way.

| pace | decided until |
|---|---|
| `within-delay` | the latest end of all, less a delay |
| `best-effort` | the latest end of all; events are used as they come, and none is late |
| `guaranteed` | every declared source has delivered something later |
| `probabilistic` | it is likely enough that every source has |

Paper: 003, "Detection Policies".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tocsin.errors import InputError, did_you_mean
from tocsin.events.certainty import Certainty
from tocsin.events.sources import LONG_AGO
from tocsin.events.stability import policy

MODES = ("within-delay", "best-effort", "guaranteed", "probabilistic")


class Mark(NamedTuple):
    """The report of a micro-batch about one source."""

    source: str | None
    events: int
    latest: int  # end, in microseconds
    some: tuple[int, ...] = ()  # ends of some of its events, from which delays are learned


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """The settings chosen by the user; durations are microseconds."""

    mode: str = "within-delay"
    delay: int = 0
    sources: tuple[str, ...] = ()
    threshold: float | None = None
    silent_after: int | None = None  # a source this far behind the most advanced one is not waited for
    idle_after: int | None = None  # after this long without events, wall-clock time advances the watermark

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            hint = did_you_mean(self.mode, MODES)
            raise InputError("unknown-policy", f"there is no detection policy {self.mode!r}", hint=hint)
        if self.mode in ("guaranteed", "probabilistic"):
            policy(self.mode, self.sources, threshold=self.threshold)  # raises if they are invalid


class Pace:
    """The watermark of a stream: the time up to which it is decided.

    >>> pace = Pace(PaceSettings("guaranteed", sources=("door", "thermometer")))
    >>> pace.hear([Mark("door", 1, 5_000_000)]) < 0
    True
    >>> pace.hear([Mark("thermometer", 2, 3_000_000)])
    2999999
    """

    def __init__(self, settings: PaceSettings) -> None:
        self.settings = settings
        self.until = LONG_AGO
        self.latest = LONG_AGO  # latest end of all events so far
        threshold = settings.threshold if settings.mode == "probabilistic" else None
        self._certainty = Certainty(settings.sources, threshold or 1.0)
        self._heard_at: int | None = None  # wall-clock time when the last event came

    @property
    def waits_for_sources(self) -> bool:
        """Whether the watermark depends on which source an event is from."""
        return self.settings.mode in ("guaranteed", "probabilistic")

    @property
    def left_out(self) -> tuple[str, ...]:
        """The declared sources that have gone silent and are not waited for."""
        after = self.settings.silent_after
        if after is None or self.latest == LONG_AGO:
            return ()
        return tuple(name for name, reached in self.reached.items() if reached < self.latest - after)

    @property
    def reached(self) -> dict[str, int]:
        """The latest end that each declared source has delivered."""
        return self._certainty.sources.reached

    def going_on_from(self, other: Pace) -> Pace:
        """This pace, continued from the watermark of another: decided events stay decided, whatever its settings were."""
        self.until, self.latest = other.until, other.latest
        same = (self.settings.mode, self.settings.sources) == (other.settings.mode, other.settings.sources)
        if same and self.settings.threshold == other.settings.threshold:
            self._certainty = other._certainty
        return self

    def plain(self) -> dict[str, Any]:
        """The settings and the recorded marks as plain values, as a checkpoint holds them."""
        settings = self.settings
        return {
            "mode": settings.mode,
            "delay": settings.delay,
            "sources": settings.sources,
            "threshold": settings.threshold,
            "silent_after": settings.silent_after,
            "idle_after": settings.idle_after,
            "until": self.until,
            "latest": self.latest,
            "heard_at": self._heard_at,
            "certainty": self._certainty.plain(),
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Pace:
        """The pace that `plain` was called on."""
        names = ("mode", "delay", "sources", "threshold", "silent_after", "idle_after")
        pace = cls(PaceSettings(*(plain[name] for name in names)))
        pace.until, pace.latest, pace._heard_at = plain["until"], plain["latest"], plain["heard_at"]
        pace._certainty.go_on_from(plain["certainty"])
        return pace

    def hear(self, marks: Sequence[Mark], clock: int | None = None) -> int:
        """Record the marks of a micro-batch, and wall-clock time if it carries any; returns the watermark."""
        # Marks come in no particular order from the tasks that read the stream.
        for one in sorted(marks, key=repr):
            self.latest = max(self.latest, one.latest)
            if self.waits_for_sources:
                self._note(one)
        if clock is not None:
            if self._heard_at is None or any(one.events for one in marks):
                self._heard_at = clock
            self._pass_idle_time(clock)
        self.until = max(self.until, self._decided())
        return self.until

    def _note(self, one: Mark) -> None:
        if one.source is None or one.source not in self.reached:
            shown = "without a source" if one.source is None else f"of the source {one.source!r}"
            raise InputError(
                "unknown-source",
                f"events came {shown}, which is not declared",
                hint=f"declare all that are waited for: {', '.join(self.reached)}",
            )
        for end in (*one.some, one.latest):
            self._certainty.hear(one.source, end, now=self.latest)

    def _pass_idle_time(self, clock: int) -> None:
        """Advance by wall-clock time once no event has come for long enough."""
        idle, heard = self.settings.idle_after, self._heard_at
        if idle is not None and heard is not None and clock - heard >= idle:
            self.until = max(self.until, clock - idle - self.settings.delay)

    def _decided(self) -> int:
        if self.latest == LONG_AGO:
            return LONG_AGO
        match self.settings.mode:
            case "within-delay":
                return self.latest - self.settings.delay
            case "best-effort":
                return self.latest - 1  # more events may end at this very moment, and timers come after them
            case _:
                return self._certain()

    def _certain(self) -> int:
        out = self.left_out
        sources = self._certainty.sources
        # A source that delivers again is waited for again. If all have gone silent, none is waited for.
        sources.counted = tuple(name for name in sources.reached if name not in out) or tuple(sources.reached)
        return self._certainty.until()
