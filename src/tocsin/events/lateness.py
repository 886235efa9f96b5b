"""How late the arrivals of a source are, and so how likely it is that nothing of it is still under way.

An arrival is late by the time between the moment it tells of and the moment it came, on whatever clock the
arrivals are read off. Suppose that a source delivers in order and that its delays do not drift: then the next
delay is as likely to fall into any of the `n + 1` gaps between `n` delays seen before. If `k` of them were
shorter than `w`, a moment that is `w` ago has been told of with a probability of at least `k / (n + 1)`,
whatever the distribution looks like.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque

REMEMBERED = 10_000  # arrivals of a source; no probability above 0.9999 is ever claimed


class Lateness:
    """The delays of one source, the latest ones only.

    >>> delays = Lateness()
    >>> for delay in (1, 2, 2, 40):
    ...     delays.add(delay)
    >>> delays.share_below(10), delays.share_below(1_000)
    (0.6, 0.8)
    """

    def __init__(self) -> None:
        self._arrived: deque[int] = deque()
        self._sorted: list[int] = []

    def add(self, delay: int) -> None:
        """Learn from one more arrival; the oldest one may be forgotten for it."""
        if len(self._arrived) == REMEMBERED:
            del self._sorted[bisect_left(self._sorted, self._arrived.popleft())]
        self._arrived.append(delay)
        insort(self._sorted, delay)

    def share_below(self, wait: int) -> float:
        """How likely the next delay is shorter than this, at least; 0 as long as nothing is known."""
        return bisect_left(self._sorted, wait) / (len(self._sorted) + 1)
