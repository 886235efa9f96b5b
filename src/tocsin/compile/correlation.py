"""Libraries of the correlation family: their correlations become acceptors, and a file may connect those of several texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.types import Types
from tocsin.automata.correlation.draft import ksu_drafts
from tocsin.compile.family import Family, KnownEvents, NamedText, Sending, parsed
from tocsin.errors import InputError, PatternError, did_you_mean
from tocsin.events import EventType
from tocsin.languages.attached import Attached, located

Ports = Mapping[str, Mapping[str, str]]


def link(texts: Sequence[NamedText], more_to_come: bool) -> Sequence[NamedText]:
    """The parsed texts, each with the ports of its own correlations: an assembly covers all texts that name it."""
    read = [replace(one, options=one.language.options_of(one.options)) for one in texts]
    read = [replace(one, given=parsed(one)) for one in read]
    if not more_to_come and not any(one.given.correlations for one in read):
        raise InputError("no-pattern", "there is no correlation to run")
    assemblies = {one.options.assembly: None for one in read if one.options.assembly is not None}
    bound = {assembly: _ports_of(assembly, read) for assembly in assemblies}
    return [_bound(one, bound, read, more_to_come) for one in read]


def _ports_of(assembly: Attached, texts: Sequence[NamedText]) -> Ports:
    """The sources that an assembly binds the events of correlations to; an output has its correlation's name."""
    together = [one for one in texts if one.options.assembly == assembly]
    # A correlation may be in several texts, but the assembly has it once.
    distinct = {c.name: c for one in together for c in one.given.correlations}
    whole, first = Library(tuple(distinct.values())), together[0]
    with located(assembly.file):
        found = first.language.part("assembly")(assembly.text, whole, first.options.types)
    return {name: {event: str(port) for event, port in found.sources(name).items()} for name in distinct}


def _bound(
    text: NamedText, bound: Mapping[Attached, Ports], texts: Sequence[NamedText], more_to_come: bool
) -> NamedText:
    options = text.options
    ports = options.ports if options.assembly is None else bound[options.assembly]
    if ports is None:
        return text
    if options.ports is not None and not more_to_come:
        names = [c.name for one in texts if one.options.ports == ports for c in one.given.correlations]
        for name in ports:
            if name not in names:
                hint = did_you_mean(name, names)
                raise InputError("unknown-correlation", f"there is no correlation {name!r}", hint=hint)
    own = {c.name for c in text.given.correlations}
    ports = {name: ports[name] for name in ports if name in own}
    return replace(text, options=replace(options, assembly=None, ports=ports))


def read(texts: Sequence[NamedText], known: KnownEvents) -> list[Sending]:
    """The acceptors of libraries; if a library has several correlations, their names are prefixed with that of the text."""
    return [_sending(text, known) for text in texts]


def _sending(text: NamedText, known: KnownEvents) -> Sending:
    options = text.language.options_of(text.options)
    library: Library = parsed(text)
    one = len(library.correlations) == 1
    named: dict[str, Correlation] = {
        (c.name if not text.name else text.name if one else f"{text.name}.{c.name}"): c
        for c in library.correlations
    }
    kinds = None if known.kinds is None else frozenset(known.kinds)
    drafts = ksu_drafts(named, options.types, options.ports, options.interpretation, options.triggers, kinds)
    origins = {name: correlation.name for name, correlation in named.items()}
    return Sending(drafts, origins, _declared(options.types))


def _declared(types: Types | None) -> tuple[EventType, ...]:
    """The declared types as catalog types; their attributes are those of the table."""
    records = types.records if types is not None else ()
    return tuple(EventType(record.name, {}, record.parent) for record in records)


def warnings(text: NamedText, known: KnownEvents) -> list[PatternError]:
    """Warnings from parsing the library."""
    library: Library = parsed(text)
    return list(library.warnings)


def check_alone(text: NamedText, known: KnownEvents) -> None:
    """Refuse a text that cannot be parsed; whether each event has a port is known only with a query."""
    parsed(text)


FAMILY = Family(read, warnings, link, check_alone)
