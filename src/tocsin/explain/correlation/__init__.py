"""Explain and check correlations: filters with branches, and the transformers behind them."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.correlation.expression import Correlation, Expression, Library, events, labelled
from tocsin.algebra.correlation.split import decompose
from tocsin.automata.correlation import Table, determinise
from tocsin.automata.correlation.acceptor import compile_expression
from tocsin.errors import LimitError, counted
from tocsin.explain.contents import (
    Branch,
    Branches,
    Finding,
    Findings,
    Kernel,
    Kernels,
    LocalDecision,
    Placement,
    Text,
    Transformer,
)
from tocsin.explain.correlation.connections import attached_assembly, read_assembly
from tocsin.explain.correlation.diagrams import acceptor_diagram, syntax_tree
from tocsin.explain.correlation.verdicts import CHECKS
from tocsin.explain.correlation.wording import Assembly, Printers, printers_of
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.parsed_text import ParsedText

__all__ = ["CHECKS", "explain"]

FAMILY = "correlation"


def explain(parsed: ParsedText) -> Explanation:
    """Explain a library: the branches of each filter with their acceptors, the cases, and the parts that nodes decide."""
    library: Library = parsed.value
    printers, given = printers_of(parsed.language), attached_assembly(parsed)
    # It may connect correlations of other libraries too, so only its syntax is checked.
    assembly = None if given is None else read_assembly(given, parsed)
    text = printers.library(library)
    found = [
        section
        for correlation in library.correlations
        for section in _sections(correlation, printers, assembly)
    ]
    warnings = Section("warnings", Findings(tuple(map(Finding.of, library.warnings))))
    return Explanation(FAMILY, parsed.language.name, text, (Section("library", Text(text)), *found, warnings))


def _sections(correlation: Correlation, printers: Printers, assembly: Assembly | None) -> Iterator[Section]:
    name = correlation.name
    tables = [_table(branch) for branch in correlation.branches]
    pairs = list(zip(correlation.branches, tables, strict=True))
    branches = tuple(_branch(branch, table, printers) for branch, table in pairs)
    yield Section(f"filter of {name}", Branches(branches))
    for number, (branch, table) in enumerate(pairs, 1):
        of = name if len(pairs) == 1 else f"{name}, branch {number}"
        yield Section(f"tree of {of}", syntax_tree(branch), printed=False)
        if isinstance(table, Table):
            yield Section(f"acceptor of {of}", acceptor_diagram(of, table), printed=False)
    kernels = Kernels(tuple(_kernel(f"branch {n}", table) for n, table in enumerate(tables, 1)))
    yield Section(f"runs of {name}", kernels, printed=False)
    initial = tuple(map(printers.statement, correlation.initial))
    yield Section(
        f"transformer of {name}", Transformer(initial, tuple(map(printers.case, correlation.cases)))
    )
    yield Section(f"nodes of {name}", _placement(correlation, printers, assembly))


def _table(branch: Expression) -> Table | LimitError:
    try:
        return determinise(compile_expression(branch))
    except LimitError as error:
        return error


def _branch(branch: Expression, table: Table | LimitError, printers: Printers) -> Branch:
    labels = {part.label: printers.expression(part.body) for part in labelled(branch)}
    text = printers.expression(branch)
    if isinstance(table, LimitError):
        return Branch(text, labels, refused=table.message)
    return Branch(text, labels, len(table.accepting))


def _kernel(of: str, table: Table | LimitError) -> Kernel:
    if isinstance(table, LimitError):
        return Kernel(of, "places", "place by place: an event costs as much as its places", table.message)
    cost = "one state a key: an event costs one step in a table"
    return Kernel(
        of, "table", cost, f"{counted(len(table.accepting), 'state fits', 'states fit')} into a table"
    )


def _placement(correlation: Correlation, printers: Printers, assembly: Assembly | None) -> Placement:
    """Return the parts that each component's node can decide, so that only completed parts cross the network."""
    if assembly is None:
        return Placement(unknown="no assembly says which component each event comes from")
    sources = assembly.sources(correlation.name)
    unbound = {event for branch in correlation.branches for event in events(branch)} - sources.keys()
    if unbound:
        return Placement(unknown=f"{', '.join(sorted(unbound))} not bound to a port")
    found = decompose(correlation.branches, {event: port.owner for event, port in sources.items()})
    return Placement(
        tuple(LocalDecision(part.node, printers.expression(part.expression)) for part in found.node_local),
        tuple(map(printers.expression, found.cross_node)),
    )
