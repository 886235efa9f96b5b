"""Detect composite events in a table: one Spark job, whatever the number of patterns.

What happens to the rows: every question about single events is answered as bits of one column, the events no pattern looks
at are dropped, and the events of each key come together; then each partition is one call into the kernels. Spark answers the
questions of a table; those of Parquet files the Python tasks answer that read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.algebra.check import wanting
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.selection import Selection
from tocsin.algebra.subscription import Reading, Subscription
from tocsin.automata.compile import Compiled, compile
from tocsin.automata.span import overlap
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.registry import ALIASES, parse, selection_of
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.matches import chosen_columns
from tocsin.runtime.reading import BIT_WORDS
from tocsin.spark.columns import EventColumns, HasSchema, attribute_kinds, event_columns
from tocsin.spark.compile_rules import RuleSettings
from tocsin.spark.completion import LANGUAGES as COMPLETION
from tocsin.spark.completion import Ports, Text, compile_texts
from tocsin.spark.job import is_unreadable, looked_at, overlap_by_time, prepare, readable, run, without_length
from tocsin.spark.lines import (
    StreamOptions,
    by_source,
    paces_of,
    source_column,
    stream_plan,
    too_far_ahead,
)
from tocsin.spark.parquet import cannot_cut, detect_parquet, plan_reading
from tocsin.spark.parquet_path import ParquetPath
from tocsin.spark.questions import NoArrowForm, run_asked
from tocsin.spark.rules import detect_with_rules, rule_columns_of, rules_of
from tocsin.spark.sent import sends
from tocsin.spark.session import local_session
from tocsin.spark.stream import found_in, run_stream

Pattern = Text | Subscription | Mapping[str, Text | Subscription]
_SPARK_WORDS = (
    1  # of answers that Spark gives: to plan and compile more questions takes it longer than to look them up
)


def detect(
    events: DataFrame | str | Path,
    pattern: Pattern,
    *,
    spark: SparkSession | None = None,
    language: str = "core",
    time: str | Sequence[str] | None = None,
    type: str | None = None,
    event_type: str | None = None,
    key: str | Sequence[str] | None = None,
    id: str | None = None,
    source: str | None = None,
    time_unit: str | None = None,
    attributes: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    matches: str | None = None,
    take: str | None = None,
    catalog: Catalog | None = None,
    types: str | Path | Types | None = None,
    assembly: str | Path | None = None,
    ports: Ports | None = None,
    unreadable: str = "fail",
    max_partial_matches: int = MAX_TOKENS,
    cut: str | None = None,
    delay: str = "10s",
    detection: str | None = None,
    sources: Sequence[str] = (),
    silent_after: str | None = None,
    idle: str | None = None,
    shards: int | None = None,
    late: str = "fail",
    ahead: str = "1d",
    rules: DataFrame | str | Path | None = None,
    rule_columns: Sequence[str] | None = None,
    rule_changes: str = "drop",
) -> DataFrame:
    """Composite events of one or several patterns over a table or a stream of events.

    Args:
        events: a table, or the path of a Parquet file or of a folder of them, which is read faster than the table it is.
        spark: the session that reads a path; by default the one that runs, or one that is started here.
        pattern: the text of a pattern, a subscription, or a mapping of names to either; equal parts are detected once.
        time: a column, or a pair of columns with start and end. By default `time`, or the only column of a time type.
        type: the column with the event type (a string, or an array of all types an event belongs to). By default `type`;
            a table without such a column holds events of one type, `event_type`, by default `Event`.
        key: column or columns; patterns are then looked for among the events of each key alone.
        id: a column whose values are unique; it decides the order of events at the same time. By default a hash of the row.
        source: the column with the device or system an event is from; by default `source`, if there is one.
        time_unit: the unit of numeric time columns: s, ms, us or ns.
        attributes: the columns that constituents of matches carry; by default all others.
        columns: the columns of the table of matches; by default all. Few are faster: what nobody asks for is not made, and
            events whose ids are not asked for are not read whole.
        options: readings of the language, such as `restart` and `strong_scope`.
        matches: which matches are wanted of a pattern that does not say it itself: `each`, `any`, `next`, `leftmost` or
            `adjacent`.
        take: what is reported of those that are complete at one moment: `all`, `first 3`, `last` or `count`.
        types: for KSU correlations, the text or the file of the event types in IDL.
        assembly: for KSU correlations, the text or the file that says which ports are connected.
        ports: instead of an assembly, for each correlation and each of its events the source it comes from.
        unreadable: what to do with rows without time, type or key, or that end before they start: `fail` or `drop`.
        max_partial_matches: stop with an error when a key holds more partial matches than this at once, or one event
            completes more matches than this. What goes on in groups (see `tocsin explain`) counts by the events it holds.
        cut: `key` if each task is to have all events of some keys, `time` if it is to have the events of all keys in a piece of
            the time axis, which is even if one key has most of the events. By default by key, and without a key by time;
            Parquet files by time if they lie in its order. A pattern that needs all the past is never cut by time; in a table
            with a key, `leftmost` does.
        delay: in a stream, how long after an event that is already there an earlier one may still arrive.
        detection: in a stream, when events are used, for patterns that do not say it themselves: `best-effort` (as they
            come), `guaranteed` (when every source has delivered something later), `probabilistic(0.95)`; by default `delay`
            after them.
        sources: in a stream, the sources that `guaranteed` and `probabilistic` detection wait for.
        silent_after: in a stream, a source that lags so far behind the foremost is not waited for, until it is heard again.
        idle: in a stream, when nothing came for so long, time goes on by the clock on the wall.
        shards: in a stream, into how many groups of keys the state is cut; by default `spark.sql.shuffle.partitions`.
        late: in a stream, what to do with events that come when their time is decided: `fail`, `drop` or `keep`. Kept ones
            are rows without a pattern, and a column `late` says why.
        ahead: in a stream, how far ahead of the clock on the wall an event may lie, or `any`. One further ahead is treated as
            late ones are, and time does not go on by it: one wrong clock does not make all other events late.
        rules: in a stream, the folder to watch for changes of the patterns, or a streaming DataFrame of changes; see
            `docs/how-to/rules.md`. `pattern` is what the stream begins with, and may be empty: `{}`.
        rule_columns: the columns that such rules may name; by default all.
        rule_changes: `keep` adds rows without a pattern that tell in a column `rule_change` what became of each change, and
            why one was refused; by default, `drop`, only the checkpoint tells it.

    Returns:
        One row per match, or per event that is sent; `tocsin.runtime.matches` describes the columns, and `tocsin.sent`
        gives the events that were sent, one table a type.
    """
    if unreadable not in ("fail", "drop"):
        raise InputError("bad-option", f"unreadable cannot be {unreadable!r}", hint="fail or drop")
    if cut not in (None, "key", "time"):
        raise InputError("bad-option", f"cut cannot be {cut!r}", hint="key or time")
    streaming = StreamOptions.of(delay, detection, sources, silent_after, idle, shards, late, ahead)
    if rules is not None:
        if rule_changes not in ("drop", "keep"):
            raise InputError("bad-option", f"rule_changes cannot be {rule_changes!r}", hint="drop or keep")
        told = _with_rules(
            events,
            rules,
            pattern,
            streaming,
            unreadable,
            max_partial_matches,
            rule_changes == "keep",
            rule_columns,
            attributes,
            {
                "time": time,
                "type": type,
                "event_type": event_type,
                "key": key,
                "id": id,
                "source": source,
                "time_unit": time_unit,
            },
            {
                "language": ALIASES.get(language, language),
                "options": options or {},
                "matches": matches,
                "take": take,
                "catalog": catalog,
                "types": types,
                "assembly": assembly,
                "ports": ports,
            },
        )
        return _only(told, columns)
    plan = _plan(
        events,
        pattern,
        spark=spark,
        language=language,
        time=time,
        type=type,
        event_type=event_type,
        key=key,
        id=id,
        source=source,
        time_unit=time_unit,
        attributes=attributes,
        options=options,
        matches=matches,
        take=take,
        catalog=catalog,
        types=types,
        assembly=assembly,
        ports=ports,
    )
    if isinstance(plan.table, DataFrame) and plan.table.isStreaming:
        return _only(_in_stream(plan, plan.table, streaming, unreadable, max_partial_matches), columns)
    return _in_table(plan, unreadable, max_partial_matches, cut, columns)


def _only(told: DataFrame, columns: Sequence[str] | None) -> DataFrame:
    """Some columns of what a stream tells. It keeps all, because what it remembers is the same whatever is asked for."""
    return told if columns is None else told.select(*chosen_columns(told.columns, columns))


def _in_table(
    plan: _Plan, unreadable: str, limit: int, cut: str | None, wanted: Sequence[str] | None
) -> DataFrame:
    """The matches in a table, or in Parquet files that Spark may not have to read."""
    plan = _reporting(plan, wanted)
    columns, compiled, catalog, carried = plan.parts
    files = isinstance(plan.table, ParquetPath)
    longest = overlap(compiled, chains=True) if files else overlap_by_time(compiled, columns.key)
    if cut == "time" and longest is None:
        raise cannot_cut("it has no longest match, or depends on earlier matches")
    if isinstance(plan.table, ParquetPath):
        found = detect_parquet(plan.table, *plan.parts, unreadable, limit, cut, wanted)
        if isinstance(found, DataFrame):
            return found
        table = plan.table.frame
    else:
        table = plan.table
    # Events that travel by key are asked where they are packed, if Spark would be long about so many questions.
    by_key = bool(columns.key) and cut != "time"
    if compiled.plan.words > (_SPARK_WORDS if by_key else BIT_WORDS):
        found = run_asked(table, *plan.parts, unreadable, limit, wanted)
        if isinstance(found, DataFrame):
            return found
    # Asked of the table, so that Spark prepares only the rows that some pattern looks at.
    asked, problem = looked_at(table, columns, compiled, catalog), is_unreadable(table, columns)
    used = table.where(asked | problem if unreadable == "fail" else asked & ~problem)
    used = readable(prepare(used, columns, compiled, catalog, carried), unreadable)
    return run(used, table, columns, compiled, carried, limit, cut, wanted)


def _with_rules(
    events: DataFrame | str | Path,
    rules: DataFrame | str | Path,
    pattern: Pattern,
    options: StreamOptions,
    unreadable: str,
    limit: int,
    told: bool,
    rule_columns: Sequence[str] | None,
    attributes: Sequence[str] | None,
    named: Mapping[str, Any],
    compiling: Mapping[str, Any],
) -> DataFrame:
    """The same for a stream whose rules change; `named` are columns, `compiling` is how rules are read."""
    if not isinstance(events, DataFrame) or not events.isStreaming:
        hint = "give a streaming DataFrame, as spark.readStream makes one"
        raise InputError("bad-option", "only a stream has rules that change", hint=hint)
    columns = _columns(events, **named)
    settings = RuleSettings(
        events.schema,
        columns,
        rule_columns_of(events, rule_columns),
        str(events.sparkSession.conf.get("spark.sql.session.timeZone")),
        options,
        **compiling,
    )
    carried = _carried(events, columns, attributes)
    return detect_with_rules(events, rules, rules_of(pattern), settings, carried, unreadable, limit, told)


def _in_stream(
    plan: _Plan, table: DataFrame, options: StreamOptions, unreadable: str, limit: int
) -> DataFrame:
    columns, compiled, catalog, carried = plan.parts
    named = {one.name: one.detection for one in plan.subscriptions}
    paces = paces_of(compiled, options, named)
    others = [source_column(columns)] if by_source(paces) else []
    prepared = prepare(table, columns, compiled, catalog, carried, others=others)
    if options.ahead is not None:
        prepared = prepared.withColumn("ahead", too_far_ahead(F.col("end"), options.ahead))
    stream = stream_plan(prepared, table, columns, compiled, carried, limit, options, paces)
    # Every row says how far time has come, also one that no pattern looks at.
    used = without_length(readable(prepared, unreadable), columns)
    return found_in(run_stream(used, stream), stream)


def why_not_arrow(
    events: str | Path,
    pattern: Pattern,
    *,
    unreadable: str = "fail",
    columns: Sequence[str] | None = None,
    **others: Any,
) -> str | None:
    """Why `detect` with these arguments reads a path as a table of Spark; None if Arrow reads it."""
    plan = _reporting(_plan(events, pattern, **others), columns)
    assert isinstance(plan.table, ParquetPath)
    reading = plan_reading(plan.table, *plan.parts, unreadable)
    return reading.reason if isinstance(reading, NoArrowForm) else None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The arguments of `detect`, understood."""

    table: DataFrame | ParquetPath
    columns: EventColumns
    compiled: Compiled
    catalog: Catalog
    carried: tuple[str, ...]
    subscriptions: tuple[Subscription, ...] = ()  # of the languages that have them

    @property
    def parts(self) -> tuple[EventColumns, Compiled, Catalog, tuple[str, ...]]:
        return self.columns, self.compiled, self.catalog, self.carried


def _reporting(plan: _Plan, wanted: Sequence[str] | None) -> _Plan:
    """The same without attributes, if there is nothing in the matches that carries them."""
    if wanted is None or "constituents" in wanted or sends(plan.compiled):
        return plan
    return replace(plan, carried=())


def _plan(
    events: DataFrame | str | Path,
    pattern: Pattern,
    *,
    spark: SparkSession | None = None,
    language: str = "core",
    source: str | None = None,
    attributes: Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    matches: str | None = None,
    take: str | None = None,
    catalog: Catalog | None = None,
    types: str | Path | Types | None = None,
    assembly: str | Path | None = None,
    ports: Ports | None = None,
    **named: Any,
) -> _Plan:
    """Find the columns and compile the patterns; `named` are the names of columns that `event_columns` takes."""
    selection = selection_of(language, matches, take)
    table = events if isinstance(events, DataFrame) else ParquetPath(spark or local_session(), events)
    columns = _columns(table, source=source, **named)
    kinds = attribute_kinds(table)
    if language in COMPLETION:
        wanted: list[Subscription] = []
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
        reading = Reading.of(options or {})
        wanted = _subscriptions(pattern, language, catalog, reading, selection)
        compiled = compile(wanted, points=columns.time[0] == columns.time[1])
    carried = _carried(table, columns, attributes)
    return _Plan(table, columns, compiled, catalog, carried, tuple(wanted))


def _columns(table: HasSchema, *, source: str | None, **named: Any) -> EventColumns:
    own_source = source or ("source" if "source" in table.schema.names else None)
    return event_columns(table, source=own_source, **named)


def _subscriptions(
    pattern: Pattern, language: str, catalog: Catalog, reading: Reading, selection: Selection | None
) -> list[Subscription]:
    named = pattern if isinstance(pattern, Mapping) else {"pattern": pattern}
    if not named:
        raise InputError("no-pattern", "there is no pattern to detect")
    found = []
    for name, text in named.items():
        if isinstance(text, str):
            found.append(
                parse(text, language, catalog=catalog, reading=reading, selection=selection, name=name)
            )
        elif isinstance(text, Subscription):
            found.append(wanting(text, selection))
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


def _carried(table: HasSchema, columns: EventColumns, attributes: Sequence[str] | None) -> tuple[str, ...]:
    there = table.schema.names
    if attributes is None:
        return tuple(name for name in there if name not in columns.named)
    for name in attributes:
        if name not in there:
            raise InputError(
                "unknown-column", f"the table has no column {name!r}", hint=did_you_mean(name, there)
            )
    return tuple(attributes)
