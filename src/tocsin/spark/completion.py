"""Texts of ECL and of the KSU correlation language, made ready for events with known attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import reduce
from operator import add
from pathlib import Path

from tocsin.algebra.completion import check as ecl_check
from tocsin.algebra.completion.expression import Program
from tocsin.algebra.completion.expression import Reading as EclReading
from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.expression import Reading as KsuReading
from tocsin.algebra.correlation.types import Types
from tocsin.automata.acceptor.draft import ksu_drafts
from tocsin.automata.compile import Compiled
from tocsin.automata.machine.draft import ecl_drafts
from tocsin.automata.transduce import Drafts, transducers
from tocsin.errors import InputError, PatternErrors, did_you_mean
from tocsin.events import Catalog, EventType
from tocsin.languages import ecl, ksu
from tocsin.languages.registry import SENDING

LANGUAGES = tuple(SENDING)
Ports = Mapping[str, Mapping[str, str]]
Text = str | Program | Library


def compile_texts(
    texts: Mapping[str, Text],
    language: str,
    *,
    options: Mapping[str, object],
    kinds: Mapping[str, str],
    types: str | Path | Types | None = None,
    assembly: str | Path | None = None,
    ports: Ports | None = None,
    catalog: Catalog | None = None,
) -> tuple[Compiled, Catalog]:
    """One plan for texts by name, and the event types they are about.

    A text without a name of its own, which is "", reports its subscriptions under their own names.
    """
    if language == "ecl":
        _refuse(types=types, assembly=assembly, ports=ports)
        known = catalog or Catalog(common=kinds)
        programs = {name: read_program(text, options) for name, text in texts.items()}
        return transducers(draft_programs(programs, kinds, known)), known
    declared = types if isinstance(types, Types) or types is None else ksu.parse_idl(text_of(types))
    libraries = {name: read_library(text, declared) for name, text in texts.items()}
    names = [correlation.name for library in libraries.values() for correlation in library.correlations]
    if not names:
        raise InputError("no-pattern", "there is no correlation to run")
    _check_ports(names, ports, assembly)
    if assembly is not None:
        ports = ports_of(text_of(assembly), libraries.values(), declared)
    each = [draft_library(*one, options, kinds, declared, ports) for one in libraries.items()]
    return transducers(reduce(add, each)), catalog or Catalog(record_types(declared), common=kinds)


def _refuse(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(
                "unknown-option", f"{name} means nothing to ECL", hint="it is for KSU correlations"
            )


def _check_ports(names: list[str], ports: Ports | None, assembly: str | Path | None) -> None:
    """Refuse ports of correlations that are not there, and ports that are told twice."""
    if ports is not None and assembly is not None:
        raise InputError(
            "bad-option", "both ports and an assembly say where events come from", hint="keep one"
        )
    for name in ports or ():
        if name not in names:
            raise InputError(
                "unknown-correlation", f"there is no correlation {name!r}", hint=did_you_mean(name, names)
            )


def text_of(given: str | Path) -> str:
    """The text itself, or that of a file."""
    return given.read_text(encoding="utf-8") if isinstance(given, Path) else given


# --- ECL ------------------------------------------------------------------------------------------


def read_program(text: Text, options: Mapping[str, object]) -> Program:
    """The program of a text."""
    if isinstance(text, Library):
        raise InputError("bad-pattern", "this is a KSU library", hint="say language='ksu'")
    return ecl.parse(text, reading=EclReading.of(options)) if isinstance(text, str) else text


def draft_programs(
    programs: Mapping[str, Program], kinds: Mapping[str, str] | None, catalog: Catalog
) -> Drafts:
    """Drafts of programs by name, which may ask for the attributes in `kinds` only, if those are known."""
    if kinds is not None:
        errors = [error for program in programs.values() for error in ecl_check.check(program, kinds)]
        if errors:
            raise PatternErrors(errors)
    above = [catalog.belongs_to(event_type.name) for event_type in catalog.types] or None
    return ecl_drafts(programs, above)


# --- KSU ------------------------------------------------------------------------------------------


def read_library(text: Text, types: Types | None) -> Library:
    """The correlations of a text."""
    if isinstance(text, Program):
        raise InputError("bad-pattern", "this is an ECL program", hint="say language='ecl'")
    return ksu.parse(text, types) if isinstance(text, str) else text


def ports_of(assembly: str, libraries: Iterable[Library], types: Types | None) -> Ports:
    """The sources that an assembly binds the events of correlations to; an output goes by its correlation's name."""
    whole = Library(tuple(correlation for library in libraries for correlation in library.correlations))
    found = ksu.parse_assembly(assembly, whole, types)
    return {
        correlation.name: {event: str(port) for event, port in found.sources(correlation.name).items()}
        for correlation in whole.correlations
    }


def draft_library(
    name: str,
    library: Library,
    options: Mapping[str, object],
    kinds: Mapping[str, str] | None,
    types: Types | None,
    ports: Ports | None,
) -> Drafts:
    """Drafts of the correlations of a library; several have the name of the library in front of theirs."""
    reading, told = _ksu_options(options)
    one = len(library.correlations) == 1
    named: dict[str, Correlation] = {
        (c.name if not name else name if one else f"{name}.{c.name}"): c for c in library.correlations
    }
    known = None if kinds is None else frozenset(kinds)
    return ksu_drafts(named, types, ports, reading, told, known)


def record_types(types: Types | None) -> list[EventType]:
    """The declared types as the catalog has them; their attributes are those of the table."""
    records = types.records if types is not None else ()
    return [EventType(record.name, {}, record.parent) for record in records]


def check_options(language: str, options: Mapping[str, object]) -> None:
    """Refuse options that the language does not have."""
    if language == "ecl":
        EclReading.of(options)
    else:
        _ksu_options(options)


def _ksu_options(options: Mapping[str, object]) -> tuple[KsuReading, bool]:
    """How correlations are read, and whether their triggers are told."""
    known = (*(field.name for field in fields(KsuReading)), "triggers")
    for name in options:
        if name not in known:
            raise InputError("unknown-option", f"there is no option {name!r}", hint=did_you_mean(name, known))
    told = options.get("triggers", False)
    if told not in (True, False, "true", "false"):
        raise InputError("bad-option", f"the option triggers cannot be {told!r}", hint="one of true, false")
    reading = KsuReading.of({name: value for name, value in options.items() if name != "triggers"})
    return reading, told in (True, "true")
