"""Combine the machines of many subscriptions, so that common work is done once.

Paper: 000, section 6, "Evaluation Strategies".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.automata.completion.passes.share import share


def compose(machines: Mapping[str, Machine], name: str = "All") -> Machine:
    """One machine that does what all of them do; each output names its subscription.

    Machines complete individually: the combined machine has no final states.
    """
    states: list[str] = []
    initial: list[str] = []
    transitions: list[Transition] = []
    order: list[tuple[str, str]] = []
    for owner, machine in machines.items():
        new = {state: f"q{len(states) + i}" for i, state in enumerate(machine.states, 1)}
        called = {t.name: f"t{len(transitions) + i}" for i, t in enumerate(machine.transitions, 1)}
        place = len(transitions)
        states += new.values()
        initial += (new[state] for state in machine.initial)
        transitions += (_renamed(t, called[t.name], new, owner, place) for t in machine.transitions)
        order += ((called[first], called[second]) for first, second in machine.order)
    whole = Machine(name, tuple(states), frozenset(initial), tuple(transitions), tuple(order))
    return share(whole)


def _renamed(transition: Transition, name: str, new: Mapping[str, str], owner: str, place: int) -> Transition:
    def those(some: Iterable[str]) -> frozenset[str]:
        return frozenset(new[state] for state in some)

    return replace(
        transition,
        name=name,
        enable=tuple(those(some) for some in transition.enable),
        clear=those(transition.clear),
        target=those(transition.target),
        outputs=tuple(replace(emit, to=owner, place=place + emit.place) for emit in transition.outputs),
    )
