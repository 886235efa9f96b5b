"""Remove internal steps that only pass on the effect of the transition before them.

An internal transition τ that waits for one of some states P is joined to the transitions σ that set those
states, where nothing can come between: σ then clears and sets what τ did, and produces its outputs. The
conditions, with Z the states that τ clears, and transitions *in line* if one goes before the other, so that
they never fire together:

1. only τ waits for P; P is in Z, neither initial nor final; no σ sets anything else;
2. whatever else sets Z or waits for it is in line with σ if it takes events as σ does, and with τ if it is
   internal;
3. what goes before τ is idle when σ has fired: it went before σ too, or σ disables it; and nothing that could
   enable it fires beside σ;
4. what clears the targets of τ is in line with τ, and what waits for them is in line with all that moves its
   states.

Paper: 000, section 6, "Optimization": "redundant internal transitions that can be eliminated".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tocsin.algebra.completion.machine import Machine, above
from tocsin.automata.completion.passes.order import without
from tocsin.automata.completion.simulate import bits, prepare


def remove_steps(machine: Machine) -> Machine:
    """The machine with fewer internal steps between an event and its outputs.

    >>> from tocsin.algebra.completion.expression import TRUE, Fail, Predicate
    >>> from tocsin.automata.completion.construct import construct
    >>> from tocsin.automata.completion.passes.remove_unreachable import remove_unreachable
    >>> machine = remove_unreachable(construct(Fail(Fail(Predicate(TRUE)))))
    >>> len(machine.transitions), len(remove_steps(machine).transitions)
    (3, 1)
    """
    draft = _Draft(machine)
    removed = [step for step in bits(draft.internal) if draft.can_join(step) and draft.join(step)]
    if not removed:
        return machine

    def names(states: int) -> frozenset[str]:
        return frozenset(machine.states[i] for i in bits(states & ~draft.gone))

    gone = {machine.transitions[i].name for i in removed}
    transitions = [
        replace(t, clear=names(draft.clear[i]), target=names(draft.target[i]), outputs=draft.emits[i])
        for i, t in enumerate(machine.transitions)
        if t.name not in gone
    ]
    return replace(
        machine,
        states=tuple(state for i, state in enumerate(machine.states) if not draft.gone >> i & 1),
        transitions=tuple(transitions),
        order=without(machine.order, gone),
    )


class _Draft:
    """The machine as sets of bits, while transitions are being joined."""

    def __init__(self, machine: Machine) -> None:
        prepared = prepare(machine)
        self.internal = prepared.internal
        self.enable = prepared.enable
        self.clear = list(prepared.clear)
        self.target = list(prepared.target)
        self.emits = list(prepared.emits)
        self.above = prepared.above
        self.fixed = prepared.initial | prepared.success | prepared.failure
        self.gone = 0
        self.waiters = prepared.near  # for each state, the transitions that wait for it, set it, clear it
        self.setters = [0] * len(machine.states)
        self.clearers = [0] * len(machine.states)
        # For each transition those in line with it, itself included.
        below = above(replace(machine, order=tuple((second, first) for first, second in machine.order)))
        self.line = [
            before | 1 << i | after for i, (before, after) in enumerate(zip(self.above, below, strict=True))
        ]
        for i in range(len(machine.transitions)):
            for state in bits(self.target[i]):
                self.setters[state] |= 1 << i
            for state in bits(self.clear[i]):
                self.clearers[state] |= 1 << i

    def can_join(self, step: int) -> bool:
        """Whether an internal transition can be joined to those before it."""
        if len(self.enable[step]) != 1:
            return False
        waited, cleared = self.enable[step][0], self.clear[step]
        sources = _either(self.setters, waited)
        touching = (_either(self.setters, cleared) | _either(self.waiters, cleared)) & ~(1 << step)
        return (
            bool(sources)
            and not waited & (self.fixed | ~cleared)
            and _either(self.waiters, waited) == 1 << step
            and not touching & self.internal & ~self.line[step]
            and all(self._follows(step, source, touching) for source in bits(sources))
            and self._targets_are_safe(step)
        )

    def _follows(self, step: int, source: int, touching: int) -> bool:
        """Whether nothing can come between a transition and the internal one after it: conditions 1 to 3."""
        is_internal = self.internal >> source & 1
        if self.target[source] & ~self.enable[step][0] or (
            is_internal and not self.above[step] >> source & 1
        ):
            return False
        beside = (self.internal if is_internal else ~self.internal) & ~self.line[source]
        if touching & beside:
            return False
        for earlier in bits(self.above[step] & self.internal & ~(1 << source)):
            waits = _union(self.enable[earlier])
            if _either(self.setters, waits) & beside:
                return False
            idle = not is_internal or self.above[source] >> earlier & 1 or self._disables(source, earlier)
            if not idle:
                return False
        return True

    def _disables(self, source: int, other: int) -> bool:
        left = ~self.clear[source] | self.target[source]
        return any(not alternatives & left for alternatives in self.enable[other])

    def _targets_are_safe(self, step: int) -> bool:
        """Condition 4."""
        target = self.target[step]
        if _either(self.clearers, target) & self.internal & ~self.line[step]:
            return False
        for waiting in bits(_either(self.waiters, target) & self.internal):
            waits = _union(self.enable[waiting])
            movers = _either(self.setters, waits) | _either(self.clearers, waits)
            if movers & self.internal & ~self.line[waiting]:
                return False
        return True

    def join(self, step: int) -> bool:
        """Join an internal transition to those before it."""
        waited, cleared, target = self.enable[step][0], self.clear[step], self.target[step]
        sources = _either(self.setters, waited)
        for source in bits(sources):
            self.clear[source] |= cleared
            self.target[source] = self.target[source] & ~waited | target
            self.emits[source] += self.emits[step]
        for state in bits(target):
            self.setters[state] = self.setters[state] & ~(1 << step) | sources
        for state in bits(cleared):
            self.clearers[state] = self.clearers[state] & ~(1 << step) | sources
        for state in bits(waited):
            self.setters[state] = 0
        self.gone |= waited
        self.internal &= ~(1 << step)
        return True


def _either(sets: list[int] | tuple[int, ...], members: int) -> int:
    """The union of the sets of some members."""
    return _union(sets[member] for member in bits(members))


def _union(sets: Iterable[int]) -> int:
    whole = 0
    for one in sets:
        whole |= one
    return whole
