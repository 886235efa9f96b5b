"""The behaviour of correlation machines, literally as in Definition 4: sets of states, sets of transitions.

With the interpretations the project follows: only transitions that want the current input compete (C.1.3), internal
transitions run to completion before the first event and after every event (C.1.4), a step may have several
outputs (C.1.5).

>>> t = Transition("t", (frozenset({"q"}),), None, frozenset({"q"}), frozenset({"r"}))
>>> reaction = settle(Machine("m", ("q", "r"), frozenset({"q"}), (t,)), frozenset({"q"}))
>>> reaction.fired, sorted(reaction.states)
((('t',),), ['r'])

Paper: 000, Definitions 3 and 4, conditions I, C0 to C3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.completion.machine import Machine, Transition, above
from tocsin.algebra.completion.output import Emit, value_of
from tocsin.algebra.completion.run import Run, Status
from tocsin.errors import PatternError


@dataclass(frozen=True, slots=True)
class Reaction:
    """The effect of an event, or of none: the transitions of each step, the active states, the outputs."""

    fired: tuple[tuple[str, ...], ...]
    states: frozenset[str]
    outputs: tuple[Emit, ...]


def run(machine: Machine, events: Iterable[Fields]) -> Run:
    """Run a machine over a trace."""
    states = settle(machine, machine.initial).states
    outputs, completed_at = [], None
    for position, event in enumerate(events, 1):
        reaction = react(machine, states, event)
        states = reaction.states
        outputs += [(position, value_of(emit.output, event)) for emit in reaction.outputs]
        if completed_at is None and status(machine, states) is not Status.RUNNING:
            completed_at = position
    return Run(tuple(outputs), status(machine, states), completed_at)


def status(machine: Machine, states: frozenset[str]) -> Status:
    """Whether a final state is active. A machine written without final states is always running."""
    if machine.success in states:
        return Status.SUCCESS
    return Status.FAILURE if machine.failure in states else Status.RUNNING


def react(machine: Machine, states: frozenset[str], event: Fields) -> Reaction:
    """Take one event, then internal steps until none is enabled."""
    taken = _step(machine, states, event)
    rest = settle(machine, taken.states)
    return Reaction(taken.fired + rest.fired, rest.states, taken.outputs + rest.outputs)


def settle(machine: Machine, states: frozenset[str]) -> Reaction:
    """Take internal steps until none is enabled."""
    seen = {states}
    whole = Reaction((), states, ())
    while (step := _step(machine, whole.states, None)).fired != ((),):
        whole = Reaction(whole.fired + step.fired, step.states, whole.outputs + step.outputs)
        if step.states in seen:
            names = ", ".join(step.fired[0])
            raise PatternError("endless-internal-steps", f"{names} fires for ever without an event")
        seen.add(step.states)
    return whole


def _step(machine: Machine, states: frozenset[str], event: Fields | None) -> Reaction:
    enabled = [i for i, t in enumerate(machine.transitions) if _agrees(t, event) and _enabled(t, states)]
    blocking = above(machine)
    taken = [i for i in enabled if not any(blocking[i] >> j & 1 for j in enabled)]
    transitions = [machine.transitions[i] for i in taken]
    cleared = frozenset[str]().union(*(t.clear for t in transitions))
    outputs = [emit for t in transitions for emit in t.outputs]
    return Reaction(
        (tuple(t.name for t in transitions),),
        (states - cleared).union(*(t.target for t in transitions)),
        tuple(sorted(outputs, key=lambda emit: emit.place)),
    )


def _agrees(transition: Transition, event: Fields | None) -> bool:
    if event is None or transition.input is None:
        return event is None and transition.input is None
    return holds(transition.input, event)


def _enabled(transition: Transition, states: frozenset[str]) -> bool:
    """C0: each set has an active state."""
    return all(alternatives & states for alternatives in transition.enable)
