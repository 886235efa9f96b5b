"""Interval time: when an event happened, with the two orders that the Cambridge paper defines.

Symbols of the paper (003, Appendix A):

| paper      | here                        |
|------------|-----------------------------|
| t^l, t^h   | `start`, `end`              |
| t1 < t2    | `t1.strongly_before(t2)`    |
| t1 ≺ t2    | `t1.before(t2)`             |
| t1 ∪ t2    | `t1.union(t2)`              |

Times are whole microseconds since 1970-01-01 UTC, so that no engine rounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
# Other ways to write the units.
_UNITS = {
    "us": ("µs", "microsecond", "microseconds"),
    "ms": ("msec", "millisecond", "milliseconds"),
    "s": ("sec", "secs", "second", "seconds"),
    "min": ("m", "mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "d": ("day", "days"),
    "w": ("week", "weeks"),
}
UNIT_WORDS = {word: unit for unit, words in _UNITS.items() for word in (unit, *words)}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time, both ends included.

    >>> Interval(1, 3).strongly_before(Interval(5, 8)), Interval(1, 3).strongly_before(Interval(3, 6))
    (True, False)
    """

    start: int
    end: int

    def strongly_before(self, other: Interval) -> bool:
        """Whether this interval ends before the other starts. Paper: 003, (3)."""
        return self.end < other.start

    def before(self, other: Interval) -> bool:
        """Whether this interval precedes the other in the order by end, then start. Paper: 003, (4)."""
        return (self.end, self.start) < (other.end, other.start)

    def union(self, other: Interval) -> Interval:
        """The smallest interval that covers both. Paper: 003, (5)."""
        return Interval(min(self.start, other.start), max(self.end, other.end))


def parse_duration(text: str) -> int | None:
    """Microseconds of a duration such as `5min`, or None if the text is not one.

    >>> parse_duration("5min"), parse_duration("1.5 hours"), parse_duration("soon")
    (300000000, 5400000000, None)
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or match[2] not in UNIT_WORDS:
        return None
    exact = Fraction(match[1]) * MICROSECONDS[UNIT_WORDS[match[2]]]
    return int(exact) if exact.denominator == 1 else None


def format_duration(microseconds: int) -> str:
    """The duration as a person would write it.

    >>> format_duration(300_000_000), format_duration(1500), format_duration(0)
    ('5min', '1.5ms', '0s')
    """
    if microseconds == 0:
        return "0s"
    for unit in ("d", "h", "min", "s", "ms"):
        if microseconds % MICROSECONDS[unit] == 0:
            return f"{microseconds // MICROSECONDS[unit]}{unit}"
    thousandths = f"{microseconds % 1000:03d}".rstrip("0")
    return f"{microseconds // 1000}.{thousandths}ms"
