"""Detect composite events in a table: one Spark job, whatever the number of patterns.

What happens to the rows: Spark answers every question about single events as bits of one column, drops the events no
pattern looks at, and brings the events of each key together; then each partition is one call into the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tocsin.algebra.correlation.types import Types
from tocsin.algebra.subscription import Reading, Subscription
from tocsin.automata.compile import compile
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.registry import parse
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.spark.columns import EventColumns, attribute_kinds, event_columns
from tocsin.spark.completion import LANGUAGES as COMPLETION
from tocsin.spark.completion import Ports, Text, compile_texts
from tocsin.spark.job import prepare, relevant, run
from tocsin.spark.stream import after_watermark, run_stream, with_watermark

Pattern = Text | Subscription | Mapping[str, Text | Subscription]


def detect(
    events: DataFrame,
    pattern: Pattern,
    *,
    language: str = "core",
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    event_type: str | None = None,
    key: str | Sequence[str] | None = None,
    id: str | None = None,
    source: str | None = None,
    time_unit: str | None = None,
    attributes: Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    catalog: Catalog | None = None,
    types: str | Path | Types | None = None,
    assembly: str | Path | None = None,
    ports: Ports | None = None,
    unreadable: str = "fail",
    max_partial_matches: int = MAX_TOKENS,
    delay: str = "10s",
    shards: int | None = None,
    late: str = "fail",
) -> DataFrame:
    """Composite events of one or several patterns over a table or a stream of events.

    Args:
        pattern: the text of a pattern, a subscription, or a mapping of names to either; equal parts are detected once.
        time: a column, or a pair of columns with start and end. By default `time`, or the only column of a time type.
        type: the column with the event type (a string, or an array of all types an event belongs to). By default `type`;
            a table without such a column holds events of one type, `event_type`, by default `Event`.
        key: column or columns; patterns are then looked for among the events of each key alone.
        id: a column whose values are unique; it decides the order of events at the same time. By default a hash of the row.
        source: the column with the device or system an event is from; by default `source`, if there is one.
        time_unit: the unit of numeric time columns: s, ms, us or ns.
        attributes: the columns that constituents of matches carry; by default all others.
        options: readings of the language, such as `restart` and `strong_scope`.
        types: for KSU correlations, the text or the file of the event types in IDL.
        assembly: for KSU correlations, the text or the file that says which ports are connected.
        ports: instead of an assembly, for each correlation and each of its events the source it comes from.
        unreadable: what to do with rows without time, type or key, or that end before they start: `fail` or `drop`.
        max_partial_matches: stop with an error when a key holds more partial matches than this at once.
        delay: in a stream, how long after an event that is already there an earlier one may still arrive.
        shards: in a stream, into how many groups of keys the state is cut; by default `spark.sql.shuffle.partitions`.
        late: in a stream, what to do with events that arrive later than that: `fail` or `drop`.

    Returns:
        One row per match, or per event that is sent; `tocsin.runtime.matches` describes the columns, and `tocsin.sent`
        gives the events that were sent, one table a type.
    """
    for option, value in (("unreadable", unreadable), ("late", late)):
        if value not in ("fail", "drop"):
            raise InputError("bad-option", f"{option} cannot be {value!r}", hint="fail or drop")
    columns = event_columns(
        events,
        time=time,
        type=type,
        event_type=event_type,
        key=key,
        id=id,
        source=source or ("source" if "source" in events.columns else None),
        time_unit=time_unit,
    )
    kinds = attribute_kinds(events)
    if language in COMPLETION:
        compiled, catalog = compile_texts(
            _texts(pattern, language),
            language,
            options=options or {},
            kinds=kinds,
            types=types,
            assembly=assembly,
            ports=ports,
            catalog=catalog,
        )
    else:
        catalog = catalog or Catalog(common=kinds)
        compiled = compile(_subscriptions(pattern, language, catalog, Reading.of(options or {})))
    carried = _carried(events, columns, attributes)
    prepared = prepare(events, columns, compiled, catalog, carried)
    wanted = relevant(compiled)
    if events.isStreaming:
        prepared, wanted = with_watermark(prepared, delay), after_watermark(wanted)
    problem = prepared["unreadable"]
    if unreadable == "fail":
        start = F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(F.col("start"))
        # No pattern looks at a row without a type, and yet it must get as far as the error.
        used = prepared.where(wanted | problem.isNotNull()).withColumn("start", start)
    else:
        used = prepared.where(wanted & problem.isNull())
    used = used.drop("unreadable")
    if events.isStreaming:
        return run_stream(used, events, columns, compiled, carried, max_partial_matches, shards, late)
    return run(used, events, columns, compiled, carried, max_partial_matches)


def _subscriptions(pattern: Pattern, language: str, catalog: Catalog, reading: Reading) -> list[Subscription]:
    named = pattern if isinstance(pattern, Mapping) else {"pattern": pattern}
    if not named:
        raise InputError("no-pattern", "there is no pattern to detect")
    found = []
    for name, text in named.items():
        if isinstance(text, str):
            found.append(parse(text, language, catalog=catalog, reading=reading, name=name))
        elif isinstance(text, Subscription):
            found.append(text)
        else:
            raise InputError(
                "bad-pattern", f"this is no pattern of the language {language}", hint="say language=…"
            )
    return found


def _texts(pattern: Pattern, language: str) -> dict[str, Text]:
    named = pattern if isinstance(pattern, Mapping) else {"": pattern}
    if not named:
        raise InputError("no-pattern", "there is no pattern to detect")
    texts = {name: text for name, text in named.items() if not isinstance(text, Subscription)}
    if len(texts) < len(named):
        raise InputError("bad-pattern", f"this is no text of the language {language}")
    return texts


def _carried(events: DataFrame, columns: EventColumns, attributes: Sequence[str] | None) -> tuple[str, ...]:
    if attributes is None:
        return tuple(name for name in events.columns if name not in columns.named)
    for name in attributes:
        if name not in events.columns:
            raise InputError(
                "unknown-column", f"the table has no column {name!r}", hint=did_you_mean(name, events.columns)
            )
    return tuple(attributes)
