"""The sources of events: the progress of each, which are waited for, and which have gone silent."""

from __future__ import annotations

from collections.abc import Iterable

from tocsin.errors import InputError, did_you_mean

LONG_AGO = -(1 << 62)


class Sources:
    """The latest end that each of several sources has delivered, in microseconds.

    >>> sources = Sources(["door", "thermometer"])
    >>> sources.note("door", 7_000_000)
    >>> sources.silent(now=8_000_000, after=5_000_000)
    ('thermometer',)
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.reached = dict.fromkeys(names, LONG_AGO)
        self.counted = tuple(self.reached)  # those that are waited for

    def check(self, source: str | None) -> str:
        """Return the name of a declared source, or raise an error."""
        if source is None:
            hint = "one of " + ", ".join(self.reached)
            raise InputError("no-source", "an event without a source cannot be waited for", hint=hint)
        if source not in self.reached:
            hint = did_you_mean(source, self.reached)
            raise InputError("unknown-source", f"the source {source!r} is not declared", hint=hint)
        return source

    def note(self, source: str, end: int) -> None:
        """Record that a source delivered an event with this end."""
        self.reached[source] = max(self.reached[source], end)

    @property
    def slowest(self) -> int:
        """The end that every source waited for has reached."""
        return min(self.reached[source] for source in self.counted)

    def silent(self, now: int, after: int) -> tuple[str, ...]:
        """The sources waited for whose latest end is more than `after` before `now`."""
        return tuple(source for source in self.counted if self.reached[source] < now - after)

    def leave_out(self, source: str) -> None:
        """Stop waiting for this source."""
        rest = tuple(other for other in self.counted if other != self.check(source))
        if not rest:
            message = f"{source!r} is the only source left to wait for"
            raise InputError("no-sources", message, hint="advance time instead")
        self.counted = rest
