"""Modes: one part at a time, chosen by the latest guard event."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import (
    Builder,
    Module,
    in_turn,
    orders_of,
    states_of,
    transitions_of,
)


def modes(builder: Builder, guards: Sequence[Module], bodies: Sequence[Module]) -> Module:
    """One mode runs with the guards of the others armed; a guard's success clears all and enters its mode.

    Guards have priority over the bodies, so that the event of a guard is not seen inside the mode it ends, and in
    textual order among each other, so that of two that accept an event the first wins (C.1.13). Paper: 000,
    Fig. 7.
    """
    succeeded, failed = builder.state(), builder.state()
    parts = [*bodies, *guards]
    states = (*states_of(parts), succeeded, failed)
    everything = frozenset(states)
    entries = [
        builder.step([{guard.success}], everything, body.initial | _armed(guards, number))
        for number, (guard, body) in enumerate(zip(guards, bodies, strict=True))
    ]
    watching = transitions_of(guards)
    order = orders_of(bodies) + in_turn((), watching)
    order += tuple((watching[-1].name, name) for body in bodies for name in body.first if watching)
    order += in_turn([name for part in parts for name in part.last], entries)
    return Module(
        states,
        bodies[0].initial | _armed(guards, 0),
        (*transitions_of(parts), *entries),
        order,
        succeeded,
        failed,
    )


def _armed(guards: Sequence[Module], active: int) -> frozenset[str]:
    """The initial states of all guards but that of the active mode."""
    others = [guard for number, guard in enumerate(guards) if number != active]
    return frozenset(state for guard in others for state in guard.initial)
