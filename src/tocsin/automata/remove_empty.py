"""Replace empty moves by direct ones.

What a node offers once its empty moves are followed is a list of places to wait, one for each option of an alternation. An
iteration and what comes after it are waited for in one place, whose domain is the union of both: so an event that the body
cannot take ends the match, as the paper's `[A][A in {A,B}]*[C]` demands for A A B C.

Paper: 003, Appendix B, footnote 2; the project's decisions C.3.4, C.3.5, C.3.10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from tocsin.algebra.pattern import Atom
from tocsin.automata.fragment import Context, Draft, Fork, Fragment, Loop, Read, Way


@dataclass(frozen=True, slots=True)
class Place:
    """An atom at its place in the pattern, told apart from equal atoms by the node it was drawn at."""

    node: int
    atom: Atom
    context: Context

    def __hash__(self) -> int:
        return hash(self.node)


@dataclass(frozen=True, slots=True)
class Reading:
    """A place that can take the next event, and the way that leads to it."""

    place: Place
    way: Way


@dataclass(frozen=True, slots=True)
class Waiting:
    """A place to wait: what can be read there, whether the pattern is complete there, and the timers that start there."""

    moves: tuple[Reading, ...]
    open: Way | None  # the way to the end, or to the loop that is being followed
    arms: frozenset[int] = frozenset()
    complete: bool = False

    @property
    def same_place(self) -> Waiting:
        """Two with the same moves are the same state; what happens on arrival belongs to the move that leads there."""
        return Waiting(self.moves, None)


def remove_empty(draft: Draft, whole: Fragment) -> tuple[list[Waiting], dict[int, list[Waiting]]]:
    """Where a detection starts, and where it goes after each node that reads."""
    follow = {
        number: _closed(draft, node.target, whole.end)
        for number, node in draft.nodes.items()
        if isinstance(node, Read)
    }
    return _closed(draft, whole.start, whole.end), follow


def _closed(draft: Draft, node: int, end: int) -> list[Waiting]:
    found = [replace(w, complete=w.open is not None) for w in _closure(draft, node, frozenset({end}))]
    return list(dict.fromkeys(found))


def _closure(draft: Draft, number: int, ends: frozenset[int]) -> list[Waiting]:
    """The places to wait from a node on. `ends`: the end of the pattern, and the loops that are being followed."""
    if number in ends:
        return [Waiting((), Way())]
    node = draft.nodes[number]
    match node:
        case Read(atom, context):
            return [Waiting((Reading(Place(number, atom, context), Way()),), None)]
        case Fork(ways):
            return [
                _behind(way, waiting) for way, target in ways for waiting in _closure(draft, target, ends)
            ]
        case Loop(body, past):
            inside = _closure(draft, body, ends | {number})
            return [_merge(a, b) for a in inside for b in _closure(draft, past, ends)]
        case _:
            assert_never(node)


def _behind(way: Way, waiting: Waiting) -> Waiting:
    """The same place, reached by a longer way. Timers start on arrival, so they do not belong to the single moves."""
    moves = tuple(Reading(m.place, replace(way, arms=frozenset()).along(m.way)) for m in waiting.moves)
    return Waiting(moves, None if waiting.open is None else way.along(waiting.open), waiting.arms | way.arms)


def _merge(body: Waiting, past: Waiting) -> Waiting:
    """The start of a loop's body and what comes after the loop as one place."""
    return Waiting(tuple(dict.fromkeys(body.moves + past.moves)), past.open, body.arms | past.arms)
