"""Groups of options of `tocsin.detect` and `tocsin.replay`: each group is one value, given after the pattern.

    tocsin.detect(events, pattern, tocsin.Columns(id="number"), tocsin.Run(unreadable="drop"), key="room")

Each kind can be given once. A `tocsin.Catalog` declares event types, and a mapping (or a value of the language's own) says how
the language is read, as in `{"restart": "never"}`. An option that does not apply is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tocsin.errors import InputError
from tocsin.events import Catalog
from tocsin.runtime.feed import MAX_TOKENS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Columns:
    """The roles of the columns of events, and the columns of matches.

    Args:
        event_type: the type of all events, if no column holds it; by default `Event`.
        id: a column whose values are unique; it decides the order of events at the same time. By default a hash of the row.
        order: a column, such as an offset or a line number, that orders events of the same time before their ids do.
        source: the column with the device or system an event is from; by default `source`, if there is one.
        time_unit: the unit of numeric time columns: s, ms, us or ns.
        attributes: the columns that constituents of matches carry; by default all others.
        report: the columns of the table of matches; by default all. Fewer are faster: a column that is not requested is
            not computed, and without ids fewer columns of the events are read.
    """

    event_type: str | None = None
    id: str | None = None
    source: str | None = None
    time_unit: str | None = None
    attributes: Sequence[str] | None = None
    report: Sequence[str] | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """When a stream uses its events, and what it does with late ones.

    Args:
        delay: by how much an event may be older than one that has already arrived.
        detection: when events are used, for patterns that do not say so themselves: `best-effort` (as they arrive),
            `guaranteed` (when every source has delivered something later), `probabilistic(0.95)`; by default `delay` after
            their time.
        sources: the sources that `guaranteed` and `probabilistic` detection wait for.
        silent_after: a source this far behind the most advanced one is not waited for until it sends something again.
        idle: when nothing has arrived for this long, wall-clock time advances the watermark.
        shards: into how many groups of keys the state is cut; by default `spark.sql.shuffle.partitions`.
        late: what to do with events that arrive after the watermark has passed them: `fail`, `drop` or `keep`. Kept
            ones become rows without a pattern, and a column `late` says why.
        ahead: how far ahead of wall-clock time an event may be, or `any`. One further ahead is treated like a late one,
            and does not advance the watermark: one wrong clock does not make all other events late.
    """

    delay: str = "10s"
    detection: str | None = None
    sources: Sequence[str] = ()
    silent_after: str | None = None
    idle: str | None = None
    shards: int | None = None
    late: str = "fail"
    ahead: str = "1d"


@dataclass(frozen=True, slots=True)
class Rules:
    """Patterns of a stream that change while it runs; see `docs/how-to/rules.md`.

    Args:
        changes: the folder to watch for changes of the patterns, or a streaming DataFrame of changes. The stream starts
            with the pattern given to `detect`, which may be empty: `{}`.
        columns: the columns that such rules may name; by default all.
        report: `keep` adds rows without a pattern whose column `rule_change` holds the outcome of each change, and why
            one was refused; with `drop` it is only in the checkpoint.
    """

    changes: DataFrame | str | Path
    columns: Sequence[str] | None = None
    report: str = "drop"


@dataclass(frozen=True, slots=True)
class Run:
    """How a query is run.

    Args:
        spark: the session that reads a path; by default the running one, or a new one.
        unreadable: what to do with rows without time, type or key, or that end before they start: `fail` or `drop`.
        cut: `key` to give each task all events of some keys, `time` to give it the events of all keys in a chunk of the
            time axis, which is balanced even if one key has most of the events. The default is by key, and without a
            key by time; Parquet files are cut by time if their rows are in the order of time. A pattern that needs all
            the past is never cut by time; in a table with a key, `leftmost` is such a pattern.
        max_partial_matches: stop with an error when a key holds more partial matches than this at once, or one event
            completes more matches than this. Partial matches in groups (see `tocsin explain`) count by the events they
            hold.
    """

    spark: SparkSession | None = None
    unreadable: str = "fail"
    cut: str | None = None
    max_partial_matches: int = MAX_TOKENS


@dataclass(frozen=True, slots=True)
class Replay:
    """How events arrived, and the detection policy to test on them.

    Args:
        arrival: the column with the arrival of an event: a time, or any increasing number.
        source: the column with the source of an event; each delivers its own events in the total order.
        policy: `best-effort`, `guaranteed` or `probabilistic` (with a `threshold`); by default the pattern's own, or
            best effort if it names none.
        threshold: for `probabilistic`, how likely it must be that no earlier event arrives.
        stability: whether `all-sources` must have passed an event, or only the `same-source`.
        sources: all sources to wait for; by default those of the table.
    """

    arrival: str
    source: str
    policy: str | None = None
    threshold: float | None = None
    stability: str = "all-sources"
    sources: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """All options of a call by kind; None for one that was not given and has no default."""

    columns: Columns = Columns()
    run: Run = Run()
    stream: Stream | None = None
    rules: Rules | None = None
    replay: Replay | None = None
    catalog: Catalog | None = None
    language: object = field(default_factory=dict)  # a mapping, or a value of the language's own


_KINDS = {
    Columns: "columns",
    Run: "run",
    Stream: "stream",
    Rules: "rules",
    Replay: "replay",
    Catalog: "catalog",
}
_NAMED = "tocsin.Columns, Stream, Rules, Run, Replay or Catalog, or a mapping for the language"
_Option = TypeVar("_Option", Columns, Run)


def gather(given: Iterable[object]) -> Options:
    """Return the options of a call by kind; raise `InputError` if a kind is unknown or given twice."""
    found: dict[str, object] = {}
    for one in given:
        kind = next((name for type, name in _KINDS.items() if isinstance(one, type)), None)
        if kind is None and (isinstance(one, Mapping) or _is_frozen(one)):
            kind = "language"
        if kind is None:
            message = f"{type(one).__name__} {one!r} is not an option"
            raise InputError("unknown-option", message, hint=f"give {_NAMED}")
        if kind in found:
            message = f"there are two values of {type(one).__name__} for the {kind} options"
            raise InputError("bad-option", message, hint="put everything into one of them")
        found[kind] = one
    return _checked(Options(**found))  # type: ignore[arg-type]


def _is_frozen(value: object) -> bool:
    """Return whether a value is a frozen dataclass, as the options of a language are."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def _checked(options: Options) -> Options:
    _one_of("unreadable", options.run.unreadable, ("fail", "drop"))
    _one_of("cut", options.run.cut, (None, "key", "time"))
    if options.run.max_partial_matches < 1:
        message = f"max_partial_matches cannot be {options.run.max_partial_matches}"
        raise InputError("bad-option", message, hint="use 1 or more")
    if options.rules is not None:
        _one_of("report of Rules", options.rules.report, ("drop", "keep"))
    return options


def _one_of(name: str, value: str | None, allowed: tuple[str | None, ...]) -> None:
    if value not in allowed:
        hint = " or ".join(str(one) for one in allowed if one is not None)
        raise InputError("bad-option", f"{name} cannot be {value!r}", hint=f"use {hint}")


def refuse(option: object | None, why: str, hint: str = "leave it out") -> None:
    """Refuse a kind of options that does not apply, if it was given."""
    if option is not None:
        raise InputError("bad-option", f"tocsin.{type(option).__name__} does not apply: {why}", hint=hint)


def refuse_fields(option: _Option, names: Iterable[str], why: str) -> None:
    """Refuse single options of a kind that do not apply, if they were given."""
    defaults = {one.name: one.default for one in fields(option)}
    for name in names:
        if getattr(option, name) != defaults[name]:
            kind = type(option).__name__
            raise InputError(
                "bad-option", f"{name} of tocsin.{kind} does not apply: {why}", hint="leave it out"
            )
