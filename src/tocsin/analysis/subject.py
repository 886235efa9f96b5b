"""What is analysed: everything an expression or a machine can do over a finite alphabet.

Acceptance, which most questions are about, is completion with success. An expression that can never complete
(parallel, modes, an unbounded repetition) is judged by its outputs instead: it accepts a trace once it has
pushed something (C.1.19).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tocsin.algebra.completion.expression import Expression, Reading
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Emit
from tocsin.algebra.completion.semantics import Status
from tocsin.automata.machine.alphabet import Alphabet, alphabet_of, enumerated
from tocsin.automata.machine.construct import construct
from tocsin.automata.machine.passes.determinise import determinise
from tocsin.automata.machine.table import STATUSES, Determinised

# Questions are asked once, so they may explore more than a table that has to be shipped.
MAX_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class Subject:
    """A deterministic machine, as lists by state and kind of event; it starts in state 0."""

    alphabet: Alphabet
    after: list[list[int]]
    emits: list[list[tuple[Emit, ...]]]
    status: list[Status]
    has_final_states: bool

    @property
    def by_output(self) -> bool:
        """Whether acceptance means an output, because nothing completes."""
        return all(status is Status.RUNNING for status in self.status)

    @property
    def start(self) -> tuple[int, bool]:
        """The first state, and that nothing is accepted yet."""
        return 0, False

    def step(self, at: tuple[int, bool], symbol: int, by_output: bool) -> tuple[int, bool]:
        """The state after an event, and whether the trace is accepted by now."""
        state, accepted = at
        after = self.after[state][symbol]
        now = bool(self.emits[state][symbol]) if by_output else self.status[after] is Status.SUCCESS
        return after, accepted or now

    def trace(self, symbols: Iterable[int]) -> tuple[Fields, ...]:
        """An example of a trace of these kinds of events."""
        return tuple(self.alphabet.symbols[symbol] for symbol in symbols)


def subjects(
    *several: Expression | Machine,
    alphabet: Sequence[Fields] | None = None,
    types: Iterable[frozenset[str]] | None = None,
    reading: Reading = Reading(),
    limit: int = MAX_CELLS,
) -> list[Subject]:
    """Expressions or machines over one alphabet; refuses those that are too large (`LimitError`).

    Args:
        alphabet: the events there are; by default all that the predicates tell apart.
        types: for each type of events, that type and those it is a subtype of.
    """
    machines = [one if isinstance(one, Machine) else construct(one, reading) for one in several]
    filters = [filter for machine in machines for filter in machine.filters]
    shared = alphabet_of(filters, types) if alphabet is None else enumerated(filters, alphabet)
    return [
        subject_of(determinise(machine, shared, limit), bool(machine.success or machine.failure))
        for machine in machines
    ]


def subject_of(machine: Determinised, has_final_states: bool = True) -> Subject:
    """A table, taken apart."""
    symbols = range(len(machine.alphabet.symbols))
    cells = [[machine.cell(state, symbol) for symbol in symbols] for state in range(machine.configurations)]
    return Subject(
        machine.alphabet,
        [[after for after, _ in row] for row in cells],
        [[tuple(machine.emits[number] for number in numbers) for _, numbers in row] for row in cells],
        [STATUSES[code] for code in machine.table.status.tolist()],
        has_final_states,
    )
