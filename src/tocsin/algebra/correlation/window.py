"""Whether a window matches, even when labels were switched in it; simple, slow, and part of the reference.

A window is the history of a branch since its last trigger. As long as no label was switched in it, the
paper's definitions decide. They do not cover a window in which one was; there the project's decisions C.2.9
to C.2.11 define which events have been *taken*, which is recomputed from the whole history each time:

- a part takes an event when it is alive and every earlier stage of a sequence is complete, aborted or passed
  by then;
- an abort makes the aborted part lose the events it took, and nothing else;
- a stage is passed once a later stage has taken an event, and still has it: it is then no longer awaited in this
  window.

Paper: 001, Definitions 6 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from tocsin.algebra.correlation.definitions import Labels, matches, without
from tocsin.algebra.correlation.expression import (
    Accumulation,
    Atom,
    Collection,
    Expression,
    Labelled,
    Sequence,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """An event, or a switch of a label (then `event` is None), and the labels that are off from then on."""

    event: str | None
    off: Labels


History = tuple[Moment, ...]


@dataclass(frozen=True, eq=False)
class Place:
    """A part of an expression at its place: the labels it lies under, and the stages it has to wait for.

    `waits` has both operands of every sequence in which this part belongs to the second.
    """

    part: Expression
    under: Labels
    inner: tuple[Place, ...] = ()
    waits: list[tuple[Place, Place]] = field(default_factory=list)

    def all(self) -> Iterator[Place]:
        """This place and those inside it, in textual order."""
        yield self
        for place in self.inner:
            yield from place.all()

    @cached_property
    def atoms(self) -> tuple[Place, ...]:
        """The places of single events inside this one."""
        return tuple(place for place in self.all() if isinstance(place.part, Atom))


def placed(part: Expression, under: Labels = frozenset()) -> Place:
    """An expression with an identity for each of its parts; `under` are the labels around it."""
    match part:
        case Atom():
            return Place(part, under)
        case Labelled(label, body):
            return Place(part, under | {label}, (placed(body, under | {label}),))
        case Accumulation(left, right) | Collection(left, right) | Sequence(left, right):
            first, second = placed(left, under), placed(right, under)
            if isinstance(part, Sequence):
                for atom in second.atoms:
                    atom.waits.append((first, second))
            return Place(part, under, (first, second))
        case _:
            assert_never(part)


def aborted(place: Place, off: Labels) -> bool:
    """Whether a part is switched off, is inside a part that is, or has nothing left inside."""
    return bool(place.under & off) or (
        bool(place.inner) and all(aborted(inner, off) for inner in place.inner)
    )


def accepts(place: Place, history: History) -> bool:
    """Whether a window matches an expression that started with it.

    >>> place = placed(Sequence(Labelled("l", Atom("a")), Atom("b")))
    >>> on, off = frozenset(), frozenset({"l"})
    >>> accepts(place, (Moment("b", on), Moment(None, off)))
    False
    >>> accepts(place, (Moment(None, off), Moment("b", off)))
    True
    """
    now = history[-1].off
    if any(moment.off != now for moment in history):
        return _complete(place, _taken(place, history), now)
    left = None if aborted(place, now) else without(place.part, now)
    return left is not None and matches(
        left, [moment.event for moment in history if moment.event is not None]
    )


def taking_part(place: Place, history: History) -> frozenset[str]:
    """The labels whose expressions took part, each at its place, in completing the whole."""
    return frozenset(_contributing(place, _taken(place, history), history[-1].off))


def taken_atoms(place: Place, history: History) -> frozenset[Place]:
    """The places of single events that have an event of the window."""
    return _taken(place, history)


def awaited(place: Place, history: History) -> tuple[Place, ...]:
    """The places of single events that would take their event now, in textual order.

    >>> place = placed(Sequence(Atom("a"), Atom("b")))
    >>> [one.part.event for one in awaited(place, (Moment("a", frozenset()),))]
    ['b']
    """
    taken, off = _taken(place, history), history[-1].off
    return tuple(
        atom
        for atom in place.atoms
        if atom not in taken
        and not atom.under & off
        and all(_open(first, second, taken, off) for first, second in atom.waits)
    )


def _contributing(place: Place, taken: AbstractSet[Place], off: Labels) -> Iterator[str]:
    if isinstance(place.part, Labelled) and _complete(place, taken, off):
        yield place.part.label
    for inner in place.inner:
        # Only the complete operands of a collection count; the others were not needed.
        if not isinstance(place.part, Collection) or _complete(inner, taken, off):
            yield from _contributing(inner, taken, off)


def _taken(root: Place, history: History) -> frozenset[Place]:
    """The atoms that have an event of the window."""
    taken: frozenset[Place] = frozenset()
    for moment in history:
        new = {
            atom
            for atom in root.atoms
            if isinstance(atom.part, Atom)
            and atom.part.event == moment.event
            and all(_open(first, second, taken, moment.off) for first, second in atom.waits)
        }
        taken = frozenset(atom for atom in taken | new if not atom.under & moment.off)
    return taken


def _open(first: Place, second: Place, taken: AbstractSet[Place], off: Labels) -> bool:
    """Whether the second stage of a sequence may take events."""
    passed = any(atom in taken for atom in second.atoms)
    return passed or aborted(first, off) or _complete(first, taken, off)


def _complete(place: Place, taken: AbstractSet[Place], off: Labels) -> bool:
    """Whether a part needs no further event."""
    alive = [inner for inner in place.inner if not aborted(inner, off)]
    match place.part:
        case Atom():
            return place in taken
        case Labelled() | Accumulation():
            return bool(alive) and all(_complete(inner, taken, off) for inner in alive)
        case Collection():
            return any(_complete(inner, taken, off) for inner in alive)
        case Sequence():
            # A second stage that is complete has taken events, so the first is complete, or passed.
            return bool(alive) and _complete(alive[-1], taken, off)
        case _:
            assert_never(place.part)
