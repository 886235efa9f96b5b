"""A machine that somebody wrote, in place of the module of an expression."""

from __future__ import annotations

from dataclasses import replace

from tocsin.algebra.completion.machine import Machine
from tocsin.automata.completion.construct.module import Builder, Module, side_by_side


def handwritten(builder: Builder, machine: Machine) -> Module:
    """The machine with names of the builder; a final state that it does not have is one that nothing reaches.

    Paper: 000, Definition 3.
    """
    new = {state: builder.state() for state in machine.states}

    def those(some: frozenset[str]) -> frozenset[str]:
        return frozenset(new[state] for state in some)

    called, transitions = dict[str, str](), []
    place = builder.transitions
    for transition in machine.transitions:
        builder.transitions += 1
        called[transition.name] = f"t{builder.transitions}"
        transitions.append(
            replace(
                transition,
                name=called[transition.name],
                enable=tuple(those(some) for some in transition.enable),
                clear=those(transition.clear),
                target=those(transition.target),
                outputs=tuple(replace(emit, place=place + emit.place) for emit in transition.outputs),
            )
        )
    success, failure = (
        builder.state() if state is None else new[state] for state in (machine.success, machine.failure)
    )
    whole = Module(
        tuple(dict.fromkeys([*new.values(), success, failure])),
        those(machine.initial),
        tuple(transitions),
        tuple((called[first], called[second]) for first, second in machine.order),
        success,
        failure,
    )
    # Its final states may have transitions of their own; an expression that has completed does nothing more.
    return side_by_side(builder, [whole], success=[{success}], failure=[{failure}])
