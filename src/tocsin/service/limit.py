"""Prefilter: rate-limits events that repeat each other.

Paper: 003, "Composite Event Detection" (repeat notifications of PersonEvents are limited to one a minute).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tocsin.events import Event
from tocsin.values import identity

_ROOM = 10_000


@dataclass
class Limit:
    """Lets an event pass unless one of the same type with the same values passed less than `every` ago.

    It concerns events of the type `type`, or of all types, that have all the attributes `by`.
    """

    by: tuple[str, ...]
    every: int
    type: str | None = None
    _last: dict[tuple[object, ...], int] = field(default_factory=dict, repr=False)
    _room: int = field(default=_ROOM, repr=False)

    def concerns(self, event: Event) -> bool:
        """Whether the limit applies to this event."""
        of_type = self.type is None or self.type in event.types
        return of_type and all(event.attributes.get(name) is not None for name in self.by)

    def passes(self, event: Event) -> bool:
        """Whether the event is used. A passing event is recorded, so call this once for each event."""
        values = [event.attributes[name] for name in self.by]
        who = (event.types, *map(identity, values))
        end = event.interval.end
        if who in self._last and end - self._last[who] < self.every:
            return False
        self._last[who] = end
        if len(self._last) > self._room:
            # Events that passed long ago no longer limit anything.
            self._last = {who: last for who, last in self._last.items() if end - last < self.every}
            self._room = max(_ROOM, 2 * len(self._last))
        return True


def passes(limits: Iterable[Limit], event: Event) -> bool:
    """Whether the first limit that concerns an event lets it pass; if none does, it passes.

    >>> from tocsin.events import Interval
    >>> limits = [Limit(("name",), every=60)]
    >>> seen = [Event(n, frozenset({"Seen"}), Interval(t, t), {"name": "Jean"}) for n, t in enumerate((0, 30, 60))]
    >>> [passes(limits, event) for event in seen]
    [True, False, True]
    """
    return next((limit.passes(event) for limit in limits if limit.concerns(event)), True)
