"""The contents of a pipeline file as values: sources, event types, subscriptions, sinks, dead letters, stream options.

Paths are absolute here, durations are microseconds, names are checked. `place` says where in the file
something stands, as in `("source", 0)`; `Pipeline.error` turns that into an error with file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Detection
from tocsin.compile.family import NamedText
from tocsin.errors import PipelineError
from tocsin.events import Catalog, EventType
from tocsin.languages.registry import DEFAULT, language
from tocsin.languages.rule_file import Metadata, RuleFile
from tocsin.spark.pipeline.file.broker import BrokerFormat, Connection, Feed
from tocsin.spark.pipeline.file.document import Document, Place

SourceFormat = Literal["parquet", "jsonl", "csv", "table"] | BrokerFormat
TimeUnit = Literal["s", "ms", "us", "ns"]
FileFormat = Literal["parquet", "jsonl"]
SinkFormat = Literal["parquet", "jsonl", "table", "console"] | BrokerFormat
Mode = Literal["error", "overwrite"]
LateMode = Literal["fail", "drop", "keep"]
RepeatedMode = Literal["keep", "drop"]

AHEAD = 86_400_000_000  # a day: no time zone is so far off


@dataclass(frozen=True, slots=True)
class Limit:
    """A prefilter: among events of a type with equal attributes `by`, at most one is kept per interval `every`."""

    type: str
    by: tuple[str, ...]
    every: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where events come from, and which columns identify them, by their names after `rename`."""

    name: str
    format: SourceFormat
    location: str  # a path, or the name of a table, or topics
    place: Place
    time: tuple[str, str] | None = None  # start and end, the same column twice for events without duration
    time_unit: TimeUnit | None = None
    type: str | None = None
    event_type: str | None = None
    id: str | None = None
    origin: str | None = None  # the column with the name of the device; the file calls it `source`
    rename: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    separator: str = ","
    stream: bool = False  # whether further events may come while the pipeline runs
    max_files: int | None = None  # of a stream of files, how many a micro-batch takes; None for all there are
    feed: Feed | None = None  # what is read of a broker
    multiline: bool = False  # whether quoted fields of a CSV file may hold line breaks


@dataclass(frozen=True, slots=True)
class Declarations:
    """The event types and sets of a pipeline. `strict`: there are no others, and no other attributes."""

    types: tuple[EventType, ...] = ()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False

    def catalog(
        self, common: Mapping[str, str] | None = None, composites: Iterable[EventType] = ()
    ) -> Catalog:
        """Return a catalog of the declared types and of `further` ones: composites, sent events, types of an IDL file.

        Of several with one name the first counts, and a declared one before all others.
        """
        known = {event_type.name: event_type for event_type in self.types}
        for composite in composites:
            known.setdefault(composite.name, composite)
        return Catalog(known.values(), self.sets, common=common, closed=self.strict)

    @property
    def attributes(self) -> dict[str, str]:
        """Return every declared attribute with its type; event types that share an attribute agree on its type."""
        return {name: kind for event_type in self.types for name, kind in event_type.attributes.items()}


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a receiver takes sent events: at most `most` per interval `every`, from a queue of `capacity`."""

    every: str
    capacity: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A subscription as written in the file; its pattern is still text."""

    name: str
    text: str
    place: Place
    file: str | None = None  # the file the text is from; None if it stands in the pipeline file
    language: str = DEFAULT
    key: tuple[str, ...] = ()
    selection: Selection | None = None  # which matches are wanted where the text does not say it
    attributes: tuple[str, ...] | None = None  # the columns that matches carry; None for all
    events: tuple[str, ...] = ()  # subscriptions whose composites, or whose outputs, it uses
    options: Mapping[str, object] = field(default_factory=dict)  # of its language; files among them are read
    deliver: Delivery | None = None  # how a receiver takes what it sends; None if nothing waits
    metadata: Metadata = Metadata()
    quiet: int | None = None  # how long after a match of a key no other of it is reported
    rule: RuleFile | None = None  # the file, if the text is from one

    @property
    def sends(self) -> bool:
        """Whether its language sends events instead of reporting matches."""
        return language(self.language).sends

    @property
    def named_text(self) -> NamedText:
        """The pattern in the form in which it is compiled."""
        return NamedText(language(self.language), self.name, self.text, self.options, self.selection)


@dataclass(frozen=True, slots=True)
class Sink:
    """Where matches go: to a folder or table for each subscription, to one topic, or into the report.

    `together`: all of them into one folder or table.
    """

    format: SinkFormat
    place: Place
    subscriptions: tuple[str, ...]
    path: str | None = None
    mode: Mode = "error"
    rows: int = 5
    table: str | None = None
    connection: Connection | None = None  # of a broker, and what is sent there
    topic: str | None = None
    event_type: str | None = None  # of the matches as events; None for the name of the subscription
    together: bool = False

    @property
    def writes(self) -> bool:
        """Whether it writes matches, rather than only showing a few."""
        return self.path is not None or self.table is not None or self.topic is not None

    def place_of(self, subscription: str, sent: str | None = None) -> str:
        """Return the folder, table or topic of a subscription, or of the events of one type that it sends."""
        if self.topic is not None:
            return f"{self.format}:{self.topic}/{subscription}" + (f".{sent}" if sent else "")
        if self.together:
            return self.table or self.path or ""
        if self.table is not None:
            return "_".join((self.table, subscription, *([sent.replace("::", "_")] if sent else ())))
        return f"{self.path}/{subscription}" + (f".{sent.replace('::', '.')}" if sent else "")


@dataclass(frozen=True, slots=True)
class SideOutput:
    """Where unused events go: those that cannot be read, or those that are late."""

    path: str
    place: Place
    format: FileFormat = "jsonl"
    mode: Mode = "error"


@dataclass(frozen=True, slots=True)
class Stream:
    """How a pipeline with streaming sources runs; durations are in microseconds."""

    checkpoint: str
    place: Place
    trigger: int | None = None  # how often a micro-batch begins; None for one right after the other
    once: bool = False  # use what is there, and stop
    delay: int = 10_000_000
    late: LateMode = "fail"
    repeated: RepeatedMode = (
        "keep"  # what becomes of an event whose id and time came before, and is not used yet
    )
    shards: int | None = None
    detection: Detection | None = None
    sources: tuple[str, ...] = ()  # those that guaranteed and probabilistic detection wait for
    silent_after: int | None = None
    idle: int | None = None
    ahead: int | None = AHEAD  # how far ahead of wall-clock time events may lie; None for any
    rules: str | None = None  # the folder that is watched for changes of the subscriptions


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline file after reading and checking."""

    document: Document
    name: str
    sources: tuple[Source, ...]
    declarations: Declarations
    subscriptions: tuple[Entry, ...]
    sinks: tuple[Sink, ...] = ()
    dead_letters: SideOutput | None = None
    late: SideOutput | None = None
    stream: Stream | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    max_partial_matches: int | None = None

    def error(self, code: str, message: str, place: Place, hint: str | None = None) -> PipelineError:
        """Return an error that points at a span of the file."""
        return PipelineError(code, message, self.document.span(place), hint, self.document.file)
