"""A correlation compiled: an acceptor for each branch and for each label, guards as code, labels as bits.

Paper: 001, section 3.6; one acceptor for each label follows from Definition 6 (C.2.3 in the list of
decisions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tocsin.algebra.correlation.expression import Correlation, Interpretation, Statement, labelled, used
from tocsin.algebra.correlation.types import Types
from tocsin.automata.correlation.acceptor import Machine, bits, compile_expression
from tocsin.automata.correlation.guard import Code, compile_guard


@dataclass(frozen=True, slots=True)
class Label:
    """A labelled part of a branch: its own acceptor, and its node in the acceptor of the branch."""

    number: int
    machine: Machine
    node: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of the filter with its labels, in the order of the text."""

    machine: Machine
    labels: tuple[Label, ...]

    @property
    def size(self) -> int:
        """How many nodes its acceptors have."""
        return len(self.machine.nodes) + sum(len(label.machine.nodes) for label in self.labels)

    def dead(self, off: int) -> int:
        """The places that are aborted when these labels are off."""
        dead = 0
        for label in self.labels:
            if off >> label.number & 1:
                dead |= label.machine.places
        return dead


@dataclass(frozen=True, slots=True)
class CompiledCase:
    """A case of the transformer."""

    guard: Code
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled correlation; immutable."""

    correlation: Correlation
    interpretation: Interpretation
    types: Types | None
    labels: Mapping[str, int] = field(hash=False)  # numbers of the labels
    branches: tuple[Branch, ...]
    cases: tuple[CompiledCase, ...]
    kept: frozenset[str]  # the events some statement needs; no others are kept

    def aborted(self, off: int) -> int:
        """The labels that count as aborted when these are off: those with nothing alive inside."""
        aborted = 0
        for branch in self.branches:
            alive = ~branch.dead(off)
            for label in branch.labels:
                if not label.machine.places & alive:
                    aborted |= 1 << label.number
        return aborted

    def label_names(self, labels: int) -> tuple[str, ...]:
        """The names of a set of labels, sorted."""
        return tuple(sorted(name for name, number in self.labels.items() if labels >> number & 1))


def compile_correlation(
    correlation: Correlation, interpretation: Interpretation | None = None, types: Types | None = None
) -> Program:
    """The program of a correlation that has no mistakes.

    >>> from tocsin.algebra.correlation.expression import Atom, Labelled
    >>> program = compile_correlation(Correlation("N", "C", (), (Labelled("l", Atom("a")),)))
    >>> dict(program.labels), len(program.branches)
    ({'l': 0}, 1)
    """
    labels: dict[str, int] = {}
    branches = []
    for expression in correlation.branches:
        machine = compile_expression(expression)
        found = []
        for part in labelled(expression):
            node = machine.labels[part.label]
            first = next(bits(machine.nodes[node].places)).bit_length() - 1
            number = labels.setdefault(part.label, len(labels))
            found.append(Label(number, compile_expression(part.body, first), node))
        branches.append(Branch(machine, tuple(found)))
    cases = tuple(CompiledCase(compile_guard(case.guard, labels), case.body) for case in correlation.cases)
    kept = frozenset(event for case in cases for statement in case.body for event in used(statement))
    return Program(
        correlation, interpretation or Interpretation(), types, labels, tuple(branches), cases, kept
    )
