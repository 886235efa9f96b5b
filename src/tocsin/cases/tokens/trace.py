"""The events of a case: times in seconds become microseconds, and invalid events are errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tocsin.cases.model import Case, only_keys
from tocsin.errors import CaseError, did_you_mean
from tocsin.events import (
    MICROSECONDS,
    Catalog,
    Event,
    EventType,
    Interval,
    Value,
    parse_duration,
    parse_timestamp,
)

EVENT_KEYS = ("u", "types", "type", "t", "attrs")
PARENT = "extends"  # the one key of a declared type that is not an attribute, as in pipeline files
_SECOND = MICROSECONDS["s"]


def moment(value: object) -> int:
    """Microseconds of a time: a number of seconds, a duration since the start, or an ISO time.

    >>> moment(1.5), moment("2min"), moment("1970-01-01T00:00:03")
    (1500000, 120000000, 3000000)
    """
    found: int | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        exact = Fraction(repr(value)) * _SECOND
        found = int(exact) if exact.denominator == 1 else None
    elif isinstance(value, str):
        found = parse_duration(value)
        found = parse_timestamp(value) if found is None else found
    if found is None:
        hint = "a number of seconds, a duration such as 5min, or an ISO time; a millionth of a second at best"
        raise CaseError("bad-time", f"{value!r} is not a time", hint=hint)
    return found


def seconds(microseconds: int) -> int | Decimal:
    """A time as the cases write it.

    >>> seconds(3000000), seconds(1500000)
    (3, Decimal('1.5'))
    """
    whole, rest = divmod(microseconds, _SECOND)
    return whole if rest == 0 else Decimal(microseconds).scaleb(-6).normalize()


def interval(value: object) -> Interval:
    """The interval of one time, or of a start and an end."""
    parts = value if isinstance(value, list) else [value, value]
    if len(parts) != 2:
        raise CaseError("bad-time", f"{value!r} is not an interval", hint="a time, or [start, end]")
    start, end = (moment(part) for part in parts)
    if start > end:
        raise CaseError("bad-time", f"{value!r} ends before it starts")
    return Interval(start, end)


def declared(case: Case) -> Catalog | None:
    """A closed catalog of the event types a case declares; None if it declares none, and any name is allowed."""
    if not case.get("types"):
        return None
    types = []
    for name, fields in only_keys(case["types"], case["types"], "types").items():
        attributes = dict(only_keys(fields or {}, fields or {}, f"the type {name}"))
        types.append(EventType(name, attributes, attributes.pop(PARENT, None)))
    return Catalog(types, _sets(case), closed=True)


def catalog(case: Case, types: Sequence[str]) -> Catalog:
    """The catalog for the events of a case: the declared types, or its sets over the types that occur."""
    known = declared(case)
    if known is not None:
        for name in types:
            if not known.knows(name):
                hint = did_you_mean(name, known.names)
                raise CaseError("bad-case", f"the case declares no event type {name!r}", hint=hint)
        return known
    sets = _sets(case)
    members = [member for own in sets.values() for member in own]
    plain = [name for name in dict.fromkeys([*types, *members]) if name not in sets]
    return Catalog([EventType(name) for name in plain] if sets else [], sets)


def _sets(case: Case) -> Mapping[str, list[str]]:
    sets = case.get("sets") or {}
    if not isinstance(sets, Mapping) or not all(isinstance(members, list) for members in sets.values()):
        raise CaseError("bad-case", "sets must name lists of event types", hint="sets: {S: [A, B]}")
    return sets


def events(case: Case) -> list[Event]:
    """The events of a trace, in the order they are written."""
    found = [event(written, number) for number, written in enumerate(_written(case), 1)]
    known = catalog(case, [name for one in found for name in sorted(one.types)])
    ids = [one.id for one in found]
    if twice := [id for id in ids if ids.count(id) > 1]:
        raise CaseError("bad-case", f"two events of the trace are called {twice[0]!r}")
    return [_finished(one, known, key_names(case)) for one in found]


def event(written: object, number: int, more_keys: Sequence[str] = ()) -> Event:
    """One event; without a `u` its id is its number."""
    fields = only_keys(written, (*EVENT_KEYS, *more_keys), f"event {number} of the trace")
    if ("types" in fields) == ("type" in fields) or "t" not in fields:
        raise CaseError("bad-case", f"event {number} of the trace needs a type and a time t")
    types = fields.get("types", fields.get("type"))
    listed = types if isinstance(types, list) else [types]
    if not listed or not all(isinstance(name, str) and name for name in listed):
        raise CaseError("bad-case", f"{types!r} is not an event type, in event {number} of the trace")
    own = fields.get("u", number)
    if isinstance(own, bool) or not isinstance(own, int | str):
        raise CaseError("bad-case", f"an event cannot be called {own!r}", hint="a number or a word")
    return Event(own, frozenset(listed), interval(fields["t"]), _attributes(fields.get("attrs"), number))


def _written(case: Case) -> list[Any]:
    trace = case.get("trace") or []
    if not isinstance(trace, list):
        raise CaseError("bad-case", "the trace must be a list of events")
    return trace


def _attributes(written: object, number: int) -> Mapping[str, Value]:
    attributes = {} if written is None else written
    if not isinstance(attributes, Mapping):
        raise CaseError("bad-case", f"the attrs of event {number} must be a mapping")
    for name, value in attributes.items():
        if not isinstance(value, int | float | str | bool | None):
            hint = "a number, a text, true or false"
            raise CaseError(
                "bad-case", f"the attribute {name} of event {number} cannot be {value!r}", hint=hint
            )
    return dict(attributes)


def key_names(case: Case) -> tuple[str, ...]:
    """The attributes whose values split the events of a case into streams."""
    key = case.get("key") or []
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, list) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise CaseError(
            "bad-case", f"the key cannot be {key!r}", hint="an attribute, or a list of attributes"
        )
    return names


def _finished(own: Event, known: Catalog, key: tuple[str, ...]) -> Event:
    """The event with every type it belongs to, and with the key of its stream."""
    types = frozenset().union(*(known.belongs_to(name) for name in own.types))
    values = [own.attributes.get(name) for name in key]
    if any(value is None for value in values):
        raise CaseError("bad-case", f"event {own.id} lacks the key {', '.join(key)}")
    whole = None if not values else values[0] if len(values) == 1 else repr(values)
    return Event(own.id, types, own.interval, own.attributes, whole)
