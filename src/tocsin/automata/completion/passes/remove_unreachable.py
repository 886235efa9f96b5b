"""Remove states that can never be active, and transitions that can never fire.

Paper: 000, section 6, "Optimization": the machines "contain unreachable states".
"""

from __future__ import annotations

from dataclasses import replace

from tocsin.algebra.completion.machine import Machine
from tocsin.automata.completion.passes.order import without


def remove_unreachable(machine: Machine) -> Machine:
    """The machine without unreachable states and transitions; a final state that was removed becomes None.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> from tocsin.automata.completion.construct import construct
    >>> remove_unreachable(construct(Predicate(TRUE))).failure is None
    True
    """
    reached = _reached(machine)
    fires = [t for t in machine.transitions if all(alternatives & reached for alternatives in t.enable)]
    transitions = tuple(
        replace(t, enable=tuple(some & reached for some in t.enable), clear=t.clear & reached) for t in fires
    )
    gone = {t.name for t in machine.transitions} - {t.name for t in fires}
    return Machine(
        machine.name,
        tuple(state for state in machine.states if state in reached),
        machine.initial,
        transitions,
        without(machine.order, gone),
        machine.success if machine.success in reached else None,
        machine.failure if machine.failure in reached else None,
    )


def _reached(machine: Machine) -> set[str]:
    """The states that some transitions set, if nothing is ever cleared and every event can come."""
    waits = {t.name: len(t.enable) for t in machine.transitions}
    reached: set[str] = set()
    met: set[tuple[str, int]] = set()
    uses: dict[str, list[tuple[int, int]]] = {state: [] for state in machine.states}
    for i, transition in enumerate(machine.transitions):
        for j, alternatives in enumerate(transition.enable):
            for state in alternatives:
                uses[state].append((i, j))
    pending = [*machine.initial, *(q for t in machine.transitions if not t.enable for q in t.target)]
    while pending:
        state = pending.pop()
        if state in reached:
            continue
        reached.add(state)
        for i, j in uses[state]:
            transition = machine.transitions[i]
            if (transition.name, j) not in met:
                met.add((transition.name, j))
                waits[transition.name] -= 1
                if waits[transition.name] == 0:
                    pending += transition.target
    return reached
