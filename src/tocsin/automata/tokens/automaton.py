"""The automata of the paper: states with domains, strong and weak transitions, generative states, timers.

Paper: 003, "Structure of Automata".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tocsin.algebra.tokens.bounds import MAX_MOVES, MAX_OF_A_KIND, MAX_STATES
from tocsin.algebra.tokens.pattern import Atom, Pattern, Timer
from tocsin.automata.tokens.construct import construct
from tocsin.automata.tokens.fragment import Context, Draft, Read, Spent
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
    """States in the order they are reached; `starts` are those a detection begins in, one token each.

    `limits` are the timers that only end what they limit. `closes`: the state in which a match goes on waiting when a
    limit runs out, for a state and a limit; where there is none, it ends.
    """

    states: tuple[State, ...]
    starts: tuple[int, ...]
    timers: tuple[Timer, ...]
    limits: frozenset[int] = frozenset()
    closes: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The distinct atoms, in the order of the states."""
        return tuple(dict.fromkeys(move.place.atom for state in self.states for move in state.moves))


def build(pattern: Pattern, spent: Spent | None = None) -> Automaton:
    """The automaton of a pattern without parallel parts: Appendix B, then removal of the empty moves.

    >>> from tocsin.algebra.tokens.pattern import EventSpec, Order, Sequence
    >>> a, b = (Atom((EventSpec(name),)) for name in "AB")
    >>> [state.all_strong for state in build(Sequence((a, b), Order.STRONG)).states]
    [False, True]

    Args:
        spent: what other parts of the same pattern have cost.
    """
    draft = Draft(spent=spent or Spent())
    whole = construct(draft, pattern, Context())
    starts, follow = remove_empty(draft, whole)
    if len(starts) > MAX_OF_A_KIND:
        message = f"a match can begin in {len(starts):,} different states; the limit is {MAX_OF_A_KIND}"
        raise draft.too_much("too-many-start-states", message, whole.start)
    waits = _numbered(draft, starts, follow, pattern)
    numbers = {waiting: number for number, waiting in enumerate(waits)}
    # Many reads continue in the same ways, which are then one shared tuple.
    steps: dict[int, tuple[Step, ...]] = {}
    limits = frozenset(draft.limits)
    for after in follow.values():
        if id(after) not in steps:
            # A limit that has been left behind is not started.
            steps[id(after)] = tuple(
                Step(numbers[w.same_place], (w.arms - limits) | (w.arms & _running(w)))
                for w in after
                if w.moves
            )

    def move(read: Candidate) -> Move:
        after = follow[read.place.node]
        enters = read.way.enters.intersection(read.place.context.behind)
        return Move(read.place, read.way.strong, enters, steps[id(after)], any(w.complete for w in after))

    states = tuple(State(tuple(map(move, waiting.moves))) for waiting in waits)
    first = tuple(dict.fromkeys(numbers[waiting.same_place] for waiting in starts if waiting.moves))
    return _with_closed_states(Automaton(states, first, tuple(draft.timers), limits), pattern)


def _running(waiting: Waiting) -> frozenset[int]:
    return frozenset[int]().union(*(move.place.context.running for move in waiting.moves))


def _with_closed_states(automaton: Automaton, pattern: Pattern) -> Automaton:
    """The automaton with the states that are left when limits run out."""
    if not automaton.limits:
        return automaton
    numbers = {state.moves: number for number, state in enumerate(automaton.states)}
    states = list(automaton.states)
    closes: dict[tuple[int, int], int] = {}
    for number, state in enumerate(states):  # the list grows
        for limit in sorted(state.running & automaton.limits):
            left = tuple(move for move in state.moves if limit not in move.place.context.running)
            if left:
                closes[number, limit] = numbers.setdefault(left, len(states))
                if numbers[left] == len(states):
                    states.append(State(left))
        if len(states) > MAX_STATES:
            raise _too_many_states(pattern)
    return replace(automaton, states=tuple(states), closes=closes)


def _too_many_states(pattern: Pattern) -> LimitError:
    message = f"the pattern needs more than {MAX_STATES:,} states"
    return LimitError("too-many-states", message, pattern.span, "make several patterns of it")


def _numbered(
    draft: Draft, starts: Iterable[Waiting], follow: Mapping[int, Sequence[Waiting]], pattern: Pattern
) -> list[Waiting]:
    """The states, as places to wait in the order they are reached; counts them, and the moves between them."""
    found: dict[Waiting, None] = {}
    queued = set[int]()
    queue = [waiting.same_place for waiting in starts if waiting.moves]
    for waiting in queue:
        if waiting in found:
            continue
        found[waiting] = None
        draft.spent.states += 1
        if draft.spent.states > MAX_STATES:
            raise _too_many_states(pattern)
        for read in waiting.moves:
            after = follow[read.place.node]
            draft.spent.moves += max(1, len(after))
            if draft.spent.moves > MAX_MOVES:
                message = f"the pattern needs more than {MAX_MOVES:,} moves between states, many of them from here on"
                node = draft.nodes[read.place.node]
                raise draft.too_much(
                    "too-many-moves", message, node.target if isinstance(node, Read) else read.place.node
                )
            if id(after) not in queued:
                queued.add(id(after))
                queue += [reached.same_place for reached in after if reached.moves]
    return list(found)
