"""`tocsin explain PATTERN`: what a pattern means, how it is detected, and what it needs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tocsin.algebra.pattern import Atom, EventSpec, Pattern
from tocsin.algebra.predicate import And, Unify
from tocsin.automata.compile import Compiled, compile
from tocsin.automata.needs import ANY, Needs, Wait, dead_ends, needs
from tocsin.automata.never import never
from tocsin.automata.plan import composite_detector
from tocsin.automata.show import atom_text, show_automaton, show_tree, timer_text
from tocsin.automata.svg import show_svg
from tocsin.cli.explain_pipeline import explain_kernels, explain_pipeline
from tocsin.cli.explain_selection import explain_selection
from tocsin.cli.pattern import add_pattern, given_pattern
from tocsin.cli.texts import chosen, given_text, located, section, write_text
from tocsin.errors import InputError, PipelineError, PipelineErrors
from tocsin.events import Catalog, EventType, format_duration
from tocsin.languages.core.printer import show, show_spec
from tocsin.languages.phrases import rebuilt
from tocsin.languages.registry import selection_of
from tocsin.languages.registry import show as show_subscription

_HELP = """\
examples:
  tocsin explain '[Door];[Alarm]'
  tocsin explain '"Door" followed by "Alarm" within "5min"' --language pretty
  tocsin explain @cold_room.tocsin --schema pipeline.toml --svg cold_room.svg
  tocsin explain 'repeat {push(low) {accumulate {Fuel, Alt}}}' --language ecl --code low.py
  tocsin explain @modal.cor --language ksu --types avionics.idl
  tocsin explain pipeline.toml              what its subscriptions share
"""
# Which options a language has; it is a mistake to give another.
_OPTIONS = {"ecl": ("svg", "code"), "ksu": ("types", "assembly")}
_OTHERS = ("svg", "schema")


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "explain",
        help="show what a pattern means and needs",
        description="Show a pattern as a tree, its detectors and automata, and what it needs to run.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_pattern(parser)
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw the automata, or the machine of ECL, into this file"
    )
    parser.add_argument(
        "--schema",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="pipeline files, or others with [event.NAME] and [set] tables, to check the pattern against",
    )
    parser.add_argument("--code", type=Path, metavar="FILE", help="write ECL as a Python module of its own")
    parser.add_argument("--types", type=Path, metavar="FILE", help="the event types of KSU, an .idl file")
    parser.add_argument("--assembly", type=Path, metavar="FILE", help="the connections of KSU, a .cad file")


def run(options: argparse.Namespace) -> int:
    """Print everything about a pattern."""
    _check_options(options)
    if options.language in _OPTIONS:
        selection_of(options.language, options.matches, options.take)  # refused: it finds no matches
        _explain_other(options)
        return 0
    if options.pattern.endswith(".toml") and Path(options.pattern).is_file():
        explain_pipeline(Path(options.pattern))
        return 0
    given = given_pattern(options)
    catalog = _catalog(options.schema)
    subscription = given.parse(catalog)
    compiled = compile([subscription])
    section("pattern", show_subscription(subscription))
    section("matches", "\n".join(explain_selection(subscription.selection)))
    section("tree", show_tree(subscription.pattern, show_spec))
    for definition in subscription.definitions:
        section(f"tree of {definition.name}", show_tree(definition.pattern, show_spec))
    section("detectors", "\n".join(_plan(compiled)))
    for number, automaton in enumerate(compiled.automata):
        section(f"automaton of {_detector(number)}", show_automaton(automaton, _spec))
    section("runs", explain_kernels(compiled, compile([subscription], points=True)))
    needed = needs(subscription, compiled.graph, compiled.automata)
    section("needs", "\n".join(_needed(needed)))
    section("partial matches", "\n".join(_waits(needed, compiled)))
    warnings = [*never(subscription, catalog), *dead_ends(subscription, compiled.automata)]
    section("warnings", "\n\n".join(str(warning) for warning in warnings) or "none")
    if options.svg is not None:
        titles = [
            f"{_detector(number)}  {_text(d.pattern)}" for number, d in enumerate(compiled.graph.detectors)
        ]
        write_text(options.svg, show_svg(list(zip(titles, compiled.automata, strict=True)), _spec))
        section("picture", str(options.svg))
    return 0


def _check_options(options: argparse.Namespace) -> None:
    allowed = _OPTIONS.get(options.language, _OTHERS)
    for name in ("svg", "schema", "code", "types", "assembly"):
        if getattr(options, name) and name not in allowed:
            hint = "it has " + " and ".join(f"--{one}" for one in allowed)
            raise InputError("bad-option", f"the {options.language} language has no --{name}", hint=hint)


def _explain_other(options: argparse.Namespace) -> None:
    """ECL and KSU have no patterns but expressions and filters, each with its own things to say."""
    # Imported here, because only these languages need them.
    from tocsin.cli.explain_ecl import explain_ecl
    from tocsin.cli.explain_ksu import explain_ksu

    text, file = given_text(options.pattern)
    explain = explain_ecl if options.language == "ecl" else explain_ksu
    with located(file):
        explain(text, chosen(options.option), options)


def _catalog(files: list[Path]) -> Catalog | None:
    """The event types that files declare, or None if there are no files."""
    if not files:
        return None
    # Imported here, because only this option needs to know pipeline files.
    from tocsin.spark.pipeline.document import read_document
    from tocsin.spark.pipeline.read_events import read_declarations
    from tocsin.spark.pipeline.table import Table

    errors: list[PipelineError] = []
    types: list[EventType] = []
    sets: dict[str, tuple[str, ...]] = {}
    for file in files:
        document, values = read_document(file)
        declarations = read_declarations(Table(document, errors, values), None)
        types += declarations.types
        sets |= declarations.sets
    if errors:
        raise PipelineErrors(errors)
    return Catalog(types, sets, closed=True)


def _detector(number: int) -> str:
    """What a detector is called, and so the events it finds."""
    return f"D{number}"


def _plain(spec: EventSpec) -> EventSpec:
    """The same specification in words of the core language."""
    number = composite_detector(spec.name)
    if number is None:
        return spec
    return EventSpec(_detector(number), None if _shared(spec) else spec.filter)


def _shared(spec: EventSpec) -> list[str]:
    """The variables in which a composite must agree with its surroundings; the core language has no word."""
    parts = spec.filter.parts if isinstance(spec.filter, And) else ()
    return [part.name for part in parts if isinstance(part, Unify)]


def _spec(spec: EventSpec) -> str:
    shared = _shared(spec)
    return show_spec(_plain(spec)) + (f"(same {', '.join(shared)})" if shared else "")


def _text(pattern: Pattern) -> str:
    """The pattern of a detector."""

    def plain(part: Pattern) -> Pattern:
        if isinstance(part, Atom):
            return replace(
                part, accept=tuple(map(_plain, part.accept)), domain=tuple(map(_plain, part.domain))
            )
        return rebuilt(part, plain)

    return show(plain(pattern))


def _plan(compiled: Compiled) -> Iterator[str]:
    graph = compiled.graph
    for number, detector in enumerate(graph.detectors):
        reads = ", ".join(map(_detector, detector.inputs))
        used = [_detector(k) for k, other in enumerate(graph.detectors) if number in other.inputs]
        notes = [f"reads {reads}"] if reads else []
        notes += [f"shared by {' and '.join(used)}"] if len(used) > 1 else []
        notes += ["reported"] if any(output == number for _, output in graph.outputs) else []
        yield f"{_detector(number)}  {_text(detector.pattern)}" + (
            f"   ({'; '.join(notes)})" if notes else ""
        )


def _needed(needed: Needs) -> Iterator[str]:
    width = max(map(len, needed.types), default=0)
    for name, attributes in sorted(needed.types.items()):
        listed = ", ".join(a if kind == ANY else f"{a} ({kind})" for a, kind in sorted(attributes.items()))
        yield f"events     {name:<{width}}  {listed}".rstrip()
    if needed.variables:
        yield "variables  " + ", ".join(f"${name}" for name in needed.variables)
    if needed.timers:
        yield "timers     " + ", ".join(timer_text(timer) for timer in needed.timers)
    count = "any number of events" if needed.longest is None else f"at most {needed.longest} events"
    yield f"a match    has {count.replace('at most 1 events', '1 event')}"


def _waits(needed: Needs, compiled: Compiled) -> Iterator[str]:
    if not needed.waits:
        yield "none: every match is a single event"
        return
    several = len(compiled.automata) > 1
    for wait in needed.waits:
        place = f"S{wait.state} of {_detector(wait.detector)}" if several else f"S{wait.state}"
        atoms = " or ".join(atom_text(atom, _spec) for atom in wait.atoms)
        yield f"{place} waits for {atoms}: {_how_long(wait)}"
    if any(wait.longest is None for wait in needed.waits):
        yield "hint: a timer bounds time and memory, as in ([A], [B])_{T1=1h}; so does a key with few events"


def _how_long(wait: Wait) -> str:
    if wait.longest is not None:
        timers = ", ".join(timer.name for timer in wait.timers)
        unless = "; for ever if an event comes at the very moment it runs out" if wait.can_miss else ""
        return f"at most {format_duration(wait.longest)} ({timers}){unless}"
    if wait.moments:
        return "for ever, if it begins after " + ", ".join(timer_text(timer) for timer in wait.moments)
    return "for ever"
