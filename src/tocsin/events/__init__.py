"""Event types, intervals of time, primitive and composite events, and the policies that decide when events are used."""

from tocsin.events.event import Composite, Constituent, Event, TimerEvent, total_order, trace
from tocsin.events.time import MICROSECONDS, UNIT_WORDS, Interval, format_duration, parse_duration
from tocsin.events.types import ATTRIBUTE_TYPES, AnyCase, Catalog, EventType
from tocsin.values import Value, format_timestamp, parse_timestamp

__all__ = [
    "ATTRIBUTE_TYPES",
    "MICROSECONDS",
    "UNIT_WORDS",
    "AnyCase",
    "Catalog",
    "Composite",
    "Constituent",
    "Event",
    "EventType",
    "Interval",
    "TimerEvent",
    "Value",
    "format_duration",
    "format_timestamp",
    "parse_duration",
    "parse_timestamp",
    "total_order",
    "trace",
]
