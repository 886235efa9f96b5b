"""The probability that no earlier event is still in transit, from the progress and the delays of the sources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tocsin.events.lateness import Lateness
from tocsin.events.sources import LONG_AGO, Sources


class Certainty:
    """Progress and delays of several sources.

    A source delivers in the total order. So once it has delivered something later than an event, it has nothing
    earlier in transit; until then, the probability of that follows from its past delays (`Lateness`). Any other
    source can overtake an event, so the risk is shared equally: the chance that none does is the smallest of
    these probabilities, raised to the number of those sources. (Multiplying only the probabilities of the sources
    that lag would be too optimistic: a lagging source is more likely to have something in transit.) With a
    threshold of 1 only certainty counts, and delays are ignored.
    """

    def __init__(self, sources: Iterable[str], threshold: float = 1.0, *, same_source: bool = False) -> None:
        self.sources = Sources(sources)
        self.threshold = threshold
        self._same_source = same_source
        self._lateness = {source: Lateness() for source in self.sources.reached}
        self._clock = LONG_AGO

    def plain(self) -> tuple[Any, ...]:
        """Everything recorded so far: ({source: latest end}, sources waited for, clock, {source: its delays})."""
        delays = {source: one.delays for source, one in self._lateness.items()}
        return dict(self.sources.reached), self.sources.counted, self._clock, delays

    def go_on_from(self, plain: tuple[Any, ...]) -> None:
        """Restore what `plain` returned for an instance with the same sources and threshold."""
        reached, counted, clock, delays = plain
        self.sources.reached = {source: reached[source] for source in self.sources.reached}
        self.sources.counted = tuple(counted)
        self._clock = clock
        self._lateness = {source: Lateness(delays[source]) for source in self.sources.reached}

    def hear(self, source: str, end: int, now: int | None = None) -> None:
        """Record that a source delivered an event with this end. Without `now` the latest end so far is the clock."""
        if self.threshold < 1:
            self._clock = max(self._clock, end if now is None else now)
            self._lateness[source].add(self._clock - end)
        self.sources.note(source, end)

    def of(self, end: int, own: str | None = None) -> float:
        """The probability that no event ending by `end` is in transit; the source `own` is known to have none."""
        if self._same_source and own is not None:
            return float(self.sources.reached[own] > end)
        others = [source for source in self.sources.counted if source != own]
        behind = [source for source in others if self.sources.reached[source] <= end]
        if not behind or self.threshold == 1:
            return float(not behind)
        worst = min(self._lateness[source].share_below(self._clock - end) for source in behind)
        return float(worst ** len(others))

    def until(self) -> int:
        """The latest time that is certain enough. Certainty falls with time, so bisection finds it."""
        low, high = self.sources.slowest - 1, max(self.sources.slowest, self._clock)
        if self.threshold == 1:
            return low
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.of(middle) >= self.threshold else (low, middle)
        return low
