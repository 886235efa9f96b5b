"""When an event may be used: at once, when nothing earlier can still arrive, or when that is likely enough.

Events of several sources take different routes, so they arrive late and out of order. A policy receives every
arrival and releases events. It knows nothing of patterns: an item is any value, which the caller gets back.

>>> waiting = policy("guaranteed", ["door", "thermometer"])
>>> waiting.arrive("thermometer", "14 degrees", 2, (2,))
[]
>>> waiting.arrive("door", "opened", 1, (1,)), waiting.arrive("door", None, 3)
(['opened'], ['14 degrees'])

| paper                         | here                                                                  |
|-------------------------------|-----------------------------------------------------------------------|
| best effort detection         | `best-effort`: every event at once, as it arrives                     |
| guaranteed detection          | `guaranteed`: every source has delivered something later (C.3.14)     |
| the paper's own stable event  | `stability="same-source"`: the event's own source has                 |
| heartbeat event               | an arrival without an item                                            |
| probabilistic stability       | `probabilistic`: likely enough that every source has, see `WhenStable`|

Paper: 003, "Detection Policies".
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from tocsin.errors import InputError, did_you_mean
from tocsin.events.certainty import Certainty
from tocsin.events.sources import LONG_AGO, Sources

T = TypeVar("T")
Order = tuple[Any, ...]  # a sort key of the total order; earlier ends come first

MODES = ("best-effort", "guaranteed", "probabilistic")
STABILITIES = ("all-sources", "same-source")


@dataclass(frozen=True, slots=True)
class Late(Generic[T]):
    """An event that arrived too late to be used, and the reason."""

    item: T
    source: str | None
    reason: str


class Policy(Protocol[T]):
    """Decides when events are released. Every arrival has been released, is waiting, or is in `late`."""

    late: list[Late[T]]

    @property
    def watermark(self) -> int:
        """The time by which every event has been released, so that timers up to then may run out."""

    @property
    def waiting(self) -> int:
        """The number of events held back."""

    def arrive(
        self, source: str | None, item: T | None, end: int, order: Order = (), now: int | None = None
    ) -> list[T]:
        """Accept an event (or a heartbeat, without an item) and return the events that may be used now.

        Args:
            end: when the event ended, in microseconds.
            order: the event's place in the total order.
            now: when it arrived, in wall-clock time. Without it the latest end so far is the clock.
        """

    def advance(self, end: int) -> list[T]:
        """Advance the watermark: no event that ends by `end` is still to come. Returns the events released."""

    def silent(self, now: int, after: int) -> tuple[str, ...]:
        """The sources that, at the time `now`, have delivered nothing for longer than `after`."""

    def leave_out(self, source: str) -> list[T]:
        """Stop waiting for this source; its events are still accepted while they are in time. Returns the events released."""


def policy(
    mode: str,
    sources: Iterable[str] = (),
    *,
    stability: str = "all-sources",
    threshold: float | None = None,
    whole_moments: bool = False,
) -> Policy[Any]:
    """The detection policy with this name, over these sources.

    >>> policy("probabilistic", ["door"], threshold=0.95).watermark < 0
    True

    Args:
        whole_moments: release events only when nothing else can end at the same moment. A pattern with named composites or
            parallel parts needs that: the last event of a moment may complete a composite that comes before the others.
            Best effort detection never waits.
    """
    known = tuple(dict.fromkeys(sources))
    if mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise InputError("unknown-policy", f"there is no detection policy {mode!r}", hint=hint)
    if stability not in STABILITIES:
        hint = "one of " + ", ".join(STABILITIES)
        raise InputError("bad-option", f"stability cannot be {stability!r}", hint=hint)
    if mode == "best-effort":
        return BestEffort(known)
    if not known:
        message = f"{mode} detection must know all sources of events"
        raise InputError("no-sources", message, hint="name the sources")
    if mode == "guaranteed":
        return WhenStable(known, same_source=stability == "same-source", whole_moments=whole_moments)
    if threshold is None or not 0 < threshold <= 1:
        raise InputError(
            "bad-threshold",
            f"probabilistic detection cannot work with the threshold {threshold}",
            hint="a probability above 0 and not above 1, such as 0.95",
        )
    return WhenStable(known, threshold, whole_moments=whole_moments)


class BestEffort(Generic[T]):
    """Releases every event as it arrives; a late one shows only in the matches that the detector finds."""

    def __init__(self, sources: Iterable[str] = ()) -> None:
        self.late: list[Late[T]] = []
        self.watermark = LONG_AGO
        self.waiting = 0
        self._sources = Sources(sources)

    def arrive(
        self, source: str | None, item: T | None, end: int, order: Order = (), now: int | None = None
    ) -> list[T]:
        if source in self._sources.reached:
            self._sources.note(source, end)
        # More events may end at this very moment, and timers come after them.
        self.watermark = max(self.watermark, end - 1)
        return [] if item is None else [item]

    def advance(self, end: int) -> list[T]:
        self.watermark = max(self.watermark, end)
        return []

    def silent(self, now: int, after: int) -> tuple[str, ...]:
        return self._sources.silent(now, after)

    def leave_out(self, source: str) -> list[T]:
        self._sources.leave_out(source)
        return []


class WhenStable(Generic[T]):
    """Releases events in the total order, each once it is certain enough that nothing earlier will arrive (`Certainty`).

    The first waiting event is released when that probability reaches the threshold. So at least a share of `threshold` of
    all released events is never overtaken. With a threshold of 1 only certainty counts: guaranteed detection.

    The model assumes that delays do not drift, and that sources are late independently of each other. If one
    congestion delays them all, the product is too low, and events wait longer than they need to. A source with little
    history is waited for: between two sources a threshold of 0.95 takes 19 arrivals.
    """

    def __init__(
        self,
        sources: Iterable[str],
        threshold: float = 1.0,
        *,
        same_source: bool = False,
        whole_moments: bool = False,
    ) -> None:
        self.late: list[Late[T]] = []
        self.watermark = LONG_AGO
        self._certainty = Certainty(sources, threshold, same_source=same_source)
        self._sources = self._certainty.sources
        self._same_source = same_source
        self._whole_moments = whole_moments
        self._heap: list[tuple[Order, int, int, str, T]] = []
        self._numbers = count()  # so that items themselves are never compared
        self._delivered: dict[str, Order] = {}
        self._used: Order = ()

    @property
    def waiting(self) -> int:
        return len(self._heap)

    def arrive(
        self, source: str | None, item: T | None, end: int, order: Order = (), now: int | None = None
    ) -> list[T]:
        source = self._sources.check(source)
        reason = None if item is None else self._too_late(source, end, order)
        if item is not None and reason is not None:
            self.late.append(Late(item, source, reason))
        elif item is not None:
            self._delivered[source] = order
            heapq.heappush(self._heap, (order, next(self._numbers), end, source, item))
        self._certainty.hear(source, end, now)
        return self._release()

    def advance(self, end: int) -> list[T]:
        for source in self._sources.reached:
            self._sources.note(source, end + 1)
        return self._release()

    def silent(self, now: int, after: int) -> tuple[str, ...]:
        return self._sources.silent(now, after)

    def leave_out(self, source: str) -> list[T]:
        self._sources.leave_out(source)
        return self._release()

    def certainty(self, end: int, own: str | None = None) -> float:
        """The probability that no event ending by `end` is in transit; the source `own` is known to have none."""
        return self._certainty.of(end, own)

    def _too_late(self, source: str, end: int, order: Order) -> str | None:
        # Judged by the order of its own source alone, so that the verdict does not depend on how fast the others are.
        if (last := self._delivered.get(source)) is not None and order <= last:
            return "it came twice" if order == last else f"{source!r} had delivered a later event before"
        if end < self._sources.reached[source]:
            return f"{source!r} was past that time already"
        if not self._same_source and (order < self._used or end <= self.watermark):
            return "later events had been used already"
        return None

    def _release(self) -> list[T]:
        released = []
        while self._heap and self._is_stable(*self._heap[0][2:4]):
            self._used, _, _, _, item = heapq.heappop(self._heap)
            released.append(item)
        self.watermark = max(self.watermark, self._certainty.until())
        return released

    def _is_stable(self, end: int, source: str) -> bool:
        # Its own source may still deliver more events of the very same moment.
        own = None if self._whole_moments else source
        return self.certainty(end, own) >= self._certainty.threshold
