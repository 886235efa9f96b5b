"""A machine as lists of numbers, which code in any language can hold.

Transitions are numbered so that each comes after those that have priority over it. Then one pass over them finds the ones that
fire, without the closure of the order: a transition is held back if one before it is enabled, or is held back itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Emit
from tocsin.algebra.predicate import Filter
from tocsin.automata.completion.compile import simplify
from tocsin.automata.completion.simulate import bits, prepare, start

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """A machine by numbers of states, transitions and predicates."""

    states: int
    start: Numbers  # the states that are active before the first event
    predicates: tuple[Filter, ...]
    takes: Numbers  # for each transition, the predicate it waits for, or -1
    enable: tuple[
        tuple[Numbers, ...], ...
    ]  # for each transition, the sets of which each needs an active state
    clear: tuple[Numbers, ...]
    target: tuple[Numbers, ...]
    before: tuple[Numbers, ...]  # for each transition, those that come directly before it in the order
    emits: tuple[tuple[int, Emit], ...]  # in the order in which those of one step come: transition and output
    success: int  # -1 if there is none
    failure: int


def flatten(machine: Machine) -> Flat:
    """The machine, simplified, as lists of numbers.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> from tocsin.automata.completion.construct import construct
    >>> flat = flatten(construct(Predicate(TRUE)))
    >>> flat.states, flat.takes, flat.enable, flat.target
    (2, (0,), (((0,),),), ((1,),))
    """
    simple = simplify(machine)
    state = {name: number for number, name in enumerate(simple.states)}
    order = _in_order(simple)
    place = {simple.transitions[n].name: number for number, n in enumerate(order)}
    predicate = {filter: number for number, filter in enumerate(simple.filters)}
    listed = [simple.transitions[n] for n in order]
    before: list[list[int]] = [[] for _ in listed]
    for first, second in dict.fromkeys(simple.order):
        before[place[second]].append(place[first])

    def those(names: frozenset[str]) -> Numbers:
        return tuple(sorted(state[name] for name in names))

    emits = [(e.place, n, e) for n, t in enumerate(simple.transitions) for e in t.outputs]
    emits.sort(key=lambda one: one[:2])
    active = prepare(simple)
    return Flat(
        len(state),
        tuple(bits(start(active))),
        simple.filters,
        tuple(-1 if t.input is None else predicate[t.input] for t in listed),
        tuple(tuple(those(some) for some in t.enable) for t in listed),
        tuple(those(t.clear) for t in listed),
        tuple(those(t.target) for t in listed),
        tuple(tuple(sorted(them)) for them in before),
        tuple((place[simple.transitions[n].name], emit) for _, n, emit in emits),
        -1 if simple.success is None else state[simple.success],
        -1 if simple.failure is None else state[simple.failure],
    )


def _in_order(machine: Machine) -> list[int]:
    """The transitions, each after those that have priority over it."""
    number = {transition.name: n for n, transition in enumerate(machine.transitions)}
    after: list[list[int]] = [[] for _ in number]
    waiting = [0] * len(number)
    for first, second in dict.fromkeys(machine.order):
        after[number[first]].append(number[second])
        waiting[number[second]] += 1
    ready = [n for n, count in enumerate(waiting) if count == 0]
    for n in ready:
        for later in after[n]:
            waiting[later] -= 1
            if waiting[later] == 0:
                ready.append(later)
    return ready
