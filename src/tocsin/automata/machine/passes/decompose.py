"""Cut a machine into parts that have nothing to do with each other, so that each can run by itself.

Paper: 000, section 6, "Evaluation Strategies": "decompose a machine into many machines and distribute these".
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.algebra.machine import Machine, Transition


def decompose(machine: Machine) -> tuple[Machine, ...]:
    """The independent parts of a machine; parts without transitions are left out.

    >>> from tocsin.algebra.completion import TRUE, Parallel, Predicate
    >>> from tocsin.automata.machine.construct import construct
    >>> [part.name for part in decompose(construct(Parallel((Predicate(TRUE), Predicate(TRUE)))))]
    ['M_1', 'M_2']
    """
    parts = _linked(machine)
    groups: dict[str, list[Transition]] = {}
    for transition in machine.transitions:
        groups.setdefault(parts[_touched(transition, machine)[0]], []).append(transition)
    if len(groups) <= 1:
        return (machine,)
    return tuple(
        _part(machine, f"{machine.name}_{i}", frozenset(q for q in machine.states if parts[q] == part), own)
        for i, (part, own) in enumerate(groups.items(), 1)
    )


def _part(machine: Machine, name: str, states: frozenset[str], transitions: Sequence[Transition]) -> Machine:
    names = {transition.name for transition in transitions}
    return Machine(
        name,
        tuple(state for state in machine.states if state in states),
        machine.initial & states,
        tuple(transitions),
        tuple(pair for pair in machine.order if pair[0] in names),
        machine.success if machine.success in states else None,
        machine.failure if machine.failure in states else None,
    )


def _touched(transition: Transition, machine: Machine) -> list[str]:
    touched = transition.clear.union(transition.target, *transition.enable)
    return [*touched] or [machine.states[0]]


def _linked(machine: Machine) -> dict[str, str]:
    """For each state, one that stands for its part: transitions link states, the order links transitions."""
    parent = {state: state for state in machine.states}

    def root(state: str) -> str:
        while parent[state] != state:
            parent[state] = state = parent[parent[state]]
        return state

    home = {}
    for transition in machine.transitions:
        touched = _touched(transition, machine)
        home[transition.name] = touched[0]
        for state in touched:
            parent[root(state)] = root(touched[0])
    for first, second in machine.order:
        parent[root(home[first])] = root(home[second])
    return {state: root(state) for state in machine.states}
