"""Merge states and transitions that always move together, so that common work is done once.

Two states are always active together if both are initial or neither is, and the transitions that set and
clear the one are those of the other, or always fire together with them. Two transitions always fire together
if they want the same input, their enabling states are always active together, and what goes before them is.
The coarsest such classes are found by splitting, as in the minimisation of automata.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.automata.completion.passes.order import renamed
from tocsin.automata.completion.passes.partition import coarsest

_LOOKS = 200_000  # at states and transitions, to find what to merge, and more for each that a machine has
_LOOKS_AT_EACH = 200


def share(machine: Machine) -> Machine:
    """The machine with those states and transitions merged that always move together.

    >>> from tocsin.algebra.completion.expression import TRUE, Accumulate, Predicate
    >>> from tocsin.automata.completion.construct import construct
    >>> twice = construct(Accumulate((Predicate(TRUE), Predicate(TRUE))))
    >>> len(twice.transitions), len(share(twice).transitions)
    (4, 3)
    """
    try:
        states, transitions = _classes(machine)
    except _EnoughError:
        return machine  # what is not shared only costs time
    one = _named(machine.states, states)
    same = _named([transition.name for transition in machine.transitions], transitions)
    members: dict[str, list[Transition]] = {}
    for transition in machine.transitions:
        members.setdefault(same[transition.name], []).append(transition)

    def merged(some: frozenset[str]) -> frozenset[str]:
        return frozenset(one[state] for state in some)

    return Machine(
        machine.name,
        tuple(dict.fromkeys(one[state] for state in machine.states)),
        merged(machine.initial),
        tuple(
            replace(
                them[0],
                enable=tuple(dict.fromkeys(merged(some) for some in them[0].enable)),
                clear=merged(frozenset().union(*(t.clear for t in them))),
                target=merged(frozenset().union(*(t.target for t in them))),
                outputs=tuple(emit for t in them for emit in t.outputs),
            )
            for them in members.values()
        ),
        renamed(machine.order, same),
        machine.success,
        machine.failure,
    )


class _EnoughError(Exception):
    """Raised when looking for what to merge takes longer than running it apart would."""


def _named(names: Sequence[str], classes: Sequence[int]) -> dict[str, str]:
    """For each name the first of its class."""
    first: dict[int, str] = {}
    return {name: first.setdefault(number, name) for name, number in zip(names, classes, strict=True)}


def _classes(machine: Machine) -> tuple[list[int], list[int]]:
    """The class of each state and of each transition; states and transitions are numbered consecutively."""
    count = len(machine.states)
    number = {state: i for i, state in enumerate(machine.states)}
    called = {t.name: count + i for i, t in enumerate(machine.transitions)}
    moves: list[tuple[list[int], list[int]]] = [
        ([], []) for _ in machine.states
    ]  # what sets and clears a state
    before: dict[int, list[int]] = {i: [] for i in called.values()}
    dependents: list[list[int]] = [[] for _ in range(count + len(called))]
    for i, t in enumerate(machine.transitions, count):
        for state in t.target:
            moves[number[state]][0].append(i)
        for state in t.clear:
            moves[number[state]][1].append(i)
        dependents[i] += [number[state] for state in t.target | t.clear]
        for state in frozenset[str]().union(*t.enable):
            dependents[number[state]].append(i)
    for earlier, later in machine.order:
        before[called[later]].append(called[earlier])
        dependents[called[earlier]].append(called[later])

    left = _LOOKS + _LOOKS_AT_EACH * (count + len(called))

    def look(i: int, classes: Sequence[int]) -> Hashable:
        nonlocal left
        left -= len(moves[i][0]) + len(moves[i][1]) if i < count else 1 + len(before[i])
        if left < 0:
            raise _EnoughError

        def those(some: Iterable[int]) -> frozenset[int]:
            return frozenset(classes[j] for j in some)

        if i < count:
            return those(moves[i][0]), those(moves[i][1])
        enable = machine.transitions[i - count].enable
        return frozenset(those(number[q] for q in some) for some in enable), those(before[i])

    final = [(q in machine.initial, q == machine.success, q == machine.failure) for q in machine.states]
    inputs = [("input", t.input) for t in machine.transitions]
    classes = coarsest([*final, *inputs], look, dependents.__getitem__)
    return classes[:count], classes[count:]
