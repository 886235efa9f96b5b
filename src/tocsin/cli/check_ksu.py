"""What `tocsin check` says of KSU libraries: mistakes and warnings, and how large and how alike the filters are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

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
from tocsin.algebra.correlation.types import Types
from tocsin.analysis import Budget
from tocsin.automata.acceptor import determinise, difference
from tocsin.automata.acceptor.machine import compile_expression
from tocsin.automata.acceptor.table import MAX_STATES
from tocsin.cli.texts import columns as in_columns
from tocsin.cli.texts import located, read_text
from tocsin.errors import LimitError
from tocsin.languages.ksu import Assembly, parse, parse_assembly, parse_idl, show_filter

# What may be spent on one library; a step is one event tried on one branch, and these take some seconds.
MAX_STEPS = 300_000
# How many states two branches may have together to be compared, and two filters if only they are asked about.
MAX_COMPARED, MAX_ASKED = 1_000, 10_000


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter of a correlation; with an assembly its events are the ports they come from."""

    name: str
    branches: Branches


@dataclass(frozen=True, slots=True)
class KsuFile:
    """A library that could be read, and what it is to be looked at with."""

    file: str
    library: Library
    assembly: Assembly | None = None

    @property
    def asked(self) -> tuple[Filter, ...]:
        """The filters of its correlations."""
        return tuple(
            Filter(c.name, tuple(ports_of(branch, c.name, self.assembly) for branch in c.branches))
            for c in self.library.correlations
        )


def read_ksu(text: str, file: str, types: Types | None) -> KsuFile:
    """A library, checked against the event types if there are any."""
    with located(file):
        return KsuFile(file, parse(text, types))


def read_types(path: Path | None) -> Types | None:
    """The event types of an IDL file."""
    if path is None:
        return None
    text = read_text(path)
    with located(str(path)):
        return parse_idl(text)


def read_assembly(path: Path | None, files: Iterable[KsuFile], types: Types | None) -> Assembly | None:
    """The assembly of a .cad file; it connects the correlations of all files."""
    if path is None:
        return None
    text = read_text(path)
    whole = Library(tuple(correlation for given in files for correlation in given.library.correlations))
    with located(str(path)):
        return parse_assembly(text, whole, types)


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a filter, and the states of its acceptor; None if there are more than a table may have."""

    name: str
    expression: Expression
    states: int | None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedKsu:
    """The answers about a library: pairs of branches that trigger alike, and how many were not compared."""

    given: KsuFile
    branches: Mapping[str, tuple[Branch, ...]]
    alike: tuple[tuple[str, str], ...]
    left_out: int


def check_ksu(given: KsuFile) -> CheckedKsu:
    """Count and compare the branches of all filters of a library, with one budget for all."""
    budget = Budget(MAX_STEPS)
    branches = {c.name: tuple(_branches(c, budget)) for c in given.library.correlations}
    several = [
        (branch.name, ports_of(branch.expression, correlation, given.assembly))
        for correlation, own in branches.items()
        for branch in own
    ]
    alike, done = [], 0
    for (left, one), (right, other) in combinations(several, 2):
        if budget.left == 0:
            break
        with suppress(LimitError):
            alike += [(left, right)] if _are_alike(one, other, budget) else []
            done += 1
    return CheckedKsu(given, branches, tuple(alike), len(several) * (len(several) - 1) // 2 - done)


def _branches(correlation: Correlation, budget: Budget) -> Iterator[Branch]:
    single = len(correlation.branches) == 1
    for number, expression in enumerate(correlation.branches, 1):
        name = correlation.name if single else f"{correlation.name}, branch {number}"
        try:
            yield Branch(name, expression, _states(expression, budget))
        except LimitError as error:
            yield Branch(name, expression, None, error.message)


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


def ports_of(expression: Expression, correlation: str, assembly: Assembly | None) -> Expression:
    """The expression with ports for events, if an assembly tells them: each correlation has its own names."""
    if assembly is None:
        return expression
    match expression:
        case Atom(event, span):
            port = assembly.sources(correlation).get(event)
            return Atom(f"{correlation}.{event}" if port is None else str(port), span)
        case Labelled(label, body, span):
            return Labelled(label, ports_of(body, correlation, assembly), span)
        case Accumulation(left, right, span) | Collection(left, right, span) | Sequence(left, right, span):
            return type(expression)(
                ports_of(left, correlation, assembly), ports_of(right, correlation, assembly), span
            )


def ask_alike(left: Filter, right: Filter) -> tuple[tuple[str, ...] | None, str]:
    """The shortest trace on which two filters trigger differently, and the answer in words."""
    both = f"the filters of {left.name} and {right.name}"
    witness = difference(left.branches, right.branches, MAX_ASKED)
    if witness is None:
        return None, f"{both} trigger alike"
    return witness, f"{both} trigger differently at the end of {' '.join(witness)}"


def show_ksu(checked: CheckedKsu) -> Iterator[tuple[str, str]]:
    """The answers, as headings and texts."""
    for correlation, branches in checked.branches.items():
        yield f"correlation {correlation}", in_columns(_branch(branch) for branch in branches)
    lines = [f"{left} and {right} trigger alike" for left, right in checked.alike]
    if checked.left_out:
        bounds = f"more than {MAX_COMPARED:,} states, or {MAX_STEPS:,} steps for all pairs"
        lines.append(f"{checked.left_out} pairs not compared: {bounds}")
    if sum(map(len, checked.branches.values())) > 1:
        yield "filters compared", "\n".join(lines) or "no two of them trigger alike"


def _branch(branch: Branch) -> tuple[str, str]:
    labels = ", ".join(part.label for part in labelled(branch.expression)) or "none"
    states = branch.refused if branch.states is None else f"{branch.states} acceptor states"
    return show_filter((branch.expression,)), f"{states}; labels: {labels}"


def ksu_data(checked: CheckedKsu) -> dict[str, Any]:
    """The answers, as JSON has them."""
    return {
        "correlations": [
            {
                "name": correlation,
                "branches": [
                    {
                        "filter": show_filter((branch.expression,)),
                        "labels": [part.label for part in labelled(branch.expression)],
                        "acceptor_states": branch.states,
                        "refused": branch.refused,
                    }
                    for branch in branches
                ],
            }
            for correlation, branches in checked.branches.items()
        ],
        "alike": [list(pair) for pair in checked.alike],
        "not_compared": checked.left_out,
    }
