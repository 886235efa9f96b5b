"""How certain it is that nothing earlier is still under way, from how far the sources have come and how late they are."""

from __future__ import annotations

from collections.abc import Iterable

from tocsin.events.lateness import Lateness
from tocsin.events.sources import LONG_AGO, Sources


class Certainty:
    """What is known of several sources.

    A source delivers in the total order. So one that has delivered something later than an event has nothing
    earlier under way; of one that has not, this is as likely as its delays so far say (`Lateness`). Any other
    source can spoil an event, so each may take the same part of the risk: the chance that none does is the
    product of the least of these likelihoods, once for each of them. (To multiply those of the sources that
    lag is too bold: that a source lags makes it likelier that something is under way.) With a threshold of 1
    only certainty counts, and delays are not looked at.
    """

    def __init__(self, sources: Iterable[str], threshold: float = 1.0, *, same_source: bool = False) -> None:
        self.sources = Sources(sources)
        self.threshold = threshold
        self._same_source = same_source
        self._lateness = {source: Lateness() for source in self.sources.reached}
        self._clock = LONG_AGO

    def hear(self, source: str, end: int, now: int | None = None) -> None:
        """A source has delivered something that ended then. Without `now` the latest end so far is the clock."""
        if self.threshold < 1:
            self._clock = max(self._clock, end if now is None else now)
            self._lateness[source].add(self._clock - end)
        self.sources.note(source, end)

    def of(self, end: int, own: str | None = None) -> float:
        """The chance that nothing that ends by `end` is under way; of the source `own` nothing is."""
        if self._same_source and own is not None:
            return float(self.sources.reached[own] > end)
        others = [source for source in self.sources.counted if source != own]
        behind = [source for source in others if self.sources.reached[source] <= end]
        if not behind or self.threshold == 1:
            return float(not behind)
        worst = min(self._lateness[source].share_below(self._clock - end) for source in behind)
        return float(worst ** len(others))

    def until(self) -> int:
        """The latest moment that is certain enough. Later ones are less certain, so halving finds it."""
        low, high = self.sources.slowest - 1, max(self.sources.slowest, self._clock)
        if self.threshold == 1:
            return low
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.of(middle) >= self.threshold else (low, middle)
        return low
