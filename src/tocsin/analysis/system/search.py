"""All states that a system can reach, breadth first, up to a bound.

A state is kept once, as a few short tuples; moves are kept as numbers of the states they lead to, and what a move does is
worked out again for the few that are shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tocsin.algebra.system.behaviour import Behaving, Move, State

MAX_STATES = 1_000_000


@dataclass
class Graph:
    """The states in the order in which they were found, and where their moves lead.

    The moves of state `n` lead to `targets[first[n]:first[n + 1]]`. States beyond `complete` have not been looked at, because
    there were too many; a state whose queue has overflowed has no moves.
    """

    behaving: Behaving
    states: list[State]
    parents: array[int]
    first: array[int]
    targets: array[int]
    overflown: list[int] = field(default_factory=list)
    truncated: bool = False

    @property
    def complete(self) -> int:
        """How many states have been looked at."""
        return len(self.first) - 1

    def after(self, state: int) -> Sequence[int]:
        """Where the moves of a state lead."""
        return self.targets[self.first[state] : self.first[state + 1]]

    def way_to(self, state: int) -> list[int]:
        """The states on a shortest way to a state, from the first one."""
        found = [state]
        while (state := self.parents[state]) >= 0:
            found.append(state)
        return found[::-1]

    def moves_along(self, way: Sequence[int]) -> tuple[Move, ...]:
        """What happens on a way."""
        found = []
        for before, after in pairwise(way):
            moves = self.behaving.moves(self.states[before])
            found.append(next(move for move, state in moves if state == self.states[after]))
        return tuple(found)


def explore(behaving: Behaving, most: int = MAX_STATES) -> Graph:
    """The states that can be reached, at most so many."""
    room = behaving.system.queue
    start = behaving.start()
    numbers: dict[State, int] = {start: 0}
    graph = Graph(behaving, [start], array("i", [-1]), array("l", [0]), array("i"))
    states, targets = graph.states, graph.targets
    for number, state in enumerate(states):  # which grows during the loop
        if len(state.queue) > room:
            graph.overflown.append(number)
            graph.first.append(len(targets))
            continue
        for _, after in behaving.moves(state):
            found = numbers.setdefault(after, len(states))
            if found == len(states):
                if found == most:
                    graph.truncated = True
                    del numbers[after], targets[graph.first[-1] :]
                    return graph
                states.append(after)
                graph.parents.append(number)
            targets.append(found)
        graph.first.append(len(targets))
    return graph
