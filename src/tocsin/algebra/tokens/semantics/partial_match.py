"""Partial matches (tokens): the events they have taken, how an event meets their domain, and the order they come in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tocsin.algebra.predicate import evaluate
from tocsin.algebra.tokens.pattern import EventSpec
from tocsin.algebra.tokens.semantics.next_events import Alternative
from tocsin.algebra.tokens.semantics.syntax_places import Place
from tocsin.events import Composite, Constituent, Event, Interval, TimerEvent, Value

FOREVER = 1 << 62
Symbol = Event | Composite
Position = tuple[int, int, int, bool, int | str]  # end, start, composite before primitive, then the id
Bound = tuple[tuple[str, Value], ...]  # variables and their values
_AFTER_ALL: Position = (2 * FOREVER, 0, 0, False, 0)


@dataclass(frozen=True)
class Token:
    """A partial match: where it waits, and what it has taken on the way there."""

    at: Alternative
    taken: tuple[Constituent, ...] = ()
    places: tuple[Position, ...] = ()  # their positions in the total order
    last: Interval | None = None
    bound: Bound = ()
    ends: tuple[tuple[int, int], ...] = ()  # strong link -> end of what came before it
    timers: tuple[tuple[int, int], ...] = ()  # timer -> when it runs out


def event_order(token: Token) -> tuple[Position, ...]:
    """The order of matches: by their events, and one that continues before one that ends there."""
    return (*token.places, _AFTER_ALL)


def identity_of(event: Event | TimerEvent | Composite) -> object:
    """A key that is equal for two constituents if they are the same event."""
    if isinstance(event, Composite):
        return (event.type, tuple(identity_of(c.event) for c in event.constituents))
    return (event.name, event.at) if isinstance(event, TimerEvent) else event.id


def taken_as(
    place: Place, symbol: Symbol | TimerEvent, bound: Bound, timer: int | None
) -> tuple[str, Mapping[str, Value]] | None:
    """The role and the bindings with which an atom takes an event, or None."""
    if isinstance(symbol, TimerEvent):
        return (symbol.name, dict(bound)) if timer in place.domain.timers else None
    if _matching(place.domain.excepted, symbol, bound) is not None:
        return None
    return _matching(place.domain.taken, symbol, bound)


def in_domain(at: Alternative, symbol: Symbol | TimerEvent, bound: Bound, timer: int | None) -> bool:
    """Whether an event is in the domain of a place. A running timer is in it everywhere (C.3.11)."""
    if isinstance(symbol, TimerEvent):
        return any(timer in entry.place.running for entry in at.entries)
    return any(_matching(entry.place.domain.relevant, symbol, bound) is not None for entry in at.entries)


def _matching(
    specs: tuple[EventSpec, ...], symbol: Symbol, bound: Bound
) -> tuple[str, Mapping[str, Value]] | None:
    """The name of the first specification that an event satisfies, and the variables after taking it."""
    for spec in specs:
        if spec.name in symbol.types:
            gained = dict(bound)
            if spec.filter is None or evaluate(spec.filter, symbol.attributes, gained) is True:
                return spec.name, gained
    return None


def leaf_positions(composite: Composite) -> tuple[list[tuple[object, ...]], list[tuple[int, ...]]]:
    """The positions of the events of a composite in the total order, and their positions in the composite."""
    leaves = list(_leaves(composite, ()))
    return [position for position, _ in leaves], [path for _, path in leaves]


def _leaves(
    composite: Composite, inside: tuple[int, ...]
) -> Iterator[tuple[tuple[object, ...], tuple[int, ...]]]:
    for place, constituent in enumerate(composite.constituents):
        event, path = constituent.event, (*inside, place)
        match event:
            case Composite():
                yield from _leaves(event, path)
            case TimerEvent():
                yield (event.at, event.at, 2, True, event.name), path
            case Event():
                yield position_of(event), path


def position_of(event: Event) -> Position:
    """The position of a primitive event in the total order."""
    return event.interval.end, event.interval.start, 1, isinstance(event.id, str), event.id
