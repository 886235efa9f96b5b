"""The delays of a source, and the probability they imply that none of its events is still in transit.

The delay of an arrival is the time from the end of the event to its arrival, on whatever clock arrivals are
measured by. Suppose that a source delivers in order and that its delays do not drift: then the next delay is
equally likely to fall into any of the `n + 1` gaps between `n` delays seen before. If `k` of them were shorter
than `w`, everything up to `w` ago has arrived with a probability of at least `k / (n + 1)`, whatever the
distribution looks like.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable

REMEMBERED = 10_000  # arrivals of a source; no probability above 0.9999 is ever claimed


class Lateness:
    """The most recent delays of one source.

    >>> delays = Lateness()
    >>> for delay in (1, 2, 2, 40):
    ...     delays.add(delay)
    >>> delays.share_below(10), delays.share_below(1_000)
    (0.6, 0.8)
    """

    def __init__(self, delays: Iterable[int] = ()) -> None:
        self._arrived: deque[int] = deque(delays)
        self._sorted: list[int] = sorted(self._arrived)

    @property
    def delays(self) -> tuple[int, ...]:
        """The delays, oldest first."""
        return tuple(self._arrived)

    def add(self, delay: int) -> None:
        """Record the delay of one more arrival; the oldest one may be dropped for it."""
        if len(self._arrived) == REMEMBERED:
            del self._sorted[bisect_left(self._sorted, self._arrived.popleft())]
        self._arrived.append(delay)
        insort(self._sorted, delay)

    def share_below(self, wait: int) -> float:
        """A lower bound on the probability that the next delay is shorter than `wait`; 0 before any arrival."""
        return bisect_left(self._sorted, wait) / (len(self._sorted) + 1)
