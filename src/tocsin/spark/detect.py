"""Detect composite events in a table, in Parquet files or in a stream: one Spark job, whatever the number of patterns.

Every predicate is evaluated once, irrelevant events are dropped, and the events of each key are brought together; then
each partition is one call into the kernels. `batch.route` decides how that is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import InputError
from tocsin.languages.registry import DEFAULT
from tocsin.languages.registry import language as language_named
from tocsin.runtime.results.match_rows import chosen_columns
from tocsin.spark.batch.route import Route, choose, route_of_stream
from tocsin.spark.compile_patterns import GivenPatterns, Pattern, compile_patterns
from tocsin.spark.events.arrow_predicates import lookup_if_many
from tocsin.spark.events.columns import attribute_kinds, event_columns, with_order
from tocsin.spark.events.doubts import doubts, warn
from tocsin.spark.events.local_tables import LocalTable, local_table
from tocsin.spark.events.naming import required_name
from tocsin.spark.events.types_seen import types_seen
from tocsin.spark.options import Columns, Options, Rules, Stream, gather, refuse, refuse_fields
from tocsin.spark.parquet.path import ParquetPath
from tocsin.spark.query import EventColumns, HasSchema, Query
from tocsin.spark.rules.compile_rules import RuleSettings
from tocsin.spark.rules.rule_plan import RuledQuery, detect_with_rules, rule_columns_of, rules_of
from tocsin.spark.sent import sends, with_tables
from tocsin.spark.session.session import local_session
from tocsin.spark.session.worker_python import check_worker_python
from tocsin.spark.stream.detect_stream import detect_stream
from tocsin.spark.stream.stream_options import StreamOptions
from tocsin.spark.stream.stream_plan import StreamQuery, by_source

Events = DataFrame | str | Path


class _Named(TypedDict, total=False):
    """The arguments of `detect` that are given by name."""

    language: str
    key: str | Sequence[str] | None
    time: str | Sequence[str] | None
    type: str | None
    matches: str | None
    take: str | None


@overload
def detect(events: Events, pattern: Pattern, *options: object, **named: Unpack[_Named]) -> DataFrame: ...
@overload
def detect(
    events: pd.DataFrame, pattern: Pattern, *options: object, **named: Unpack[_Named]
) -> pd.DataFrame: ...
@overload
def detect(events: pa.Table, pattern: Pattern, *options: object, **named: Unpack[_Named]) -> pa.Table: ...


def detect(
    events: Any,
    pattern: Pattern,
    *options: object,
    language: str = DEFAULT,
    key: str | Sequence[str] | None = None,
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    matches: str | None = None,
    take: str | None = None,
) -> Any:
    """Detect composite events of one or several patterns in a table or a stream of events.

    Args:
        events: a Spark table, or the path of a Parquet file or folder; or a table of pandas, polars or Arrow, in which
            Spark detects at once.
        pattern: the text of a pattern, a subscription, or a mapping of names to either; equal parts are detected once.
        options: at most one of each kind: `tocsin.Columns`, `tocsin.Run`, for streams `tocsin.Stream` and `tocsin.Rules`, a
            `tocsin.Catalog` of event types, and for the language a mapping of its options, such as
            `{"restart": "never"}`. Each class documents its options; one that does not apply is refused.
        key: column or columns; patterns are then matched within each key.
        time: a column, or a pair of columns with start and end. By default `time`, or the only column of a time type.
        type: the column with the event type (a string, or an array of all types an event belongs to). By default `type`;
            a table without such a column holds events of one type, `Event` or the one given by `Columns(event_type=…)`.
        matches: which matches to report, for patterns that do not say so themselves: `each`, `any`, `next`, `leftmost`
            or `adjacent`.
        take: what to report of the matches completed at one moment: `all`, `first 3`, `last` or `count`.

    Returns:
        A table of the same kind as the events, for a path one of Spark: one row per match, or per event that is sent.
        `tocsin.runtime.results.match_rows` describes the columns, and `tocsin.sent` returns the events that were sent,
        one table per type.
    """
    given = gather(options)
    patterns = GivenPatterns(pattern, language, given.language, matches, take, given.catalog)
    with for_spark(events, given) as (table, own, local):
        found = _detect(_Call(table, _Names(key, time, type), patterns, own))
        return found if local is None else local.like(found)


def route(
    events: Any,
    pattern: Pattern,
    *options: object,
    language: str = DEFAULT,
    key: str | Sequence[str] | None = None,
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    matches: str | None = None,
    take: str | None = None,
) -> Route:
    """Return the route that `detect` takes with the same arguments, and why it takes no faster one."""
    given = gather(options)
    patterns = GivenPatterns(pattern, language, given.language, matches, take, given.catalog)
    with for_spark(events, given) as (table, own, _):
        call = _Call(table, _Names(key, time, type), patterns, own)
        _check(call)
        if not call.streams:
            return choose(_query(call)).route
        return route_of_stream(None if given.rules is not None else lookup_if_many(_query(call)))


@contextmanager
def for_spark(events: Any, options: Options) -> Iterator[tuple[Events, Options, LocalTable | None]]:
    """Yield events in a form that Spark reads, the options for it, and what they were if they were a local table."""
    local = local_table(events)
    if local is None:
        if not isinstance(events, Events):
            raise InputError(
                "bad-table",
                f"events cannot be a {type(events).__module__}.{type(events).__name__}",
                hint="give a table of Spark, pandas, polars or Arrow, or the path of Parquet files",
            )
        yield events, options, None
        return
    spark: SparkSession = options.run.spark or local_session()
    with local.for_spark(spark) as table:
        session = None if isinstance(table, DataFrame) else spark
        yield table, replace(options, run=replace(options.run, spark=session)), local


class _Names(NamedTuple):
    """The columns that are named by arguments of `detect` itself."""

    key: str | Sequence[str] | None
    time: str | Sequence[str] | None
    type: str | None


class _Call(NamedTuple):
    """The arguments of `detect`."""

    events: Events
    names: _Names
    patterns: GivenPatterns
    options: Options

    @property
    def streams(self) -> bool:
        return isinstance(self.events, DataFrame) and self.events.isStreaming


def _detect(call: _Call) -> DataFrame:
    _check(call)
    if call.options.rules is not None:
        return _with_rules(call, call.options.rules)
    query = _query(call)
    check_worker_python(query.spark)
    warn(doubts(query))
    if call.streams:
        return with_tables(_in_stream(call, query), query.compiled)
    query = replace(query, types_seen=types_seen(query))
    return with_tables(choose(query).matches(), query.compiled)


def _check(call: _Call) -> None:
    """Refuse options that do not apply to the events of a call."""
    options = call.options
    refuse(options.replay, "it is for tocsin.replay")
    if isinstance(call.events, DataFrame):
        refuse_fields(options.run, ["spark"], "a DataFrame has a session of its own")
    if call.streams:
        refuse_fields(options.run, ["cut"], "the events of a stream are dealt to shards by key")
        return
    what = "a table" if isinstance(call.events, DataFrame) else "the path of files"
    hint = "give a streaming DataFrame, as spark.readStream makes one, or leave it out"
    refuse(options.stream, f"the events are {what}, and no stream", hint)
    refuse(options.rules, f"only a stream has rules that change, and the events are {what}", hint)


def _query(call: _Call) -> Query:
    """Find the columns, and compile the patterns."""
    events, options = call.events, call.options
    table = (
        events if isinstance(events, DataFrame) else ParquetPath(options.run.spark or local_session(), events)
    )
    columns = find_columns(table, call.names.key, call.names.time, call.names.type, options.columns)
    compiled = compile_patterns(call.patterns, attribute_kinds(table), points=not columns.have_length)
    report, carried = options.columns.report, carried_columns(table, columns, options.columns.attributes)
    if (
        not call.streams
        and report is not None
        and "constituents" not in report
        and not sends(compiled.compiled)
    ):
        carried = ()  # no column of the result would contain them
    return Query(
        table,
        columns,
        compiled.compiled,
        compiled.catalog,
        carried,
        report,
        options.run.unreadable,
        options.run.max_partial_matches,
        options.run.cut,
        compiled.detections,
    )


def find_columns(
    table: HasSchema,
    key: str | Sequence[str] | None,
    time: str | Sequence[str] | None,
    type: str | None,
    named: Columns,
) -> EventColumns:
    """Find the columns of events from the arguments of `detect`; see `events.columns.event_columns`."""
    source = named.source or ("source" if "source" in table.schema.names else None)
    columns = event_columns(
        table,
        time=time,
        type=type,
        event_type=named.event_type,
        key=key,
        id=named.id,
        source=source,
        time_unit=named.time_unit,
    )
    return with_order(columns, table, named.order)


def carried_columns(
    table: HasSchema, columns: EventColumns, attributes: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns that constituents carry: the named ones, or all that describe events."""
    there = table.schema.names
    if attributes is None:
        return tuple(name for name in there if name not in columns.named)
    found = [required_name(table, name) for name in attributes]
    for name in found:
        if name not in there:
            hint = f"carry the whole struct, or add a column for it: df.withColumn('…', col({name!r}))"
            raise InputError("unknown-column", f"{name!r} is a field inside a column", hint=hint)
    return tuple(found)


# --- Streams ----------------------------------------------------------------------------------------


def _in_stream(call: _Call, query: Query) -> DataFrame:
    options = StreamOptions.of(call.options.stream or Stream())
    asked = StreamQuery(query, options)
    waits = by_source(asked.paces)
    if not waits and (options.sources or options.silent_after is not None):
        message = "sources and silent_after of tocsin.Stream do not apply: no pattern waits for sources"
        raise InputError("bad-option", message, hint="say detection='guaranteed', or leave them out")
    return _only(detect_stream(asked), query.output_columns)


def _with_rules(call: _Call, rules: Rules) -> DataFrame:
    """Return the matches of a stream whose rules change."""
    events, options, patterns = call.events, call.options, call.patterns
    assert isinstance(events, DataFrame)
    check_worker_python(events.sparkSession)
    columns = find_columns(events, call.names.key, call.names.time, call.names.type, options.columns)
    settings = RuleSettings(
        events.schema,
        columns,
        rule_columns_of(events, rules.columns),
        StreamOptions.of(options.stream or Stream()),
        language_named(patterns.language).name,
        patterns.named_options,
        patterns.matches,
        patterns.take,
        patterns.catalog,
    )
    carried = carried_columns(events, columns, options.columns.attributes)
    asked = RuledQuery(
        rules.changes, rules_of(patterns.pattern), settings, carried, options.run.max_partial_matches
    )
    found = detect_with_rules(events, asked, options.run.unreadable, rules.report == "keep")
    return _only(found, options.columns.report)


def _only(found: DataFrame, columns: Sequence[str] | None) -> DataFrame:
    """Select columns of a stream's rows. The stream computes all, so its state does not depend on the selection."""
    return found if columns is None else found.select(*chosen_columns(found.columns, columns))
