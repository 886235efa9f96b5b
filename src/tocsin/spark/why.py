"""Why a pattern does not match: the events of one key, from a table, given to the reference semantics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog, Event, Interval, parse_timestamp
from tocsin.languages.registry import DEFAULT, selection_of
from tocsin.languages.registry import language as language_named
from tocsin.spark.compile_patterns import GivenPatterns
from tocsin.spark.detect import find_columns, for_spark
from tocsin.spark.events.columns import attribute_kinds, micros
from tocsin.spark.events.naming import column_at
from tocsin.spark.options import Options, gather, refuse
from tocsin.spark.parquet.path import ParquetPath
from tocsin.spark.query import EventColumns
from tocsin.spark.session.session import local_session
from tocsin.spark.why_kept import is_checkpoint, subscription_text, why_kept
from tocsin.values import Value
from tocsin.why_not import MOST_EVENTS, WhyNot, account_of

_START, _END = "tocsin start", "tocsin end"


def why(
    events: Any,
    pattern: Any,
    *options: object,
    key_value: object = None,
    at: str | datetime | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    **named: Any,
) -> WhyNot:
    """How far the partial matches of a pattern got among the events of one key, and what each waited for.

    Args:
        events: a table of Spark, pandas, polars or Arrow, or the path of a Parquet file or folder; or the checkpoint folder of
            a stream, of which the partial matches that wait now are shown. Then only `key_value` and what concerns the
            pattern applies.
        pattern: the text of one pattern, or what `tocsin.parse` returns for it.
        options: `tocsin.Columns`, `tocsin.Run`, a `tocsin.Catalog`, and options of the language, as for `tocsin.detect`.
        key_value: the key to look at: a value, for several columns a tuple or a mapping.
        at: the moment to look at: what waits then, and what ended before; by default the time of the last event.
        since, until: only events from then on, and up to then. Partial matches that began before are not seen.
        named: `language`, `key`, `time`, `type`, `matches` and `take`, as for `tocsin.detect`.

    Returns:
        A value that prints as text, shows a timeline in a notebook, and becomes JSON by `to_dict`.
    """
    call = _Arguments(**named)
    given = gather(options)
    if is_checkpoint(events):
        return _in_checkpoint(events, pattern, given, call, key_value)
    for one, reason in ((given.stream, "the events are a table"), (given.rules, "the events are a table")):
        refuse(one, reason)
    with for_spark(events, given) as (spark_events, options_of_run, _):
        table: Any = spark_events
        if not isinstance(table, DataFrame):
            table = ParquetPath(options_of_run.run.spark or local_session(), table)
        columns = find_columns(table, call.key, call.time, call.type, given.columns)
        values = _key_values(columns, key_value)
        frame = table if isinstance(table, DataFrame) else table.frame
        found = _events(_rows(frame, columns, values, _moment(since), _moment(until)), columns, given.catalog)
        catalog = given.catalog or Catalog(common=attribute_kinds(table))
    patterns = GivenPatterns(pattern, call.language, given.language, call.matches, call.take, given.catalog)
    own = language_named(call.language)
    return account_of(
        pattern,
        found,
        own,
        options=patterns.language_options,
        catalog=None if own.sends else catalog,
        selection=selection_of(own, call.matches, call.take),
        key=values,
        at=_moment(at),
    )


def _in_checkpoint(
    checkpoint: Any, pattern: Any, given: Options, call: _Arguments, key_value: object
) -> WhyNot:
    own = language_named(call.language)
    patterns = GivenPatterns(pattern, call.language, given.language, call.matches, call.take, given.catalog)
    selection = selection_of(own, call.matches, call.take)
    text = subscription_text(own, pattern, patterns.language_options, selection)
    names = [call.key] if isinstance(call.key, str) else list(call.key or ())
    if isinstance(key_value, Mapping):
        values = [key_value[name] for name in names]
    else:
        values = (
            list(key_value)
            if isinstance(key_value, list | tuple)
            else []
            if key_value is None
            else [key_value]
        )
    key = dict(zip(names, values, strict=False)) or {"key": ", ".join(map(str, values))} if values else {}
    return why_kept(given.run.spark or local_session(), checkpoint, text, key, values)


class _Arguments:
    """The named arguments of `detect` that apply here."""

    _KNOWN = ("language", "key", "time", "type", "matches", "take")

    def __init__(self, **named: Any) -> None:
        for name in named:
            if name not in self._KNOWN:
                hint = did_you_mean(name, self._KNOWN)
                raise InputError("unknown-option", f"tocsin.why has no argument {name!r}", hint=hint)
        self.language: str = named.get("language", DEFAULT)
        self.key: str | Sequence[str] | None = named.get("key")
        self.time: str | Sequence[str] | None = named.get("time")
        self.type: str | None = named.get("type")
        self.matches: str | None = named.get("matches")
        self.take: str | None = named.get("take")


def _key_values(columns: EventColumns, given: object) -> dict[str, Any]:
    """The values of the key columns."""
    names = columns.key
    if not names:
        if given is not None:
            raise InputError("bad-option", "there is no key for key_value", hint="say key='column' as well")
        return {}
    if isinstance(given, Mapping):
        values = dict(given)
    else:
        listed = [given] if len(names) == 1 or not isinstance(given, list | tuple) else list(given)
        values = dict(zip(names, listed, strict=False))
    if given is None or set(values) != set(names):
        hint = f"say key_value=…, a value for {', '.join(names)}"
        raise InputError("no-key-value", "which key is it about?", hint=hint)
    return values


def _rows(
    frame: DataFrame, columns: EventColumns, values: Mapping[str, Any], since: int | None, until: int | None
) -> list[Row]:
    start, end = (micros(frame, name, columns.time_unit) for name in columns.time)
    own = frame.withColumns({_START: start, _END: end})
    for name, value in values.items():
        column = column_at(frame.schema, name)
        own = own.where(
            column.cast("string") == F.lit(str(value)) if isinstance(value, str) else column == value
        )
    if since is not None:
        own = own.where(F.col(f"`{_END}`") >= since)
    if until is not None:
        own = own.where(F.col(f"`{_END}`") <= until)
    rows = own.limit(MOST_EVENTS + 1).collect()
    if not rows:
        shown = ", ".join(f"{name}={value}" for name, value in values.items()) or "the table"
        hint = "check the key and the span of time"
        raise InputError("no-events", f"there is no event of {shown} in that time", hint=hint)
    return rows


def _events(rows: Sequence[Row], columns: EventColumns, catalog: Catalog | None) -> list[Event]:
    found = []
    for number, row in enumerate(rows, 1):
        values = row.asDict(recursive=True)
        if values[_START] is None or values[_END] is None:
            continue
        types = _at(values, columns.type) if columns.type else columns.constant_type
        listed = [str(one) for one in (types if isinstance(types, list) else [types]) if one is not None]
        known = frozenset(name for one in listed for name in (catalog.belongs_to(one) if catalog else (one,)))
        source = _at(values, columns.source) if columns.source else None
        id = _at(values, columns.id) if columns.id else number
        hidden = {_START, _END, *columns.time, columns.type, columns.id}
        attributes = {
            name: value
            for column, one in values.items()
            if column not in hidden
            for name, value in _flat(column, one)
        }
        interval = Interval(values[_START], values[_END])
        found.append(Event(id if isinstance(id, int) else str(id), known, interval, attributes, None, source))
    return found


def _at(values: Mapping[str, Any], name: str) -> Any:
    """The value of a column or, with dots, of a field inside one."""
    if name in values:
        return values[name]
    for place, sign in enumerate(name):
        inner = values.get(name[:place]) if sign == "." else None
        if isinstance(inner, dict):
            return _at(inner, name[place + 1 :])
    return None


def _flat(name: str, value: Any) -> list[tuple[str, Value]]:
    """An attribute, or the fields of a struct under dotted names, as values that patterns compare."""
    if isinstance(value, Mapping):
        return [pair for key, one in value.items() for pair in _flat(f"{name}.{key}", one)]
    if isinstance(value, Decimal):
        return [(name, float(value))]
    if isinstance(value, datetime):
        return [(name, value.isoformat())]
    return [(name, value if isinstance(value, int | float | str | bool | None) else str(value))]


def _moment(given: str | datetime | None) -> int | None:
    """A time as microseconds."""
    if given is None:
        return None
    found = parse_timestamp(given.isoformat() if isinstance(given, datetime) else given)
    if found is None:
        hint = "an ISO time, such as 2024-01-31T19:00:00Z; without a zone it is UTC"
        raise InputError("bad-time", f"{given!r} is not a time", hint=hint)
    return found
