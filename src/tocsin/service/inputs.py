"""The input of a subscription: events with its key, and composite events disguised as primitive ones.

Paper: 003, "Publish/Subscribe Infrastructure Support" (composite events are published disguised as primitive ones).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tocsin.events import Composite, Constituent, Event, TimerEvent, Value
from tocsin.values import Time

# Ids of disguised composites lie below all others: a composite comes before a primitive event of equal time
# (C.3.13). Composites of parallel parts inside a pattern come before both.
_LOWEST, _STRIDE = -(1 << 62), 1 << 40


@dataclass(frozen=True, slots=True)
class Input(Event):
    """An event as a detector sees it; `original` is what was published."""

    original: Event | Composite = field(kw_only=True)


def as_input(event: Event) -> Input:
    """A published event as input. Patterns may use its source like any attribute."""
    if isinstance(event, Input):
        return event
    known = event.attributes if event.source is None else {"source": event.source, **event.attributes}
    return Input(event.id, event.types, event.interval, known, None, event.source, original=event)


def disguised(composite: Composite, source: str, rank: tuple[int, int], attributes: Sequence[str]) -> Input:
    """A composite event as an event that other subscriptions can use. It has its variables, and its key, as attributes.

    Args:
        rank: the number of its subscription and its own number there; it decides the order at equal times.
        attributes: the names of the attributes its key was made of.
    """
    key = dict(zip(attributes, key_values(composite.key, attributes), strict=True))
    number = _LOWEST + rank[0] * _STRIDE + rank[1]
    known = {**key, **composite.attributes}
    return Input(number, composite.types, composite.interval, known, None, source, original=composite)


def keyed(event: Input, attributes: Sequence[str]) -> Input | None:
    """The event with the value of its key, or None if it lacks one of the attributes."""
    values = [event.attributes.get(name) for name in attributes]
    if any(value is None for value in values):
        return None
    return replace(event, key=values[0] if len(values) == 1 else _as_text(values)) if values else event


def _as_text(values: Sequence[Value]) -> str:
    """Several values as one: equal texts for equal values, and for no others."""
    return json.dumps([_plain(value) for value in values])


def _plain(value: Value) -> object:
    """A value as JSON has it: 2.0 is the same key as 2, but not the same as '2'."""
    if isinstance(value, Time):
        return {"time": value.micros}
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        return int(value)
    if isinstance(value, Decimal):
        return float(value) if float(value) == value else {"decimal": f"{value:f}".rstrip("0")}
    return value


def _from_plain(found: dict[str, Any]) -> Value:
    return Time(found["time"]) if "time" in found else Decimal(found["decimal"])


def key_values(key: Value | tuple[Value, ...], attributes: Sequence[str]) -> tuple[Value, ...]:
    """The key of a composite event as a tuple, however many attributes it is made of."""
    return key if isinstance(key, tuple) else (key,) if attributes else ()


def opened(composite: Composite, attributes: Sequence[str]) -> Composite:
    """A detected composite event with its inputs replaced by the published events."""
    constituents = tuple(Constituent(c.role, _original(c.event, attributes)) for c in composite.constituents)
    key = composite.key
    if len(attributes) > 1:
        # A timer has no attributes, and may be the only constituent where matches are only counted.
        first = next((c.event for c in composite.leaves() if isinstance(c.event, Input)), None)
        if first is None:
            key = tuple(json.loads(str(key), object_hook=_from_plain))
        else:
            key = tuple(first.attributes[name] for name in attributes)
    return replace(composite, constituents=constituents, key=key)


def _original(
    event: Event | TimerEvent | Composite, attributes: Sequence[str]
) -> Event | TimerEvent | Composite:
    match event:
        case Input():
            return event.original
        case Composite():
            return opened(event, attributes)
        case _:
            return event


Position = tuple[int, int, int, bool, int | str]


def composite_order(composite: Composite) -> tuple[int, int, list[Position], list[tuple[int, ...]]]:
    """Sort key of composite events: the total order, then the order of their events, then where they stand."""
    interval = composite.interval
    leaves = list(_leaves(composite, ()))
    return (
        interval.end,
        interval.start,
        [_position(event) for event, _ in leaves],
        [path for _, path in leaves],
    )


def _leaves(
    composite: Composite, inside: tuple[int, ...]
) -> Iterator[tuple[Event | TimerEvent, tuple[int, ...]]]:
    for place, constituent in enumerate(composite.constituents):
        event, path = constituent.event, (*inside, place)
        if isinstance(event, Composite):
            yield from _leaves(event, path)
        else:
            yield event, path


def _position(event: Event | TimerEvent) -> Position:
    if isinstance(event, TimerEvent):
        return event.at, event.at, 2, True, event.name  # a timer comes after the events of its moment
    return event.interval.end, event.interval.start, 1, isinstance(event.id, str), event.id
