"""`tocsin explain --language ksu`: the correlations of a library, branch by branch and case by case."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from tocsin.algebra.correlation.expression import Correlation, Reading, events, labelled
from tocsin.algebra.correlation.split import decompose
from tocsin.automata.acceptor import determinise
from tocsin.automata.acceptor.machine import compile_expression
from tocsin.cli.check_ksu import read_types
from tocsin.cli.texts import columns, located, read_text, section
from tocsin.errors import LimitError
from tocsin.languages.ksu import Assembly, parse, parse_assembly, show
from tocsin.languages.ksu.printer import show_case, show_expression, show_statement


def explain_ksu(text: str, chosen: Mapping[str, object], options: argparse.Namespace) -> None:
    """Print everything about a correlation library."""
    Reading.of(chosen)  # refuses options that do not exist; nothing that is shown depends on them
    library = parse(text, read_types(options.types))
    assembly = _assembly(options.assembly)
    section("library", show(library))
    for correlation in library.correlations:
        section(f"filter of {correlation.name}", columns(_filter(correlation)))
        section(f"transformer of {correlation.name}", columns(_transformer(correlation)))
        section(f"nodes of {correlation.name}", _nodes(correlation, assembly))
    section("warnings", "\n\n".join(map(str, library.warnings)) or "none")


def _assembly(path: Path | None) -> Assembly | None:
    """An assembly; it may connect correlations of other libraries too, so only its syntax is checked."""
    if path is None:
        return None
    text = read_text(path)
    with located(str(path)):
        return parse_assembly(text)


def _filter(correlation: Correlation) -> Iterator[tuple[str, str]]:
    """Each branch, its labels with what they mark, and how large its acceptor is."""
    for number, branch in enumerate(correlation.branches, 1):
        yield f"branch {number}", show_expression(branch)
        for part in labelled(branch):
            yield f"  {part.label}", show_expression(part.body)
        try:
            yield "  acceptor", f"{len(determinise(compile_expression(branch)).accepting)} states"
        except LimitError as error:
            yield "  acceptor", f"{error.message}; it is run place by place"


def _transformer(correlation: Correlation) -> Iterator[tuple[str, str]]:
    for switch in correlation.initial:
        yield "at first", show_statement(switch)
    for number, case in enumerate(correlation.cases, 1):
        yield f"case {number}", show_case(case).removeprefix("case ").removesuffix(";")
    if not correlation.cases:
        yield "no case", "nothing is ever sent"


def _nodes(correlation: Correlation, assembly: Assembly | None) -> str:
    """What each component's node can decide by itself, so that only completed parts cross the network."""
    if assembly is None:
        return "not known: --assembly FILE.cad tells which component each event comes from"
    sources = assembly.sources(correlation.name)
    unbound = {event for branch in correlation.branches for event in events(branch)} - sources.keys()
    if unbound:
        return f"not known: {', '.join(sorted(unbound))} not bound to a port"
    found = decompose(correlation.branches, {event: port.owner for event, port in sources.items()})
    lines = [f"{part.node} decides {show_expression(part.expression)}" for part in found.node_local]
    lines += [f"several are needed for {show_expression(part)}" for part in found.cross_node]
    return "\n".join(lines) or "every event crosses the network by itself"
