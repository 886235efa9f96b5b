"""Random patterns and traces as one job on Spark: each trace is a key of one table, and all patterns are detected in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tocsin.algebra.predicate import attributes
from tocsin.algebra.tokens import semantics
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.pattern import specs
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata import execute
from tocsin.errors import LimitError
from tocsin.events import Catalog, Event
from tocsin.runtime.moments import FOREVER

COLUMNS = {"k": "int", "v": "float", "s": "string", "f": "bool"}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("type", pa.list_(pa.string())),
        *(pa.field(name, pa.int64()) for name in ("a", "b", "key")),
        pa.field("k", pa.int32()),
        pa.field("v", pa.float64()),
        pa.field("s", pa.string()),
        pa.field("f", pa.bool_()),
    ]
)
# How `tocsin.detect` reads the table.
READING = {"time": ("a", "b"), "time_unit": "us", "key": "key", "id": "id", "attributes": []}


def typed(subscription: Subscription) -> bool:
    """Whether the pattern compares only what columns of a table allow, and does not use the attribute of many kinds."""
    patterns = [subscription.pattern, *(d.pattern for d in subscription.definitions)]
    named = {name for pattern in patterns for spec in specs(pattern) for name in attributes(spec.filter)}
    return (
        "m" not in named
        and "m." not in f"{subscription.where!r}"
        and not check(subscription, Catalog(common=COLUMNS))
    )


def modest(many: Sequence[Subscription], streams: Sequence[Sequence[Event]]) -> list[Subscription]:
    """The patterns without those that explode: some lists of lists of parallel parts have millions of matches in ten events."""
    return [one for one in many if all(_is_modest(one, events) for events in streams)]


def _is_modest(one: Subscription, events: Sequence[Event]) -> bool:
    try:
        execute.Session([one], limit=2_000).feed(events, FOREVER)
    except LimitError:
        return False
    return True


def table_of(streams: Sequence[Sequence[Event]]) -> pa.Table:
    """The events of all traces; the number of a trace is its key."""
    rows = [
        {
            "id": event.id,
            "type": sorted(event.types),
            "a": event.interval.start,
            "b": event.interval.end,
            "key": key,
            **{name: event.attributes.get(name) for name in COLUMNS},
        }
        for key, events in enumerate(streams)
        for event in events
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def named(many: Sequence[Subscription]) -> dict[str, Subscription]:
    """The patterns under names, without what they say of sources, which the table has not."""
    return {f"p{n}": replace(one, name=f"p{n}", detection=None) for n, one in enumerate(many)}


def found_in(rows: Iterable[dict[str, Any]]) -> list[str]:
    """What was found, by pattern, key and events in their nesting."""
    return sorted(f"{row['pattern']} {row['key']} {_nested(row['constituents'])}" for row in rows)


def expected_in(many: Sequence[Subscription], streams: Sequence[Sequence[Event]]) -> list[str]:
    """What the reference finds, in the same form."""
    return sorted(
        f"p{n} {key} {composite.ids}"
        for n, one in enumerate(many)
        for key, events in enumerate(streams)
        for composite in semantics.detect(one, events)
    )


def _nested(constituents: Sequence[dict[str, Any]]) -> list[object]:
    """The constituents as nested lists, from their paths."""
    nested: list[object] = []
    for one in constituents:
        place = nested
        for step in one["path"][:-1]:
            if len(place) < step:
                place.append([])
            place = place[step - 1]  # type: ignore[assignment]
        place.append(one["role"] if one["type"] == "timer" else int(one["id"]))
    return nested
