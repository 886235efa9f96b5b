"""All analyses of one expression or machine, and comparisons of several in one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal as OneOf

from tocsin.algebra.completion.expression import Expression, Interpretation
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.analysis.answer import Answer
from tocsin.analysis.budget import Budget
from tocsin.analysis.contained import contained
from tocsin.analysis.equal import equal
from tocsin.analysis.influence import Influence, influence
from tocsin.analysis.live import live
from tocsin.analysis.need import Need, need
from tocsin.analysis.subject import MAX_CELLS, Subject, machine_of, subject_over, subjects
from tocsin.analysis.trivial import trivial
from tocsin.analysis.vacuous import vacuous
from tocsin.automata.completion.alphabet import alphabet_of
from tocsin.errors import LimitError


@dataclass(frozen=True, slots=True)
class Examined:
    """The results for one expression or machine; None where an analysis was refused, and `refused` says why."""

    trivial: Answer | None = None
    vacuous: Answer | None = None
    live: Answer | None = None
    influence: tuple[Influence, ...] | None = None
    need: Need | None = None
    refused: str | None = None


def examine(
    one: Expression | Machine, interpretation: Interpretation = Interpretation(), budget: Budget | None = None
) -> Examined:
    """Run every analysis, as far as the budget goes.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> found = examine(Predicate(TRUE))
    >>> found.trivial, found.vacuous.witness, found.need.configurations
    (Answer(holds=True, witness=None), ({},), 2)
    """
    budget = budget or Budget()
    found = Examined()
    try:
        found = replace(found, need=need(one, interpretation, budget=budget))
        (subject,) = subjects(one, interpretation=interpretation, budget=budget)
        found = replace(
            found, trivial=trivial(subject), vacuous=vacuous(subject, budget), live=live(subject, budget)
        )
        return replace(found, influence=influence(subject, budget))
    except LimitError as error:
        return replace(found, refused=error.message)


Kind = OneOf["equal", "same-traces", "contained"]


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of one of several to another, by their positions.

    `equal` ones do the same; those of `same-traces` accept the same and differ in what they push or when; all
    that is accepted by one that is `contained` is accepted by the other. The witness is the shortest trace
    that shows where they differ: one they treat differently, or one that only `right` accepts.
    """

    left: int
    right: int
    kind: Kind
    witness: tuple[Fields, ...] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """The relations among several, how many pairs could not be compared, and why."""

    relations: tuple[Relation, ...]
    left_out: int = 0
    refused: str | None = None


def compare(
    several: Sequence[Expression | Machine],
    interpretation: Interpretation = Interpretation(),
    budget: Budget | None = None,
) -> Compared:
    """Which of several are equal to or contained in another; one that accepts nothing is contained in none.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Sequential
    >>> once = Predicate(TRUE)
    >>> [(r.left, r.right, r.kind) for r in compare([once, Sequential((once, once)), once]).relations]
    [(0, 2, 'equal'), (1, 0, 'contained'), (1, 2, 'contained')]
    """
    budget = budget or Budget()
    if len(several) < 2:
        return Compared(())
    found: list[Relation] = []
    done = 0
    half = budget.share(2)
    given = half.left
    subject, refused = _over_one_alphabet(several, interpretation, half)
    try:
        budget.spend(given - half.left)
        for left, right in combinations(range(len(subject)), 2):
            found += _relations(subject, left, right, budget)
            done += 1
    except LimitError as error:
        refused = error.message
    found.sort(key=lambda relation: (relation.left, relation.right))
    return Compared(tuple(found), len(several) * (len(several) - 1) // 2 - done, refused)


def _over_one_alphabet(
    several: Sequence[Expression | Machine], interpretation: Interpretation, budget: Budget
) -> tuple[list[Subject], str | None]:
    """The first of several, as many as the budget allows, and why not all of them."""
    found: list[Subject] = []
    try:
        machines = [machine_of(one, interpretation, budget) for one in several]
        alphabet = alphabet_of(filter for machine in machines for filter in machine.filters)
        for machine in machines:
            found.append(subject_over(alphabet, machine, MAX_CELLS, budget))
    except LimitError as error:
        return found, error.message
    return found, None


def _relations(subject: Sequence[Subject], left: int, right: int, budget: Budget) -> list[Relation]:
    one, other = subject[left], subject[right]
    budget.spend(len(one.column))
    same = equal(one, other, budget)
    if same:
        return [Relation(left, right, "equal")]
    inside, outside = contained(one, other, budget), contained(other, one, budget)
    if inside and outside:
        return [Relation(left, right, "same-traces", same.witness)]
    found = []
    if inside and not vacuous(one, budget):
        found.append(Relation(left, right, "contained", outside.witness))
    if outside and not vacuous(other, budget):
        found.append(Relation(right, left, "contained", inside.witness))
    return found
