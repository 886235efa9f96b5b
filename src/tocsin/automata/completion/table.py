"""Determinised machines as tables: a state and a kind of event give the next state and a list of outputs.

The table consists only of flat arrays, so it pickles compactly and a kernel can walk it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Emit, value_of
from tocsin.algebra.completion.run import Run, Status
from tocsin.automata.completion.alphabet import Alphabet
from tocsin.errors import LimitError

# The maximum size of a table: cells are pairs of a configuration and a kind of event. This many take less
# than a second, and less than 16 MB while they are built.
MAX_CELLS = 50_000
STATUSES = (Status.RUNNING, Status.SUCCESS, Status.FAILURE)

Ints = npt.NDArray[np.int32]
S = TypeVar("S", bound=Hashable)


class Table(NamedTuple):
    """A deterministic machine; it starts in state 0."""

    next: Ints  # [states, columns]: the state after an event
    emits: Ints  # [states, columns]: the list of outputs it causes; list 0 is empty
    column: Ints  # [symbols]: the column of a kind of event
    first: Ints  # [lists + 1]: the start of each list in `outputs`, and the end of the last one
    outputs: Ints  # [...]: the concatenated lists, as numbers of outputs
    status: Ints  # [states]: 0 running, 1 success, 2 failure


@dataclass(frozen=True, slots=True)
class Determinised:
    """A table with the meaning of its numbers."""

    table: Table
    alphabet: Alphabet
    emits: tuple[Emit, ...]

    @property
    def configurations(self) -> int:
        """The number of states."""
        return len(self.table.status)

    def status(self, state: int) -> Status:
        """The status of an evaluation in this state."""
        return STATUSES[self.table.status[state]]

    def cell(self, state: int, symbol: int) -> tuple[int, tuple[int, ...]]:
        """The state after an event, and the numbers of the outputs it causes."""
        table = self.table
        column = table.column[symbol]
        these = table.emits[state, column]
        return int(table.next[state, column]), tuple(
            table.outputs[table.first[these] : table.first[these + 1]].tolist()
        )


def walk(table: Table, state: int, symbols: Ints) -> tuple[int, Ints, Ints]:
    """Walk a table; returns the last state, and the outputs with the indices of the events that caused them."""
    positions: list[int] = []
    outputs: list[int] = []
    for position in range(len(symbols)):
        column = table.column[symbols[position]]
        these = table.emits[state, column]
        for k in range(table.first[these], table.first[these + 1]):
            positions.append(position)
            outputs.append(table.outputs[k])
        state = table.next[state, column]
    return int(state), np.array(positions, np.int32), np.array(outputs, np.int32)


def run(machine: Determinised, events: Iterable[Fields]) -> Run:
    """Run a table over a trace."""
    events = list(events)
    symbols = np.array([machine.alphabet.symbol(event) for event in events], np.int32)
    state, positions, numbers = walk(machine.table, 0, symbols)
    outputs = [
        (position + 1, value_of(machine.emits[number].output, events[position]))
        for position, number in zip(positions.tolist(), numbers.tolist(), strict=True)
    ]
    return Run(tuple(outputs), machine.status(state), _completed_at(machine, symbols))


def _completed_at(machine: Determinised, symbols: Ints) -> int | None:
    state = 0
    for position, symbol in enumerate(symbols, 1):
        state = machine.table.next[state, machine.table.column[symbol]]
        if machine.table.status[state]:
            return position
    return None


def explore(
    initial: S,
    row: Callable[[S], Sequence[tuple[S, Sequence[Emit]]]],
    status: Callable[[S], Status],
    alphabet: Alphabet,
    limit: int = MAX_CELLS,
) -> Determinised:
    """The table of all reachable states; refuses one of more than `limit` cells.

    Args:
        row: for each kind of event, the state it leads to and the outputs it causes.
    """
    numbers: dict[S, int] = {initial: 0}
    outputs: dict[Emit, int] = {}
    lists: dict[tuple[int, ...], int] = {(): 0}
    next: list[list[int]] = []
    emits: list[list[int]] = []
    queue = [initial]
    for state in queue:
        if (len(next) + 1) * max(1, len(alphabet.symbols)) > limit:
            raise LimitError(
                "table-too-large",
                f"determinised, this has {len(numbers):,} configurations or more"
                f" for {len(alphabet.symbols)} kinds of events; the limit is {limit:,} cells",
            )
        cells = row(state)
        for after, _ in cells:
            if after not in numbers:
                numbers[after] = len(numbers)
                queue.append(after)
        next.append([numbers[after] for after, _ in cells])
        made = [tuple(outputs.setdefault(emit, len(outputs)) for emit in emitted) for _, emitted in cells]
        emits.append([lists.setdefault(them, len(lists)) for them in made])
    shape = (len(queue), len(alphabet.symbols))
    table = Table(
        np.array(next, np.int32).reshape(shape),
        np.array(emits, np.int32).reshape(shape),
        np.arange(len(alphabet.symbols), dtype=np.int32),
        np.cumsum([0, *(len(them) for them in lists)], dtype=np.int32),
        np.array([number for them in lists for number in them], np.int32),
        np.array([STATUSES.index(status(state)) for state in queue], np.int32),
    )
    return Determinised(table, alphabet, tuple(outputs))
