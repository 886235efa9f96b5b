"""Run a machine directly, with sets of states and transitions as bits of integers.

Behaves as `algebra.completion.machine_semantics`, at a lower cost: each predicate is evaluated once per event, and only
transitions that an active state can enable are considered.

Paper: 000, Definition 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine, above
from tocsin.algebra.completion.output import Emit, value_of
from tocsin.algebra.completion.run import Run, Status
from tocsin.automata.completion.ask import Predicates, answers, predicates
from tocsin.errors import PatternError


@dataclass(frozen=True, slots=True)
class Prepared:
    """A machine with its states and transitions numbered; a set of them is a number with those bits."""

    machine: Machine
    initial: int
    enable: tuple[tuple[int, ...], ...]  # for each transition, sets of states
    clear: tuple[int, ...]
    target: tuple[int, ...]
    emits: tuple[tuple[Emit, ...], ...]
    above: tuple[int, ...]  # for each transition, those with priority over it
    near: tuple[int, ...]  # for each state, the transitions it can enable
    always: int  # the transitions that need no state
    internal: int  # the transitions that take no event
    wakes: int  # the states that such a transition waits for
    asked: Predicates  # the predicates of the inputs
    users: tuple[int, ...]  # for each predicate, the transitions it is the input of
    success: int
    failure: int


def prepare(machine: Machine) -> Prepared:
    """Number the states and transitions of a machine."""
    number = {state: i for i, state in enumerate(machine.states)}

    @cache
    def bits_of(states: frozenset[str]) -> int:
        found = bytearray(len(number) // 8 + 1)
        for state in states:
            found[number[state] >> 3] |= 1 << (number[state] & 7)
        return int.from_bytes(found, "little")

    near, wakes = [0] * len(machine.states), 0
    for i, transition in enumerate(machine.transitions):
        for state in frozenset[str]().union(*transition.enable):
            near[number[state]] |= 1 << i
            wakes |= 1 << number[state] if transition.input is None else 0
    users = dict.fromkeys(machine.filters, 0)
    for i, transition in enumerate(machine.transitions):
        if transition.input is not None:
            users[transition.input] |= 1 << i
    return Prepared(
        machine,
        bits_of(machine.initial),
        tuple(tuple(bits_of(alternatives) for alternatives in t.enable) for t in machine.transitions),
        tuple(bits_of(t.clear) for t in machine.transitions),
        tuple(bits_of(t.target) for t in machine.transitions),
        tuple(t.outputs for t in machine.transitions),
        above(machine),
        tuple(near),
        sum(1 << i for i, t in enumerate(machine.transitions) if not t.enable),
        sum(1 << i for i, t in enumerate(machine.transitions) if t.input is None),
        wakes,
        predicates(users),
        tuple(users.values()),
        bits_of(frozenset(q for q in [machine.success] if q is not None)),
        bits_of(frozenset(q for q in [machine.failure] if q is not None)),
    )


def bits(number: int) -> Iterator[int]:
    """The positions of the bits of a number, from the lowest.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def start(prepared: Prepared) -> int:
    """The configuration before the first event."""
    return _settle(prepared, prepared.initial, prepared.initial, (), None)[0]


def accepted(prepared: Prepared, event: Fields) -> int:
    """The transitions whose input an event satisfies."""
    return users_of(prepared, answers(prepared.asked, event))


def users_of(prepared: Prepared, satisfied: int) -> int:
    """The transitions whose input is one of some predicates."""
    return sum(prepared.users[i] for i in bits(satisfied))


def enabled(prepared: Prepared, configuration: int) -> int:
    """The transitions whose enabling states are active, whatever their input."""
    return _enabled_of(prepared, configuration, prepared.always | _near(prepared, configuration))


def react(
    prepared: Prepared, configuration: int, competing: int, fired: list[int] | None = None
) -> tuple[int, tuple[Emit, ...]]:
    """The configuration after some enabled transitions, then internal steps until none is enabled.

    Args:
        fired: the transitions of each step are appended to it.
    """
    if not competing:
        return configuration, ()
    return _settle(prepared, *_fire(prepared, configuration, competing, fired), fired)


def feed(
    prepared: Prepared, configuration: int, event: Fields, fired: list[int] | None = None
) -> tuple[int, tuple[Emit, ...]]:
    """The configuration after one more event, and the outputs it caused."""
    competing = enabled(prepared, configuration) & accepted(prepared, event)
    return react(prepared, configuration, competing, fired)


def status(prepared: Prepared, configuration: int) -> Status:
    """The status of an evaluation in this configuration."""
    if configuration & prepared.success:
        return Status.SUCCESS
    return Status.FAILURE if configuration & prepared.failure else Status.RUNNING


def run(prepared: Prepared, events: Iterable[Fields]) -> Run:
    """Run a machine over a trace."""
    configuration, outputs, completed_at = start(prepared), [], None
    for position, event in enumerate(events, 1):
        configuration, emits = feed(prepared, configuration, event)
        outputs += [(position, value_of(emit.output, event)) for emit in emits]
        if completed_at is None and status(prepared, configuration) is not Status.RUNNING:
            completed_at = position
    return Run(tuple(outputs), status(prepared, configuration), completed_at)


def states_in(prepared: Prepared, configuration: int) -> tuple[str, ...]:
    """The names of the active states."""
    return tuple(prepared.machine.states[i] for i in bits(configuration))


def _near(prepared: Prepared, states: int) -> int:
    """The transitions that some states can enable."""
    found = 0
    while states:
        lowest = states & -states
        found |= prepared.near[lowest.bit_length() - 1]
        states ^= lowest
    return found


def _enabled_of(prepared: Prepared, configuration: int, candidates: int) -> int:
    found = 0
    while candidates:
        lowest = candidates & -candidates
        for alternatives in prepared.enable[lowest.bit_length() - 1]:
            if not alternatives & configuration:
                break
        else:
            found |= lowest
        candidates ^= lowest
    return found


def _fire(
    prepared: Prepared, configuration: int, competing: int, fired: list[int] | None
) -> tuple[int, int, tuple[Emit, ...]]:
    """One step: fire the competing transitions that no other has priority over; also returns the states they set."""
    taken, cleared, added = 0, 0, 0
    emits: list[Emit] = []
    for i in bits(competing):
        if prepared.above[i] & competing:
            continue
        taken |= 1 << i
        cleared |= prepared.clear[i]
        added |= prepared.target[i]
        emits += prepared.emits[i]
    if len(emits) > 1:
        emits.sort(key=lambda emit: emit.place)
    if fired is not None:
        fired.append(taken)
    return configuration & ~cleared | added, added, tuple(emits)


def _settle(
    prepared: Prepared, configuration: int, added: int, emits: tuple[Emit, ...], fired: list[int] | None
) -> tuple[int, tuple[Emit, ...]]:
    """Internal steps until none is enabled. Only states that were just set can have enabled one."""
    seen = {configuration}
    competing = prepared.always
    while True:
        candidates = (competing | _near(prepared, added & prepared.wakes)) & prepared.internal
        competing = _enabled_of(prepared, configuration, candidates)
        if not competing:
            return configuration, emits
        configuration, added, more = _fire(prepared, configuration, competing, fired)
        emits += more
        if configuration in seen:
            names = ", ".join(prepared.machine.transitions[i].name for i in bits(competing))
            raise PatternError("endless-internal-steps", f"{names} fires for ever without an event")
        seen.add(configuration)
