"""Parse subscriptions that send events: the names of their rows, and the types of the events they send."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tocsin.algebra.correlation.types import catalog_kind
from tocsin.automata.transduce import Drafts
from tocsin.compile.family import Sending
from tocsin.errors import PatternErrors, PipelineError, PipelineErrors, TocsinError
from tocsin.events import ATTRIBUTE_TYPES, EventType
from tocsin.runtime.program import Emission
from tocsin.spark.pipeline.file.model import Entry, Pipeline
from tocsin.values import Value


@dataclass(frozen=True, slots=True)
class Sender:
    """A subscription that sends events.

    `composites`: the types of the events it sends.
    """

    entry: Entry
    uses: tuple[str, ...]
    sending: Sending
    keys: Mapping[str, str]
    composites: tuple[EventType, ...]

    @property
    def patterns(self) -> Mapping[str, str]:
        """The names under which its rows are reported; sent events have them as their source."""
        return self.sending.origins

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes that all events it sends have."""
        each = [composite.attributes.keys() for composite in self.composites]
        return frozenset(set.intersection(*map(set, each)) if each else ())


def in_file(pipeline: Pipeline, entry: Entry, problem: TocsinError, file: str | None) -> list[PipelineError]:
    """Convert errors in a text to errors in the file it is from, or in the pipeline file if it has none."""
    if isinstance(problem, PipelineError):  # it names its own file
        return list(problem.errors) if isinstance(problem, PipelineErrors) else [problem]
    each = problem.errors if isinstance(problem, PatternErrors) else [problem]
    if file is not None:
        rule = entry.rule
        spans = [one.span if rule is None else rule.placed(one.span) for one in each]
        return [
            PipelineError(one.code, one.message, span, one.hint, file)
            for one, span in zip(each, spans, strict=True)
        ]
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


def sender(
    entry: Entry, sending: Sending, kinds: Mapping[str, str] | None, keys: Mapping[str, str]
) -> Sender:
    """Parse a subscription that sends events; `kinds` are the attributes of the events, if they are known."""
    return Sender(entry, entry.events, sending, keys, _sent(sending.drafts, kinds, keys))


def _sent(drafts: Drafts, kinds: Mapping[str, str] | None, keys: Mapping[str, str]) -> tuple[EventType, ...]:
    """Return the types of the sent events with their attributes; a type that is only forwarded stays as it is."""
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
