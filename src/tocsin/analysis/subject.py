"""The subject of an analysis: the behaviour of an expression or a machine over a finite alphabet.

Acceptance, which most analyses are about, is completion with success. An expression that can never complete
(parallel, modes, an unbounded repetition) is judged by its outputs instead: it accepts a trace once it has
pushed something (C.1.19).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tocsin.algebra.completion.expression import Expression, Interpretation
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Emit
from tocsin.algebra.completion.run import Status
from tocsin.analysis.budget import STEPS_PER_STATE, Budget
from tocsin.automata.completion.alphabet import Alphabet, alphabet_of, enumerated
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.simulate import Prepared
from tocsin.automata.completion.table import STATUSES, Determinised
from tocsin.errors import LimitError

# An analysis runs once, so it may explore more than a table that has to be shipped.
MAX_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class Subject:
    """A deterministic machine, as lists by state and column; it starts in state 0."""

    alphabet: Alphabet
    column: list[int]  # the column of each kind of event; those in one column have the same effect everywhere
    after: list[list[int]]
    emits: list[list[tuple[Emit, ...]]]
    status: list[Status]
    has_final_states: bool
    by_output: bool  # whether acceptance means an output, because nothing completes

    @property
    def start(self) -> tuple[int, bool]:
        """The first state, and whether the empty trace is accepted: a machine can begin with success."""
        return 0, self.status[0] is Status.SUCCESS

    def step(self, at: tuple[int, bool], symbol: int) -> tuple[int, bool]:
        """The state after an event, and whether the trace is accepted by now."""
        state, accepted = at
        column = self.column[symbol]
        after = self.after[state][column]
        now = bool(self.emits[state][column]) if self.by_output else self.status[after] is Status.SUCCESS
        return after, accepted or now

    def trace(self, symbols: Iterable[int]) -> tuple[Fields, ...]:
        """An example of a trace of these kinds of events."""
        return tuple(self.alphabet.symbols[symbol] for symbol in symbols)


def subjects(
    *several: Expression | Machine,
    alphabet: Sequence[Fields] | None = None,
    types: Iterable[frozenset[str]] | None = None,
    interpretation: Interpretation = Interpretation(),
    limit: int = MAX_CELLS,
    budget: Budget | None = None,
) -> list[Subject]:
    """Expressions or machines over one alphabet; refuses those that are too large (`LimitError`).

    Args:
        alphabet: the possible events; by default all that the predicates tell apart.
        types: for each type of events, that type and those it is a subtype of.
    """
    budget = budget or Budget()
    machines = [machine_of(one, interpretation, budget) for one in several]
    filters = [filter for machine in machines for filter in machine.filters]
    shared = alphabet_of(filters, types) if alphabet is None else enumerated(filters, alphabet)
    return [subject_over(shared, machine, limit, budget) for machine in machines]


def subject_over(alphabet: Alphabet, machine: Machine, limit: int, budget: Budget) -> Subject:
    """A machine over an alphabet that has all its predicates."""
    table = minimise(table_of(machine, alphabet, limit, budget))
    return subject_of(table, bool(machine.success or machine.failure))


def machine_of(one: Expression | Machine, interpretation: Interpretation, budget: Budget) -> Machine:
    """The machine of an expression; costs as many steps as its size."""
    if not isinstance(one, Machine):
        budget.spend(1)  # so that nothing is built once the budget is used up
        one = construct(one, interpretation)
    budget.spend(STEPS_PER_STATE * len(one.states))
    return one


def table_of(machine: Machine | Prepared, alphabet: Alphabet, limit: int, budget: Budget) -> Determinised:
    """The table of a machine; costs as many steps as it has cells, even if there are too many."""
    try:
        table = determinise(machine, alphabet, min(limit, budget.left))
    except LimitError:
        budget.spend(limit)
        raise
    budget.spend(table.table.next.size)
    return table


def subject_of(machine: Determinised, has_final_states: bool = True) -> Subject:
    """A table as a subject."""
    table = machine.table
    lists = [
        tuple(machine.emits[number] for number in table.outputs[first:end].tolist())
        for first, end in pairwise(table.first.tolist())
    ]
    status = [STATUSES[code] for code in table.status.tolist()]
    return Subject(
        machine.alphabet,
        table.column.tolist(),
        table.next.tolist(),
        [[lists[number] for number in row] for row in table.emits.tolist()],
        status,
        has_final_states,
        by_output=all(one is Status.RUNNING for one in status),
    )


def told_apart(*several: Subject) -> list[int]:
    """One representative of each set of kinds of events that no subject tells apart."""
    columns = zip(*(reversed(subject.column) for subject in several), strict=True)
    symbols = range(len(several[0].column) - 1, -1, -1)
    return sorted(dict(zip(columns, symbols, strict=True)).values())  # the first of each column comes last
