"""Cut a machine into independent parts, so that each can run by itself.

Paper: 000, section 6, "Evaluation Strategies": "decompose a machine into many machines and distribute these".
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.algebra.completion.machine import Machine, Transition


def decompose(machine: Machine) -> tuple[Machine, ...]:
    """The independent parts of a machine; those that never move or complete are left out.

    >>> from tocsin.algebra.completion.expression import TRUE, Parallel, Predicate
    >>> from tocsin.automata.completion.construct import construct
    >>> [part.name for part in decompose(construct(Parallel((Predicate(TRUE), Predicate(TRUE)))))]
    ['M_1', 'M_2']
    """
    parts = _linked(machine)
    groups: dict[str, list[Transition]] = {}
    for transition in machine.transitions:
        groups.setdefault(parts[_home(transition, machine)], []).append(transition)
    for final in (machine.success, machine.failure):
        if final in machine.initial:
            groups.setdefault(parts[final], [])
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


def _home(transition: Transition, machine: Machine) -> str:
    """A state that a transition touches."""
    for some in (transition.clear, transition.target, *transition.enable):
        for state in some:
            return state
    return machine.states[0]


def _linked(machine: Machine) -> dict[str, str]:
    """For each state, the representative of its part: transitions link states, the order links transitions."""
    parent = {state: state for state in machine.states}

    def root(state: str) -> str:
        while parent[state] != state:
            parent[state] = state = parent[parent[state]]
        return state

    home = {}
    known: set[frozenset[str]] = set()
    for transition in machine.transitions:
        first = home[transition.name] = _home(transition, machine)
        for some in {transition.clear, transition.target, *transition.enable}:
            # Many transitions clear the same large set, so its states are linked only once.
            for state in [next(iter(some))] if some in known else some:
                parent[root(state)] = root(first)
            known |= {some} if some else set()
    for first, second in machine.order:
        parent[root(home[first])] = root(home[second])
    return {state: root(state) for state in machine.states}
