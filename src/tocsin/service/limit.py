"""Prefilter: of events that repeat each other, only one is used every so often.

Paper: 003, "Composite Event Detection" (repeat notifications of PersonEvents are limited to one a minute).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tocsin.events import Event
from tocsin.values import Value, kind

_ROOM = 10_000


@dataclass
class Limit:
    """Lets an event pass unless one of the same type with the same values passed less than `every` ago.

    Events that lack one of the attributes `by` always pass, and so do events of other types than `type` if it is given.

    >>> from tocsin.events import Interval
    >>> limit = Limit(("name",), every=60)
    >>> seen = [Event(n, frozenset({"Seen"}), Interval(t, t), {"name": "Jean"}) for n, t in enumerate((0, 30, 60))]
    >>> [limit.passes(event) for event in seen]
    [True, False, True]
    """

    by: tuple[str, ...]
    every: int
    type: str | None = None
    _last: dict[tuple[object, ...], int] = field(default_factory=dict, repr=False)
    _room: int = field(default=_ROOM, repr=False)

    def passes(self, event: Event) -> bool:
        """Whether the event is used; the answer counts, so each event is asked for once."""
        values: list[Value] = [event.attributes.get(name) for name in self.by]
        if any(value is None for value in values) or (self.type is not None and self.type not in event.types):
            return True
        who = (event.types, *((kind(value), value) for value in values))
        end = event.interval.end
        if who in self._last and end - self._last[who] < self.every:
            return False
        self._last[who] = end
        if len(self._last) > self._room:
            # What passed long ago limits nothing any more.
            self._last = {who: last for who, last in self._last.items() if end - last < self.every}
            self._room = max(_ROOM, 2 * len(self._last))
        return True
