"""Determinise a machine: its reachable configurations become the states of a table.

Paper: 000, section 6, "Optimization".
"""

from __future__ import annotations

from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Emit
from tocsin.automata.completion.alphabet import Alphabet, alphabet_of
from tocsin.automata.completion.simulate import Prepared, accepted, enabled, prepare, react, start, status
from tocsin.automata.completion.table import MAX_CELLS, Determinised, explore


def determinise(
    machine: Machine | Prepared, alphabet: Alphabet | None = None, limit: int = MAX_CELLS
) -> Determinised:
    """The table of a machine over an alphabet, by default over all events its predicates tell apart.

    A machine can have a configuration for every set of states, so a table of more than `limit` cells is
    refused (`LimitError`); the machine itself can still be run.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Repeat
    >>> from tocsin.automata.completion.construct import construct
    >>> determinise(construct(Repeat(Predicate(TRUE), 3))).configurations
    4
    """
    prepared = machine if isinstance(machine, Prepared) else prepare(machine)
    alphabet = alphabet or alphabet_of(prepared.asked.filters)
    wanted = [accepted(prepared, symbol) for symbol in alphabet.symbols]

    def row(configuration: int) -> list[tuple[int, tuple[Emit, ...]]]:
        possible = enabled(prepared, configuration)
        # Many kinds of events let the same transitions compete; each set is evaluated once.
        competing = [possible & them for them in wanted]
        cells = {some: react(prepared, configuration, some) for some in set(competing)}
        return [cells[some] for some in competing]

    return explore(
        start(prepared), row, lambda configuration: status(prepared, configuration), alphabet, limit
    )
