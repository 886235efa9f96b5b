"""An acceptor expanded to a table: one row per state, one column per event. Every filter has one.

The table of `a1+…+an` has 2ⁿ states, so there is a limit; beyond it the acceptor itself still runs, state by
state.

>>> from tocsin.algebra.correlation.expression import Atom, Sequence
>>> from tocsin.automata.correlation.acceptor import compile_expression
>>> table = determinise(compile_expression(Sequence(Atom("a"), Atom("b"))))
>>> table.events, table.next, table.accepting
(('a', 'b'), ((1, 0), (1, 2), (2, 2)), (False, False, True))

Paper: 001, section 3.6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin.automata.correlation.acceptor import Machine, is_complete, step
from tocsin.errors import LimitError

MAX_STATES = 4_096


@dataclass(frozen=True, slots=True)
class Table:
    """A deterministic acceptor. State 0 is the first; an event that has no column changes nothing."""

    events: tuple[str, ...]
    next: tuple[tuple[int, ...], ...]
    accepting: tuple[bool, ...]

    def accepts(self, trace: Iterable[str]) -> bool:
        """Whether a trace ends in an accepting state."""
        column = {event: number for number, event in enumerate(self.events)}
        state = 0
        for event in trace:
            if event in column:
                state = self.next[state][column[event]]
        return self.accepting[state]


def determinise(machine: Machine, dead: int = 0, limit: int = MAX_STATES) -> Table:
    """The table of an acceptor, with some places permanently aborted; a match stays one whatever follows."""
    events = machine.events(dead)
    numbers = {0: 0}
    rows: list[tuple[int, ...]] = []
    accepting: list[bool] = []
    queue = [0]
    for marks in queue:
        done = is_complete(machine, marks, dead)
        accepting.append(done)
        row = []
        for event in events:
            # All complete states accept everything from here on, so they are merged.
            after = marks if done else step(machine, marks, dead, event)
            if not done and is_complete(machine, after, dead):
                after = machine.places & ~dead
            if after not in numbers:
                if len(numbers) >= limit:
                    raise LimitError(
                        "too-many-states",
                        f"the table of this filter has more than {limit:,} states",
                        hint="run the filter without a table, or split it with ||",
                    )
                numbers[after] = len(numbers)
                queue.append(after)
            row.append(numbers[after])
        rows.append(tuple(row))
    return Table(events, tuple(rows), tuple(accepting))
