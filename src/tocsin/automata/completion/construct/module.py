"""Modules: machines under construction, with a state for success and one for failure.

Each construct has a file beside this one that makes the module of an expression from those of its parts. All
follow one scheme: the transitions of the parts come before the new ones, and success comes before failure
(C.1.6).

Paper: 000, "Correlation Module" and section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tocsin.algebra.completion.machine import Transition
from tocsin.algebra.completion.output import Emit, Output
from tocsin.algebra.predicate import Filter


@dataclass(frozen=True, slots=True)
class Module:
    """The paper's ⟨Q, I, T, ≺, s, f⟩. The order is given by pairs; the rest follows by transitivity."""

    states: tuple[str, ...]
    initial: frozenset[str]
    transitions: tuple[Transition, ...]
    order: tuple[tuple[str, str], ...]
    success: str
    failure: str

    @property
    def first(self) -> list[str]:
        """The transitions that come after no other."""
        behind = {second for _, second in self.order}
        return [t.name for t in self.transitions if t.name not in behind]

    @property
    def last(self) -> list[str]:
        """The transitions that come before no other."""
        ahead = {first for first, _ in self.order}
        return [t.name for t in self.transitions if t.name not in ahead]


@dataclass
class Builder:
    """A supply of new names, numbered in the order of construction."""

    states: int = 0
    transitions: int = 0

    def state(self) -> str:
        """A new state."""
        self.states += 1
        return f"q{self.states}"

    def take(self, source: str, input: Filter, target: str) -> Transition:
        """A transition that takes an event."""
        return self._transition((frozenset({source}),), input, frozenset({source}), frozenset({target}), None)

    def step(
        self,
        enable: Sequence[Iterable[str]],
        clear: Iterable[str],
        target: Iterable[str],
        output: Output | None = None,
    ) -> Transition:
        """An internal transition."""
        sets = tuple(frozenset(alternatives) for alternatives in enable)
        return self._transition(sets, None, frozenset(clear), frozenset(target), output)

    def _transition(
        self,
        enable: tuple[frozenset[str], ...],
        input: Filter | None,
        clear: frozenset[str],
        target: frozenset[str],
        output: Output | None,
    ) -> Transition:
        place = self.transitions
        self.transitions += 1
        outputs = () if output is None else (Emit(output, place=place),)
        return Transition(f"t{place + 1}", enable, input, clear, target, outputs)


def states_of(parts: Iterable[Module]) -> tuple[str, ...]:
    """The states of several modules."""
    return tuple(state for part in parts for state in part.states)


def transitions_of(parts: Iterable[Module]) -> tuple[Transition, ...]:
    """The transitions of several modules."""
    return tuple(transition for part in parts for transition in part.transitions)


def orders_of(parts: Iterable[Module]) -> tuple[tuple[str, str], ...]:
    """The orders of several modules."""
    return tuple(pair for part in parts for pair in part.order)


def in_turn(before: Iterable[str], chain: Sequence[Transition]) -> tuple[tuple[str, str], ...]:
    """Order pairs that put transitions before the first of a chain, and each of the chain before the next."""
    names = [transition.name for transition in chain]
    return (*((name, names[0]) for name in before), *pairwise(names))


def side_by_side(
    builder: Builder,
    parts: Sequence[Module],
    success: Sequence[Iterable[str]],
    failure: Sequence[Iterable[str]],
    *,
    failure_first: bool = False,
) -> Module:
    """Parts that run together and are all cleared when the whole completes, on these enabling sets."""
    succeeded, failed = builder.state(), builder.state()
    states = states_of(parts)
    new = [builder.step(success, states, {succeeded}), builder.step(failure, states, {failed})]
    return Module(
        (*states, succeeded, failed),
        frozenset(state for part in parts for state in part.initial),
        (*transitions_of(parts), *new),
        orders_of(parts)
        + in_turn([t for part in parts for t in part.last], new[::-1] if failure_first else new),
        succeeded,
        failed,
    )


@dataclass(frozen=True, slots=True)
class Way:
    """Where the completion of a part leads: from one of some states to others, with an output."""

    enable: frozenset[str]
    target: frozenset[str]
    output: Output | None = None


def one_at_a_time(
    builder: Builder, parts: Sequence[Module], ways: Callable[[int, str, str], Sequence[Way]]
) -> Module:
    """Parts that run one at a time, beginning with the first.

    `ways` gives the ways out of a part by its number and the new states for success and failure. The parts
    and their ways out are totally ordered: no two of them are ever enabled together, and the order lets the
    passes know.
    """
    succeeded, failed = builder.state(), builder.state()
    new: list[Transition] = []
    order = list(orders_of(parts))
    before: list[str] = []
    for number, part in enumerate(parts):
        out = [
            builder.step([w.enable], part.states, w.target, w.output) for w in ways(number, succeeded, failed)
        ]
        order += [(earlier, name) for earlier in before for name in part.first]
        order += in_turn(part.last or before, out)
        before = [out[-1].name]
        new += out
    states = (*states_of(parts), succeeded, failed)
    return Module(states, parts[0].initial, (*transitions_of(parts), *new), tuple(order), succeeded, failed)
