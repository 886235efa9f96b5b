"""The query of a call to `detect` as one value, which every route and all preparation of events take as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tocsin.algebra.tokens.subscription import Detection
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.span import overlap
from tocsin.events import Catalog
from tocsin.runtime.batch.chain_rows import has_links
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.read.parquet_events import ReadJob


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a faster way does not apply."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class EventColumns:
    """The columns of a table of events, checked against its schema.

    `type` is a column, or None if every event is of the type `constant_type`. `time` is one column, or start and end.
    """

    type: str | None
    constant_type: str
    time: tuple[str, str]
    time_unit: str | None
    key: tuple[str, ...]
    id: str | None
    source: str | None
    order: str | None = None

    @property
    def own(self) -> tuple[str, ...]:
        """The columns of type and source, if there are any, which predicates may use without naming them."""
        return tuple(name for name in (self.type, self.source) if name is not None)

    @property
    def named(self) -> frozenset[str]:
        """The columns of time, type and id, as opposed to attributes."""
        return frozenset({*self.time, *([self.type] if self.type else []), *([self.id] if self.id else [])})

    @property
    def have_length(self) -> bool:
        """Whether events have a start and an end of their own."""
        return self.time[0] != self.time[1]

    @property
    def required(self) -> tuple[tuple[str, str], ...]:
        """The columns without which a row is not an event, each with the reason to report."""
        return (
            *((name, f"no time in column {name!r}") for name in dict.fromkeys(self.time)),
            *([(self.type, f"no type in column {self.type!r}")] if self.type else []),
            *((name, f"no key in column {name!r}") for name in self.key),
        )


UTC_NAMES = ("UTC", "Etc/UTC", "Z", "+00:00", "GMT")  # time zones in which nothing has to be converted
BACKWARDS = "it ends before it starts"  # the other reason why a row is not an event


class HasSchema(Protocol):
    """Anything with a schema, such as a `DataFrame`."""

    @property
    def schema(self) -> T.StructType:
        """The columns."""
        ...


class EventFiles(HasSchema, Protocol):
    """Events in files that Python tasks may be able to read themselves, so that rows never pass through Java."""

    @property
    def sparkSession(self) -> SparkSession:  # noqa: N802  (as Spark calls it)
        """The session that reads them."""
        ...

    @property
    def frame(self) -> DataFrame:
        """The events as a table that Spark reads."""
        ...

    def reading(self, query: Query) -> ReadJob | Refusal:
        """Return how tasks read the events of a query, or why they cannot."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """Compiled patterns, and the events to detect them in."""

    events: HasSchema  # a `DataFrame`, or `EventFiles`
    columns: EventColumns
    compiled: Compiled
    catalog: Catalog
    carried_columns: Sequence[str] = ()  # the attributes of constituents
    output_columns: Sequence[str] | None = None  # of the table of matches; None for all
    unreadable: str = "fail"  # what to do with rows that are not events: `fail` or `drop`
    limit: int = MAX_TOKENS  # partial matches of a key
    cut: str | None = None  # `key` or `time`, if the user chose how events are assigned to tasks
    detections: Mapping[str, Detection | None] = field(default_factory=dict)  # by subscription
    all_relevant: bool = False  # whether every row is known to be a relevant event
    types_seen: Any = None  # collects the types that occur (`events.types_seen`); None if they are not needed

    @property
    def schema(self) -> T.StructType:
        """The columns of the events."""
        return self.events.schema

    @property
    def files(self) -> EventFiles | None:
        """The files of the events, if they were not given as a table."""
        return None if isinstance(self.events, DataFrame) else cast(EventFiles, self.events)

    @property
    def table(self) -> DataFrame:
        """The events as a table."""
        return self.events if isinstance(self.events, DataFrame) else cast(EventFiles, self.events).frame

    @property
    def spark(self) -> SparkSession:
        """The session that runs it."""
        return cast(EventFiles, self.events).sparkSession

    @property
    def time_zone(self) -> str:
        """The session's time zone, in which Spark compares times without a zone with others."""
        return str(self.spark.conf.get("spark.sql.session.timeZone"))

    @property
    def partitions(self) -> int:
        """Into how many partitions Spark shuffles."""
        return int(str(self.spark.conf.get("spark.sql.shuffle.partitions")))

    @property
    def longest(self) -> int | None:
        """How many microseconds a match can last; None if there is no bound, or matches depend on all the past."""
        return overlap(self.compiled, chains=True)

    @property
    def overlap(self) -> int | None:
        """By how many microseconds chunks must overlap when events are shuffled; None if keys cannot be cut by time."""
        return overlap(self.compiled, chains=not self.columns.key and has_links(self.compiled.plan))
