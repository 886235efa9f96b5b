"""Check libraries: how large the acceptors of their filters are, and which branches trigger alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

from tocsin.algebra.correlation.expression import (
    Accumulation,
    Atom,
    Branches,
    Collection,
    Correlation,
    Expression,
    Labelled,
    Library,
    Sequence,
    events,
    labelled,
)
from tocsin.analysis import Budget
from tocsin.automata.correlation import determinise, difference
from tocsin.automata.correlation.acceptor import compile_expression
from tocsin.automata.correlation.table import MAX_STATES
from tocsin.errors import LimitError
from tocsin.explain.check_report import CheckReport, Comparison, Examined, NotCompared, Relation
from tocsin.explain.contents import Branch, Finding
from tocsin.explain.correlation.connections import link
from tocsin.explain.correlation.wording import Assembly, Printers, printers_of
from tocsin.explain.family_checks import FamilyChecks
from tocsin.explain.parsed_text import ParsedText

# What may be spent on one library; a step is one event tried on one branch, and these take some seconds.
MAX_STEPS = 300_000
# How many states two branches may have together to be compared, and two filters if only they are asked about.
MAX_COMPARED, MAX_ASKED = 1_000, 10_000


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter of a correlation; with an assembly its events are the ports they come from."""

    name: str
    branches: Branches


def filters_of(parsed: ParsedText) -> tuple[Filter, ...]:
    """The filters of the correlations of a library."""
    library: Library = parsed.value
    return tuple(
        Filter(one.name, tuple(_on_ports(branch, one.name, parsed.linked) for branch in one.branches))
        for one in library.correlations
    )


def report(parsed: ParsedText) -> CheckReport:
    """Count and compare the branches of all filters of a library, with one budget for all."""
    library: Library = parsed.value
    printers = printers_of(parsed.language)
    budget = Budget(MAX_STEPS)
    branches = {c.name: tuple(_branches(c, printers, budget)) for c in library.correlations}
    several = [
        (_name(correlation, number), _on_ports(branch, correlation.name, parsed.linked))
        for correlation in library.correlations
        for number, branch in enumerate(correlation.branches, 1)
    ]
    relations, done = list[Relation](), 0
    for (left, one), (right, other) in combinations(several, 2):
        if budget.left == 0:
            break
        with suppress(LimitError):
            relations += [Relation("alike", left, right)] if _are_alike(one, other, budget) else []
            done += 1
    left_out = len(several) * (len(several) - 1) // 2 - done
    bounds = f"more than {MAX_COMPARED:,} states, or {MAX_STEPS:,} steps for all pairs"
    return CheckReport(
        "correlation",
        parsed.language.name,
        tuple(
            Examined("correlation", name, branches=own, counts={"branches": len(own)})
            for name, own in branches.items()
        ),
        tuple(relations),
        NotCompared(left_out, bounds if left_out else None),
        findings=tuple(map(Finding.of, library.warnings)),
    )


def _name(correlation: Correlation, number: int) -> str:
    single = len(correlation.branches) == 1
    return correlation.name if single else f"{correlation.name}, branch {number}"


def _branches(correlation: Correlation, printers: Printers, budget: Budget) -> Iterator[Branch]:
    for expression in correlation.branches:
        labels = {part.label: printers.expression(part.body) for part in labelled(expression)}
        text = printers.expression(expression)
        try:
            yield Branch(text, labels, _states(expression, budget))
        except LimitError as error:
            yield Branch(text, labels, refused=error.message)


def _states(expression: Expression, budget: Budget) -> int:
    """How many states the acceptor has, written out as a table."""
    columns = len(events(expression))
    limit = min(MAX_STATES, budget.left // columns)
    try:
        states = len(determinise(compile_expression(expression), limit=limit).accepting)
    except LimitError:
        budget.spend(columns * max(1, limit))
        raise
    budget.spend(columns * states)
    return states


def _are_alike(one: Expression, other: Expression, budget: Budget) -> bool:
    columns = 2 * len(events(one) | events(other))
    limit = min(MAX_COMPARED, budget.left // columns)
    try:
        witness = difference((one,), (other,), limit)
    except LimitError:
        budget.spend(columns * max(1, limit))
        raise
    # Traces are tried by their length, so a short witness is found soon.
    budget.spend(columns * (limit if witness is None else min(limit, columns ** len(witness))))
    return witness is None


def _on_ports(expression: Expression, correlation: str, assembly: Assembly | None) -> Expression:
    """The expression with ports for events, if an assembly says which: each correlation has its own names."""
    if assembly is None:
        return expression
    match expression:
        case Atom(event, span):
            port = assembly.sources(correlation).get(event)
            return Atom(f"{correlation}.{event}" if port is None else str(port), span)
        case Labelled(label, body, span):
            return Labelled(label, _on_ports(body, correlation, assembly), span)
        case Accumulation(left, right, span) | Collection(left, right, span) | Sequence(left, right, span):
            first, second = (_on_ports(one, correlation, assembly) for one in (left, right))
            return type(expression)(first, second, span)


def equal(left: Filter, right: Filter) -> Comparison:
    """Whether two filters trigger alike; the witness is the shortest trace on which they do not."""
    both = f"the filters of {left.name} and {right.name}"
    witness = difference(left.branches, right.branches, MAX_ASKED)
    if witness is None:
        return Comparison("equal", left.name, right.name, True, None, f"{both} trigger alike")
    words = f"{both} trigger differently at the end of {' '.join(witness)}"
    trace = tuple({"event": event} for event in witness)
    return Comparison("equal", left.name, right.name, False, trace, words)


CHECKS = FamilyChecks(report, filters_of, {"equal": equal}, link=link)
