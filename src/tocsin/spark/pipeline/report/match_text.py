"""A match in words, for a person at a terminal.

>>> from datetime import datetime
>>> start, end = datetime(2004, 1, 30, 9), datetime(2004, 1, 30, 9, 2)
>>> in_words(("location",), ["FE02"], start, end, [("Door", {}), ("Temp", {"temp": 14.5})], {})
'2004-01-30 09:00:00 to 09:02:00  location FE02: Door, Temp temp=14.5'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from pyspark.sql import DataFrame

from tocsin.runtime.results.match_rows import keys_among
from tocsin.spark.pipeline.added_columns import ORIGIN

_SHOWN = 4  # attributes of an event at most


def first_matches(matches: DataFrame, key: Sequence[str], rows: int) -> tuple[str, ...]:
    """Return the first matches of a subscription as text, in the order of their ends."""
    found = matches.orderBy("end", "start", "match_id").limit(rows).collect()
    names = keys_among(matches.columns)
    return tuple(_row_in_words(row, key, names) for row in found)


def last_matches(matches: DataFrame, key: Sequence[str], rows: int) -> list[tuple[datetime, str]]:
    """Return the latest matches of a subscription, each with its end and as text."""
    found = matches.orderBy("end", "start", "match_id", ascending=False).limit(rows).collect()
    names = keys_among(matches.columns)
    return [(row["end"].astimezone(UTC), _row_in_words(row, key, names)) for row in found]


def _row_in_words(row: Any, key: Sequence[str], names: Sequence[str]) -> str:
    said = in_words(
        key,
        [row[name] for name in names],
        row["start"].astimezone(UTC),
        row["end"].astimezone(UTC),
        [(c["role"], _attributes(c, key)) for c in row["constituents"]],
        row["variables"] or {},
    )
    return said + _sent(row)


def _sent(row: Any) -> str:
    """Return the text for what a subscription sent, to follow the events that caused it."""
    if "what" not in row:
        return ""
    if row["what"] != "push":
        return f" → {row['what']} {row['value'] or ''}".rstrip()
    tables = row["output"].asDict() if "output" in row and row["output"] is not None else {}
    attributes: dict[str, object] = next((own.asDict() for own in tables.values() if own is not None), {})
    known = {name: value for name, value in attributes.items() if value is not None and name != ORIGIN}
    return f" → {_event(row['type'], known)}"


def _attributes(constituent: Any, key: Sequence[str]) -> dict[str, object]:
    """Return the attributes to show of an event, without nulls, its key and its source."""
    carried = constituent.asDict().get("attributes")
    known = {} if carried is None else carried.asDict()
    return {
        # Spark returns times in the zone of this machine.
        name: f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if isinstance(value, datetime) else value
        for name, value in known.items()
        if value is not None and name not in (*key, ORIGIN)
    }


def in_words(
    key: Sequence[str],
    key_values: Sequence[object],
    start: datetime,
    end: datetime,
    constituents: Sequence[tuple[str, Mapping[str, object]]],
    variables: Mapping[str, str],
) -> str:
    """Format a match as one line: when, where, which events, and the values of variables."""
    stop = f"{end:%H:%M:%S}" if start.date() == end.date() else f"{end:%Y-%m-%d %H:%M:%S}"
    where = ", ".join(f"{name} {value}" for name, value in zip(key, key_values, strict=True))
    runs = [list(run) for _, run in groupby(constituents, key=lambda c: c[0])]
    events = ", ".join(_event(*run[0]) if len(run) == 1 else f"{len(run)} × {run[0][0]}" for run in runs)
    bound = "".join(f"; {name} = {value}" for name, value in sorted(variables.items()))
    return f"{start:%Y-%m-%d %H:%M:%S} to {stop}  {where + ': ' if where else ''}{events}{bound}"


def _event(role: str, attributes: Mapping[str, object]) -> str:
    said = " ".join(f"{name}={value}" for name, value in list(attributes.items())[:_SHOWN])
    return f"{role} {said}".strip()
