"""Reads the subscriptions of a pipeline that send events: texts of ECL, and correlations of KSU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.correlation.types import Types, catalog_kind
from tocsin.automata.transduce import Drafts
from tocsin.errors import InputError, PatternErrors, PipelineError, TocsinError, did_you_mean
from tocsin.events import ATTRIBUTE_TYPES, Catalog, EventType
from tocsin.languages.ksu import parse_idl
from tocsin.runtime.program import Emission
from tocsin.spark.completion import (
    Ports,
    draft_library,
    draft_programs,
    ports_of,
    read_library,
    read_program,
    record_types,
)
from tocsin.spark.pipeline.model import Entry, Pipeline
from tocsin.values import Value


@dataclass(frozen=True, slots=True)
class Sender:
    """A subscription that sends events.

    `patterns`: under which names its rows are reported, and the source that the events it sends have. `composites`: the
    types of those events. `declares`: the types that its own event types declare.
    """

    entry: Entry
    uses: tuple[str, ...]
    drafts: Drafts
    patterns: Mapping[str, str]
    keys: Mapping[str, str]
    composites: tuple[EventType, ...]
    declares: tuple[EventType, ...] = ()

    @property
    def attributes(self) -> frozenset[str]:
        """What every event it sends has."""
        each = [composite.attributes.keys() for composite in self.composites]
        return frozenset(set.intersection(*map(set, each)) if each else ())


@dataclass(frozen=True, slots=True)
class Libraries:
    """The KSU texts of a pipeline: correlations and event types by subscription, and ports by assembly file."""

    libraries: Mapping[str, Library]
    types: Mapping[str, Types | None]
    ports: Mapping[str, Ports]


def read_libraries(pipeline: Pipeline, errors: list[PipelineError]) -> Libraries:
    """Read what correlations need of each other: an assembly is about all subscriptions that name it."""
    libraries: dict[str, Library] = {}
    types: dict[str, Types | None] = {}
    together: dict[str, list[Entry]] = {}
    for entry in pipeline.subscriptions:
        if entry.language != "ksu":
            continue
        file = entry.types.file if entry.types else None
        try:
            types[entry.name] = None if entry.types is None else parse_idl(entry.types.text)
            file = entry.file
            libraries[entry.name] = _chosen(entry, read_library(entry.text, types[entry.name]))
        except TocsinError as problem:
            errors += in_file(pipeline, entry, problem, file)
            continue
        if entry.assembly is not None:
            together.setdefault(entry.assembly.file, []).append(entry)
    ports: dict[str, Ports] = {}
    if errors:
        return Libraries(libraries, types, ports)
    for file, entries in together.items():
        first = entries[0]
        assert first.assembly is not None
        # A correlation may stand in several subscriptions, but is one to the assembly.
        distinct = {c.name: c for entry in entries for c in libraries[entry.name].correlations}
        try:
            ports[file] = ports_of(
                first.assembly.text, [Library(tuple(distinct.values()))], types[first.name]
            )
        except TocsinError as problem:
            errors += in_file(pipeline, first, problem, file)
    return Libraries(libraries, types, ports)


def _chosen(entry: Entry, library: Library) -> Library:
    if entry.correlation is None:
        return library
    found = library.find(entry.correlation)
    if found is None:
        names = [correlation.name for correlation in library.correlations]
        message = f"there is no correlation {entry.correlation!r}"
        raise InputError("unknown-correlation", message, hint=did_you_mean(entry.correlation, names))
    return Library((found,))


def in_file(pipeline: Pipeline, entry: Entry, problem: TocsinError, file: str | None) -> list[PipelineError]:
    """Mistakes in a text as mistakes in the file it is from; without one they are in the pipeline file."""
    each = problem.errors if isinstance(problem, PatternErrors) else [problem]
    if file is not None:
        return [PipelineError(one.code, one.message, one.span, one.hint, file) for one in each]
    document, place = pipeline.document, (*entry.place, "pattern")
    return [
        PipelineError(
            one.code,
            one.message,
            document.inside(place, entry.text, one.span) or document.span(place),
            one.hint,
            document.file,
        )
        for one in each
    ]


def read_sender(
    entry: Entry, known: Libraries, kinds: Mapping[str, str] | None, catalog: Catalog, keys: Mapping[str, str]
) -> Sender:
    """A subscription that sends events; `kinds` are the attributes of the events, if they are known."""
    if entry.language == "ecl":
        program = read_program(entry.text, entry.options)
        drafts = draft_programs({entry.name: program}, kinds, catalog)
        patterns = {name: name.removeprefix(f"{entry.name}.") for name in drafts.meanings}
        return Sender(entry, entry.events, drafts, patterns, keys, _sent(drafts, kinds, keys))
    library, types = known.libraries[entry.name], known.types[entry.name]
    ports = known.ports[entry.assembly.file] if entry.assembly else None
    drafts = draft_library(entry.name, library, entry.options, kinds, types, ports)
    patterns = dict(zip(drafts.meanings, (c.name for c in library.correlations), strict=True))
    declares = tuple(record_types(types))
    return Sender(entry, entry.events, drafts, patterns, keys, _sent(drafts, kinds, keys), declares)


def _sent(drafts: Drafts, kinds: Mapping[str, str] | None, keys: Mapping[str, str]) -> tuple[EventType, ...]:
    """The types of the events that are sent, with their attributes; types that are sent on stay what they are."""
    found: dict[str, dict[str, str]] = {}
    for emission in (e for draft in drafts.detectors for e in draft.emissions):
        if emission.what == "push" and emission.type is not None:
            found.setdefault(emission.type, dict(keys)).update(_attribute_kinds(emission, kinds or {}))
    return tuple(EventType(name, attributes) for name, attributes in found.items())


def _attribute_kinds(emission: Emission, kinds: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    declared = dict(emission.declared or ())
    yield from ((name, catalog_kind(type)) for name, type in declared.items())
    for name, source in emission.fields:
        if name not in declared:
            own = _kind_of(source[1]) if source[0] == "literal" else kinds.get(source[2], "string")
            yield name, own if own in ATTRIBUTE_TYPES else "string"


def _kind_of(value: Value) -> str:
    names = {bool: "bool", int: "int", float: "float"}
    return names.get(type(value), "string")
