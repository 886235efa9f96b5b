"""The automata of the paper: states with domains, strong and weak transitions, generative states, timers.

Paper: 003, "Structure of Automata".
"""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.algebra.pattern import Atom, Pattern, Timer
from tocsin.automata.construct import construct
from tocsin.automata.fragment import Context, Draft
from tocsin.automata.remove_empty import Place, Waiting, remove_empty


@dataclass(frozen=True, slots=True)
class Step:
    """Where a move leads: a state to wait in, and the timers that start on arrival."""

    state: int
    arms: frozenset[int]


@dataclass(frozen=True, slots=True)
class Move:
    """A transition. `emits`: the move completes the pattern, so a composite event is generated."""

    place: Place
    strong: bool
    enters: frozenset[int]
    steps: tuple[Step, ...]
    emits: bool


@dataclass(frozen=True, slots=True)
class State:
    """A place to wait; its domain is what its moves' atoms name, and the timers that run there."""

    moves: tuple[Move, ...]

    @property
    def all_strong(self) -> bool:
        return all(move.strong for move in self.moves)

    @property
    def running(self) -> frozenset[int]:
        return frozenset[int]().union(*(move.place.context.running for move in self.moves))

    @property
    def behind(self) -> frozenset[int]:
        return frozenset[int]().union(*(move.place.context.behind for move in self.moves))


@dataclass(frozen=True, slots=True)
class Automaton:
    """States in the order they are reached; `starts` are those a detection begins in, one token each."""

    states: tuple[State, ...]
    starts: tuple[int, ...]
    timers: tuple[Timer, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The distinct atoms, in the order of the states."""
        return tuple(dict.fromkeys(move.place.atom for state in self.states for move in state.moves))


def build(pattern: Pattern) -> Automaton:
    """The automaton of a pattern without parallel parts: Appendix B, then removal of the empty moves.

    >>> from tocsin.algebra.pattern import EventSpec, Order, Sequence
    >>> a, b = (Atom((EventSpec(name),)) for name in "AB")
    >>> [state.all_strong for state in build(Sequence((a, b), Order.STRONG)).states]
    [False, True]
    """
    draft = Draft()
    whole = construct(draft, pattern, Context())
    starts, follow = remove_empty(draft, whole)
    numbers: dict[Waiting, int] = {}
    queue = [waiting for waiting in starts if waiting.moves]
    for waiting in queue:
        if waiting.same_place in numbers:
            continue
        numbers[waiting.same_place] = len(numbers)
        for read in waiting.moves:
            queue += [after for after in follow[read.place.node] if after.moves]
    states = [
        State(
            tuple(
                Move(
                    read.place,
                    read.way.strong,
                    read.way.enters & frozenset(read.place.context.behind),
                    tuple(
                        Step(numbers[after.same_place], after.arms)
                        for after in follow[read.place.node]
                        if after.moves
                    ),
                    any(after.complete for after in follow[read.place.node]),
                )
                for read in waiting.moves
            )
        )
        for waiting in numbers
    ]
    first = tuple(dict.fromkeys(numbers[waiting.same_place] for waiting in starts if waiting.moves))
    return Automaton(tuple(states), first, tuple(draft.timers))
