"""The automata of the paper: states with domains, strong and weak transitions, generative states, timers.

Paper: 003, "Structure of Automata".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tocsin.algebra.tokens.bounds import MAX_MOVES, MAX_OF_A_KIND, MAX_STATES
from tocsin.algebra.tokens.pattern import Atom, Pattern, Timer
from tocsin.automata.tokens.construct import construct
from tocsin.automata.tokens.fragment import Context, Draft, Read
from tocsin.automata.tokens.remove_empty import Candidate, Place, Waiting, remove_empty
from tocsin.errors import LimitError


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

    >>> from tocsin.algebra.tokens.pattern import EventSpec, Order, Sequence
    >>> a, b = (Atom((EventSpec(name),)) for name in "AB")
    >>> [state.all_strong for state in build(Sequence((a, b), Order.STRONG)).states]
    [False, True]
    """
    draft = Draft()
    whole = construct(draft, pattern, Context())
    starts, follow = remove_empty(draft, whole)
    if len(starts) > MAX_OF_A_KIND:
        message = f"a match can begin in {len(starts):,} different states; the limit is {MAX_OF_A_KIND}"
        raise draft.too_much("too-many-start-states", message, whole.start)
    waits = _numbered(draft, starts, follow, pattern)
    numbers = {waiting: number for number, waiting in enumerate(waits)}
    # Many reads continue in the same ways, which are then one shared tuple.
    steps: dict[int, tuple[Step, ...]] = {}
    for after in follow.values():
        if id(after) not in steps:
            steps[id(after)] = tuple(Step(numbers[w.same_place], w.arms) for w in after if w.moves)

    def move(read: Candidate) -> Move:
        after = follow[read.place.node]
        enters = read.way.enters.intersection(read.place.context.behind)
        return Move(read.place, read.way.strong, enters, steps[id(after)], any(w.complete for w in after))

    states = tuple(State(tuple(map(move, waiting.moves))) for waiting in waits)
    first = tuple(dict.fromkeys(numbers[waiting.same_place] for waiting in starts if waiting.moves))
    return Automaton(states, first, tuple(draft.timers))


def _numbered(
    draft: Draft, starts: Iterable[Waiting], follow: Mapping[int, Sequence[Waiting]], pattern: Pattern
) -> list[Waiting]:
    """The states, as places to wait in the order they are reached; counts them, and the moves between them."""
    found: dict[Waiting, None] = {}
    queued = set[int]()
    queue = [waiting.same_place for waiting in starts if waiting.moves]
    moves = 0
    for waiting in queue:
        if waiting in found:
            continue
        found[waiting] = None
        if len(found) > MAX_STATES:
            message = f"the pattern needs more than {MAX_STATES:,} states"
            raise LimitError("too-many-states", message, pattern.span, "split it into named composites")
        for read in waiting.moves:
            after = follow[read.place.node]
            moves += max(1, len(after))
            if moves > MAX_MOVES:
                message = f"the pattern needs more than {MAX_MOVES:,} moves between states, many of them from here on"
                node = draft.nodes[read.place.node]
                raise draft.too_much(
                    "too-many-moves", message, node.target if isinstance(node, Read) else read.place.node
                )
            if id(after) not in queued:
                queued.add(id(after))
                queue += [reached.same_place for reached in after if reached.moves]
    return list(found)
