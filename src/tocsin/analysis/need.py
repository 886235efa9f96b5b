"""How much state does an expression need?"""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.algebra.completion.expression import Expression, Interpretation
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.analysis.answer import shortest
from tocsin.analysis.budget import Budget
from tocsin.analysis.subject import machine_of, table_of
from tocsin.automata.completion.alphabet import alphabet_of
from tocsin.automata.completion.compile import simplify
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.simulate import accepted, enabled, prepare, react, start
from tocsin.automata.completion.table import MAX_CELLS
from tocsin.errors import LimitError


@dataclass(frozen=True, slots=True)
class Need:
    """The state that has to be kept between two events.

    `configurations` can be reached, `minimal` of them behave differently; None if there are too many to
    count, and then `refused` says so. `bits` are enough to hold the state. `peak` is the most states that are
    active at once, and `witness` the shortest trace to it.
    """

    states: int
    transitions: int
    configurations: int | None
    minimal: int | None
    bits: int
    peak: int | None
    witness: tuple[Fields, ...] | None
    refused: str | None = None


def need(
    subject: Expression | Machine,
    interpretation: Interpretation = Interpretation(),
    limit: int = MAX_CELLS,
    budget: Budget | None = None,
) -> Need:
    """How much state the simplified machine of an expression needs.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Repeat
    >>> found = need(Repeat(Predicate(TRUE), 3))
    >>> found.configurations, found.bits
    (4, 2)

    Paper: 000, section 6, "Optimization".
    """
    budget = budget or Budget()
    machine = simplify(machine_of(subject, interpretation, budget))
    prepared = prepare(machine)
    sizes = len(machine.states), len(machine.transitions)
    try:
        alphabet = alphabet_of(prepared.asked.filters)
        table = table_of(prepared, alphabet, limit, budget)
    except LimitError as error:
        return Need(*sizes, None, None, len(machine.states), None, None, error.message)
    wanted = [accepted(prepared, symbol) for symbol in alphabet.symbols]

    def step(configuration: int, symbol: int) -> int:
        return react(prepared, configuration, enabled(prepared, configuration) & wanted[symbol])[0]

    reached = {start(prepared)}
    pending = list(reached)
    for configuration in pending:
        new = {step(configuration, symbol) for symbol in range(len(wanted))} - reached
        reached |= new
        pending += new
    peak = max(configuration.bit_count() for configuration in reached)
    word = shortest(
        start(prepared),
        step,
        range(len(wanted)),
        lambda configuration: configuration.bit_count() == peak,
        budget,
    )
    minimal = minimise(table).configurations
    witness = None if word is None else tuple(alphabet.symbols[symbol] for symbol in word)
    return Need(*sizes, table.configurations, minimal, (minimal - 1).bit_length(), peak, witness)
