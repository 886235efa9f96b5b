"""New events, checked against the registered types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog, Event, Interval, Value, parse_duration, parse_timestamp
from tocsin.values import Time, kind

Moment = int | str | datetime
Duration = int | str | timedelta
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EXPECTED = {"string": "string", "int": "number", "float": "number", "bool": "bool", "timestamp": "time"}


def moment(value: Moment) -> int:
    """Microseconds since 1970-01-01 UTC, of a number of them, an ISO 8601 text or a datetime.

    >>> moment("1970-01-01T00:00:01"), moment(1_000_000), moment(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    (1000000, 1000000, 1000000)
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (aware - _EPOCH) // timedelta(microseconds=1)
    found = parse_timestamp(value) if isinstance(value, str) else value
    if found is None or isinstance(found, bool) or not isinstance(found, int):
        hint = "an ISO time such as '2004-01-31T19:00:00', a datetime, or microseconds since 1970"
        raise InputError("bad-time", f"{value!r} is not a time", hint=hint)
    return found


def duration(value: Duration) -> int:
    """Microseconds of a number of them, a text such as `5min`, or a timedelta.

    >>> duration("5min") == duration(timedelta(minutes=5))
    True
    """
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    found = parse_duration(value) if isinstance(value, str) else value
    if found is None or isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InputError(
            "bad-duration", f"{value!r} is not a duration", hint="write '5min'; units: ms, s, min, h, d"
        )
    return found


def interval(at: Moment | None, start: Moment | None, end: Moment | None) -> Interval:
    """When an event happened: at one moment, or from a start to an end."""
    if (at is None) == (start is None and end is None) or (start is None) != (end is None):
        raise InputError("no-time", "when did the event happen?", hint="say at=…, or start=… and end=…")
    first, last = moment(at if start is None else start), moment(at if end is None else end)  # type: ignore[arg-type]
    if first > last:
        raise InputError("bad-time", "the event ends before it starts", hint="exchange start and end")
    return Interval(first, last)


def new_event(
    catalog: Catalog,
    id: int | str,
    type: str,
    interval: Interval,
    source: str | None,
    attributes: Mapping[str, object],
) -> Event:
    """An event of a registered type, with the attributes that type has.

    >>> from tocsin.events import EventType
    >>> catalog = Catalog([EventType("Temp", {"temp": "float"})], closed=True)
    >>> new_event(catalog, 1, "Temp", Interval(0, 0), None, {"tmep": 14})
    Traceback (most recent call last):
    tocsin.errors.InputError: unknown-attribute: Temp has no attribute 'tmep'
    hint: did you mean 'temp'?
    """
    types = {event_type.name for event_type in catalog.types}
    if type not in types and (catalog.closed or type in catalog.names):
        raise InputError(
            "unknown-type",
            f"there is no event type {type!r}",
            hint=did_you_mean(type, types, "register it first: register_type(…)"),
        )
    known = catalog.attributes(type)
    checked: dict[str, Value] = {}
    for name, value in attributes.items():
        if name not in known and catalog.describes(type):
            hint = did_you_mean(name, known, f"{type} has none")
            raise InputError("unknown-attribute", f"{type} has no attribute {name!r}", hint=hint)
        checked[name] = _value(f"{type}.{name}", known.get(name), value)
    return Event(id, catalog.belongs_to(type), interval, checked, source=source)


def _value(owner: str, declared: str | None, value: object) -> Value:
    if declared == "timestamp" and isinstance(value, int | str | datetime) and not isinstance(value, bool):
        return Time(moment(value))
    if value is not None and not isinstance(value, bool | int | float | Decimal | str | Time):
        hint = "a string, a number, true or false"
        raise InputError("bad-value", f"{owner} cannot be a {type(value).__name__}", hint=hint)
    wrong = kind(value) != _EXPECTED.get(declared, kind(value)) if declared is not None else False
    if value is not None and (wrong or (declared == "int" and not isinstance(value, int))):
        raise InputError(
            "type-mismatch",
            f"{owner} is {declared}, not {value!r}",
            hint=f"give it a value of type {declared}",
        )
    return value
