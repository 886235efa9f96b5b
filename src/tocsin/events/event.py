"""Primitive and composite events, treated alike: both have types, an interval and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tocsin.events.time import Interval
from tocsin.values import Value

Nested = list["int | str | Nested"]


@dataclass(frozen=True, slots=True)
class Event:
    """A primitive event. `types` holds its type, and every type and set that this type belongs to."""

    id: int | str
    types: frozenset[str]
    interval: Interval
    attributes: Mapping[str, Value] = field(default_factory=dict, hash=False)
    key: Value = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class TimerEvent:
    """A timer that ran out; it belongs to one partial match."""

    name: str
    at: int

    @property
    def interval(self) -> Interval:
        return Interval(self.at, self.at)


@dataclass(frozen=True, slots=True)
class Constituent:
    """One event of a composite event, with the name the pattern gave it."""

    role: str
    event: Event | TimerEvent | Composite


@dataclass(frozen=True, slots=True)
class Composite:
    """A detected pattern: the events that made it up, in the order of detection."""

    type: str
    constituents: tuple[Constituent, ...]
    variables: tuple[tuple[str, Value], ...] = ()
    key: Value | tuple[Value, ...] = None

    @property
    def types(self) -> frozenset[str]:
        return frozenset({self.type})

    @property
    def attributes(self) -> Mapping[str, Value]:
        """The variables the pattern bound, which other patterns read as attributes of this event."""
        return dict(self.variables)

    @property
    def interval(self) -> Interval:
        """From the earliest start to the latest end of the constituents."""
        first, *rest = (c.event.interval for c in self.constituents)
        for interval in rest:
            first = first.union(interval)
        return first

    @property
    def ids(self) -> Nested:
        """Ids of the events, timers by name, nested composites as lists."""
        return [_id(c.event) for c in self.constituents]

    def leaves(self) -> Iterator[Constituent]:
        """Primitive events and timers, nested ones included, in order."""
        for constituent in self.constituents:
            if isinstance(constituent.event, Composite):
                yield from constituent.event.leaves()
            else:
                yield constituent


def _id(event: Event | TimerEvent | Composite) -> int | str | Nested:
    match event:
        case Event():
            return event.id
        case TimerEvent():
            return event.name
        case Composite():
            return event.ids


def total_order(event: Event) -> tuple[int, int, bool, int | str]:
    """Sort key of the total order: end, start, then the unique id. Paper: 003, (7)."""
    return event.interval.end, event.interval.start, isinstance(event.id, str), event.id


def trace(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events in the total order."""
    return tuple(sorted(events, key=total_order))
