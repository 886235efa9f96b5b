"""The events of cases as tables, and the matches that detection on Spark finds in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tocsin.algebra.predicate import Literal, comparisons
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.pattern import specs
from tocsin.algebra.tokens.selection import COUNT
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.compile import compile
from tocsin.cases.model import Skip
from tocsin.cases.parts import CASE, Part, column, name_of, numbered
from tocsin.cases.tokens.detection import Found, Matches
from tocsin.events import Catalog, Event, Interval
from tocsin.events.event import Nested
from tocsin.spark.options import Columns, Replay
from tocsin.spark.replay import replay
from tocsin.spark.session.session import local_session
from tocsin.values import Value

# Contains a space, so no attribute that a pattern can name has this name.
ID, TYPES, START, END = "event id", "event types", "event start", "event end"
ARRIVAL, SOURCE = "event arrival", "event source"
_MOMENT = pa.timestamp("us", tz="UTC")
_KINDS = {pa.int64(): "int", pa.float64(): "float", pa.string(): "string", pa.bool_(): "bool"}


def matches_part(request: Matches, number: int) -> Part:
    """The part of a query that finds the matches of a subscription."""
    subscription, catalog = request.subscription, request.catalog
    ids = {str(event.id): event.id for event in request.events}
    known = (catalog.closed, catalog.types, [(name, catalog.members(name)) for name in catalog.names])
    return Part(
        name_of(number),
        numbered(as_table(subscription, request.events), number),
        replace(
            subscription, name=name_of(number), detection=None
        ),  # the table has no arrivals, and no sources
        {START: 1, END: 1},
        {"time": (START, END), "type": TYPES, "key": (CASE, *request.key)},
        (request.key, known),
        lambda rows: [_found(subscription, row, ids) for row in rows],
        options=(Columns(id=ID), catalog),
        id=ID,
    )


def replay_on_spark(
    subscription: Subscription, arrivals: Sequence[tuple[int, Event]], given: Mapping[str, Any]
) -> list[Found]:
    """The matches of a subscription in a table with a row for each arrival, and the arrival after which each was found."""
    events = [event for _, event in arrivals]
    table = as_table(subscription, events)
    table = table.append_column(ARRIVAL, pa.array([arrival for arrival, _ in arrivals], pa.int64()))
    table = table.append_column(SOURCE, pa.array([event.source for event in events], pa.string()))
    matches = replay(
        local_session().createDataFrame(table),
        subscription,
        Replay(
            ARRIVAL,
            SOURCE,
            policy=given["detection"],
            threshold=given["threshold"],
            stability=given["stability"],
            sources=given["sources"],
        ),
        Columns(id=ID),
        time=(START, END),
        type=TYPES,
    )
    ids = {str(event.id): event.id for event in events}
    return [
        replace(_found(subscription, row, ids), after=row["detected_at"])
        for row in matches.toArrow().to_pylist()
    ]


def as_table(subscription: Subscription, events: Sequence[Event]) -> pa.Table:
    """The events as a table; skips the case if an attribute cannot be a column of one type."""
    several = any(len(event.types) > 1 for event in events)
    columns = {
        ID: column(ID, [event.id for event in events], None),
        TYPES: pa.array([sorted(event.types) for event in events], pa.list_(pa.string()))
        if several
        else pa.array([name for event in events for name in event.types], pa.string()),
        START: pa.array([event.interval.start for event in events], pa.int64()).cast(_MOMENT),
        END: pa.array([event.interval.end for event in events], pa.int64()).cast(_MOMENT),
    }
    literals = _literals(subscription)
    names = {name for event in events for name in event.attributes} | compile([subscription]).attributes
    for name in sorted(names):
        if "." in name:
            raise Skip(f"the attribute {name} would be a field of a column")
        columns[name] = column(name, [event.attributes.get(name) for event in events], literals.get(name))
    table = pa.table(columns)
    kinds = {name: _KINDS[table.schema.field(name).type] for name in names}
    for error in check(subscription, Catalog(common=kinds)):
        raise Skip(f"a table has one type for each column: {error.message}")
    return table


def _literals(subscription: Subscription) -> dict[str, Value]:
    """A value that each attribute is compared with, for attributes that no event has."""
    patterns = [*(definition.pattern for definition in subscription.definitions), subscription.pattern]
    filters = [subscription.where, *(spec.filter for pattern in patterns for spec in specs(pattern))]
    found = [comparison for filter in filters for comparison in comparisons(filter)]
    return {c.left.name: c.right.value for c in found if isinstance(c.right, Literal)}


def _found(subscription: Subscription, row: Mapping[str, Any], ids: Mapping[str, int | str]) -> Found:
    """A match, from the flat list of its events and their places."""
    constituents: Sequence[Mapping[str, Any]] = row["constituents"]
    nested: Nested = []
    for constituent in constituents:
        *outer, _ = constituent["path"]
        level: Any = nested
        for place in outer:
            if len(level) < place:
                level.append([])
            level = level[place - 1]
        level.append(constituent["role"] if constituent["id"] is None else ids[constituent["id"]])
    last = max(_micros(c["end"]) for c in constituents if c["path"][0] == len(nested))
    first = min(_micros(c["start"]) for c in constituents)
    count = int(dict(row["variables"])[COUNT]) if subscription.selection.take == "count" else None
    whole = Interval(first, max(_micros(c["end"]) for c in constituents))
    return Found(nested, last, whole, count=count)


def _micros(value: Any) -> int:
    return pa.scalar(value, _MOMENT).value  # type: ignore[no-any-return]
