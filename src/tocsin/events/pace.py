"""How far a stream may be decided, told by what its pieces say of time.

A piece of a stream (a micro-batch) says of each source how many events came, when the latest of them ended, and when some of
them did. A pace hears that, piece after piece, and says until when everything is there: what ends by then is decided, timers
up to then run out, and an event that comes all the same is late. It never goes back, and it depends on nothing but what it
heard, so that a stream that is read again is decided again in the same way.

| pace | decided until |
|---|---|
| `within-delay` | the latest end of all, less a delay |
| `best-effort` | the latest end of all; events are used as they come, and none is late |
| `guaranteed` | every declared source has delivered something later |
| `probabilistic` | it is likely enough that every source has |

Paper: 003, "Detection Policies".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tocsin.errors import InputError, did_you_mean
from tocsin.events.certainty import Certainty
from tocsin.events.sources import LONG_AGO
from tocsin.events.stability import policy

MODES = ("within-delay", "best-effort", "guaranteed", "probabilistic")


class Told(NamedTuple):
    """What a piece of a stream says of one source."""

    source: str | None
    events: int
    latest: int  # end, in microseconds
    some: tuple[int, ...] = ()  # ends of some of its events, from which delays are learned


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """What the user asked for; durations are microseconds."""

    mode: str = "within-delay"
    delay: int = 0
    sources: tuple[str, ...] = ()
    threshold: float | None = None
    silent_after: int | None = None  # a source that lags so far behind the foremost is not waited for
    idle_after: int | None = None  # when nothing came for so long, time goes on by the clock on the wall

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            hint = did_you_mean(self.mode, MODES)
            raise InputError("unknown-policy", f"there is no detection policy {self.mode!r}", hint=hint)
        if self.mode in ("guaranteed", "probabilistic"):
            policy(self.mode, self.sources, threshold=self.threshold)  # says what is wrong with them


class Pace:
    """Until when a stream is decided.

    >>> pace = Pace(PaceSettings("guaranteed", sources=("door", "thermometer")))
    >>> pace.hear([Told("door", 1, 5_000_000)]) < 0
    True
    >>> pace.hear([Told("thermometer", 2, 3_000_000)])
    2999999
    """

    def __init__(self, settings: PaceSettings) -> None:
        self.settings = settings
        self.until = LONG_AGO
        self.latest = LONG_AGO  # end of all events so far
        threshold = settings.threshold if settings.mode == "probabilistic" else None
        self._certainty = Certainty(settings.sources, threshold or 1.0)
        self._heard_at: int | None = None  # on the wall, when the last event came

    @property
    def waits_for_sources(self) -> bool:
        """Whether it matters which source an event is from."""
        return self.settings.mode in ("guaranteed", "probabilistic")

    @property
    def left_out(self) -> tuple[str, ...]:
        """The declared sources that have fallen silent and are not waited for."""
        after = self.settings.silent_after
        if after is None or self.latest == LONG_AGO:
            return ()
        return tuple(name for name, reached in self.reached.items() if reached < self.latest - after)

    @property
    def reached(self) -> dict[str, int]:
        """How far each declared source has come."""
        return self._certainty.sources.reached

    def going_on_from(self, other: Pace) -> Pace:
        """This pace from where another is: what was decided stays so, whatever the settings were."""
        self.until, self.latest = other.until, other.latest
        same = (self.settings.mode, self.settings.sources) == (other.settings.mode, other.settings.sources)
        if same and self.settings.threshold == other.settings.threshold:
            self._certainty = other._certainty
        return self

    def hear(self, told: Sequence[Told], clock: int | None = None) -> int:
        """Take in what a piece says of its sources, and the clock on the wall if it brings one; decided until then."""
        # Pieces come in no particular order from the tasks that read them.
        for one in sorted(told, key=repr):
            self.latest = max(self.latest, one.latest)
            if self.waits_for_sources:
                self._note(one)
        if clock is not None:
            if self._heard_at is None or any(one.events for one in told):
                self._heard_at = clock
            self._pass_idle_time(clock)
        self.until = max(self.until, self._decided())
        return self.until

    def _note(self, one: Told) -> None:
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
        """Let time go on by the clock where nothing has come for long enough."""
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
                return self.latest - 1  # more may come of the very same moment, and timers come after it
            case _:
                return self._certain()

    def _certain(self) -> int:
        out = self.left_out
        sources = self._certainty.sources
        # One that is heard of again is waited for again. If all have fallen silent, none is.
        sources.counted = tuple(name for name in sources.reached if name not in out) or tuple(sources.reached)
        return self._certainty.until()
