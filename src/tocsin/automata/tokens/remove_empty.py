"""Replace empty moves by direct ones.

What a node offers once its empty moves are followed is a list of places to wait, one for each option of an alternation. An
iteration and what comes after it are waited for in one place, whose domain is the union of both: so an event that the body
cannot take ends the match, as the paper's `[A][A in {A,B}]*[C]` requires for A A B C.

Paper: 003, Appendix B, footnote 2; the project's decisions C.3.4, C.3.5, C.3.10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from tocsin.algebra.tokens.bounds import MAX_STATES
from tocsin.algebra.tokens.pattern import Atom
from tocsin.automata.tokens.fragment import Context, Draft, Fork, Fragment, Loop, Read, Skip, Way
from tocsin.errors import LimitError


@dataclass(frozen=True, slots=True)
class Place:
    """An atom at its place in the pattern, distinguished from equal atoms by its node."""

    node: int
    atom: Atom
    context: Context

    def __hash__(self) -> int:
        return hash(self.node)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that can take the next event, and the way that leads to it."""

    place: Place
    way: Way


@dataclass(frozen=True, slots=True)
class Waiting:
    """A place to wait: what can be read there, whether the pattern is complete there, and the timers that start there."""

    moves: tuple[Candidate, ...]
    open: Way | None  # the way to the end, or to the loop that is being followed
    arms: frozenset[int] = frozenset()
    complete: bool = False

    @property
    def same_place(self) -> Waiting:
        """The key of its state: equal moves are one state; effects on arrival belong to the move that leads there."""
        return Waiting(self.moves, None)


Waits = tuple[Waiting, ...]


def remove_empty(draft: Draft, whole: Fragment) -> tuple[Waits, dict[int, Waits]]:
    """Where a detection starts, and where it goes after each node that reads.

    Nodes with the same ways on share the tuple of them.
    """
    closures = _Closures(draft, whole.end)
    reads = [(number, node) for number, node in draft.nodes.items() if isinstance(node, Read)]
    return closures.finished(whole.start), {number: closures.finished(node.target) for number, node in reads}


_Key = tuple[int, frozenset[int]]


class _Closures:
    """The places to wait from each node on, each computed once.

    A key is a node and where following ends: the end of the pattern, and the loops that are being followed.
    """

    def __init__(self, draft: Draft, end: int) -> None:
        self._draft, self._end = draft, frozenset({end})
        self._known: dict[_Key, Waits] = {}
        self._finished: dict[int, tuple[Waits, Waits]] = {}  # by the identity of the first

    def finished(self, node: int) -> Waits:
        """The places to wait from a node on; those from which the end can be reached complete the pattern."""
        found = self._of((node, self._end))
        if id(found) not in self._finished:
            done = (replace(waiting, complete=waiting.open is not None) for waiting in found)
            self._finished[id(found)] = found, tuple(dict.fromkeys(done))
        return self._finished[id(found)][1]

    def _of(self, key: _Key) -> Waits:
        # Not recursive, because a long row of iterations would exhaust the stack.
        waiting = [key]
        while waiting:
            here = waiting[-1]
            if here in self._known:
                waiting.pop()
            elif missing := [other for other in self._following(here) if other not in self._known]:
                waiting += missing
            else:
                self._known[here] = self._closure(here)
        return self._known[key]

    def _following(self, key: _Key) -> list[_Key]:
        """The keys whose places must be known before those of this key."""
        number, ends = key
        node = self._draft.nodes.get(number)
        if number in ends or isinstance(node, Read):
            return []
        if isinstance(node, Loop):
            return [(node.body, ends | {number}), (node.past, ends)]
        if isinstance(node, Skip):
            return [(node.body, ends | {node.past}), (node.past, ends)]
        assert isinstance(node, Fork)
        return [(target, ends) for _, target in node.ways]

    def _closure(self, key: _Key) -> Waits:
        number, ends = key
        if number in ends:
            return (Waiting((), Way()),)
        node = self._draft.nodes[number]
        match node:
            case Read(atom, context):
                return (Waiting((Candidate(Place(number, atom, context), Way()),), None),)
            case Fork(ways):
                parts = [self._behind(way, self._known[target, ends], number) for way, target in ways]
                found = parts[0] if len(parts) == 1 else tuple(waiting for part in parts for waiting in part)
            case Loop(body, past):
                found = self._loop(self._known[body, ends | {number}], self._known[past, ends], number)
            case Skip(body, past):
                found = self._loop(self._known[body, ends | {past}], self._known[past, ends], number)
            case _:
                assert_never(node)
        if len(found) > MAX_STATES:
            raise self._too_many_states(number)
        return found

    def _behind(self, way: Way, waits: Waits, number: int) -> Waits:
        """The places, reached by a longer way."""
        if way == Way():
            return waits
        opened = sum(len(w.open.enters) for w in waits if w.open is not None)
        self._draft.spend(opened + sum(len(w.moves) for w in waits), number)
        return tuple(_behind(way, waiting) for waiting in waits)

    def _loop(self, inside: Waits, past: Waits, number: int) -> Waits:
        """Each start of a loop's body and each place after the loop as one place."""
        if len(inside) * len(past) > MAX_STATES:
            raise self._too_many_states(number)
        in_body, behind = (sum(1 + len(w.moves) for w in waits) for waits in (inside, past))
        self._draft.spend(in_body * len(past) + behind * len(inside), number)
        return tuple(dict.fromkeys(_merge(a, b) for a in inside for b in past))

    def _too_many_states(self, number: int) -> LimitError:
        message = f"from here on a match can wait in more than {MAX_STATES:,} different states"
        return self._draft.too_much("too-many-states", message, number)


def _behind(way: Way, waiting: Waiting) -> Waiting:
    """The place, reached by a longer way. Timers start on arrival, so they do not belong to the single moves."""
    moves = waiting.moves
    if way.strong or way.enters:
        moves = tuple(Candidate(m.place, _move_way(way, m)) for m in moves)
    return Waiting(moves, None if waiting.open is None else way.along(waiting.open), waiting.arms | way.arms)


def _move_way(way: Way, move: Candidate) -> Way:
    # A place knows the strong links that it lies behind; crossing others makes no difference to it.
    enters = way.enters.intersection(move.place.context.behind)
    return Way(way.strong, enters).along(move.way)


def _merge(body: Waiting, past: Waiting) -> Waiting:
    """The start of a loop's body and what comes after the loop as one place."""
    return Waiting(tuple(dict.fromkeys(body.moves + past.moves)), past.open, body.arms | past.arms)
