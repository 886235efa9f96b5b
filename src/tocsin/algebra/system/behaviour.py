"""How a system moves: the meaning of components, correlators and the channel between them.

Events that were sent wait in one queue, in the order in which they were sent. Two kinds of moves are possible in a state: an
instance does something by itself, as long as the queue has room for what it sends; or the first event of the queue is
delivered to all that it is connected to, one after the other. An instance that cannot use an event in its mode drops it. If it
can use it in several ways, each is a move of its own. What is sent on a delivery joins the end of the queue.

The correlators of a system are run by a `Correlators`: `Traced` is the reference, which asks the meaning of each correlation
about all that it has received so far.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, assert_never

from tocsin.algebra.correlation import semantics
from tocsin.algebra.correlation.expression import Correlation, Interpretation
from tocsin.algebra.correlation.outcome import Arrival, Outcome
from tocsin.algebra.system.model import SENDING, Behaviour, End, System
from tocsin.algebra.system.specification import Both, Condition, Either, InMode, IsOff, NotSo, UnderWay


class Correlators(Protocol):
    """Runs correlations; their states are values."""

    def start(self, name: str) -> Hashable:
        """The state of a correlation before its first event."""

    def take(self, name: str, state: Hashable, event: str) -> tuple[Hashable, int]:
        """The state after an event of a parameter, and how many events are sent."""

    def off(self, name: str, state: Hashable) -> frozenset[str]:
        """The labels that are switched off."""


@dataclass(frozen=True)
class Traced:
    """The reference: the state of a correlation is what it has received."""

    correlations: Mapping[str, Correlation]
    interpretation: Interpretation = Interpretation()

    def start(self, name: str) -> Hashable:
        return ()

    def take(self, name: str, state: Hashable, event: str) -> tuple[Hashable, int]:
        assert isinstance(state, tuple)
        after = (*state, event)
        found = self._run(name, after)
        return after, sum(output.at == len(after) for output in found.outputs)

    def off(self, name: str, state: Hashable) -> frozenset[str]:
        assert isinstance(state, tuple)
        return frozenset(self._run(name, state).aborted)

    def _run(self, name: str, events: tuple[str, ...]) -> Outcome:
        return semantics.run(self.correlations[name], map(Arrival, events), self.interpretation)


@dataclass(frozen=True, slots=True)
class State:
    """The modes of the instances and the states of the correlators, each in the order of the system, and the queue.

    The queue has numbers of ends that events leave by.
    """

    modes: tuple[int, ...]
    correlators: tuple[Hashable, ...]
    queue: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """Something that happens: who does it by itself, or which event is delivered, and what is sent."""

    by: str | None
    delivered: str | None
    sent: tuple[str, ...]

    def __str__(self) -> str:
        what = f"{self.delivered} is delivered" if self.by is None else f"{self.by} moves"
        return f"{what}, sends {', '.join(self.sent)}" if self.sent else what


class Behaving:
    """A system with its correlators, ready to move."""

    def __init__(self, system: System, correlators: Correlators) -> None:
        self.system, self._run = system, correlators
        self.instances = tuple(system.instances)
        self._behaviours: list[Behaviour] = [system.behaviour(name) for name in self.instances]
        connected = {end.owner for wire in system.wires for end in (wire.source, wire.target)}
        self.correlations = tuple(c.name for c in system.library.correlations if c.name in connected)
        sending = [
            End(name, port.name)
            for name, instance in system.instances.items()
            for port in system.components[instance.component].ports.values()
            if port.direction in SENDING
        ]
        self.ends = (*sending, *map(End, self.correlations))
        self._number = {end: number for number, end in enumerate(self.ends)}
        self._receivers = [tuple(system.receivers(end)) for end in self.ends]

    def start(self) -> State:
        """The state in which nothing has happened."""
        return State((0,) * len(self.instances), tuple(self._run.start(name) for name in self.correlations))

    def moves(self, state: State) -> Iterator[tuple[Move, State]]:
        """What can happen in a state, and the state that it leads to."""
        room = self.system.queue - len(state.queue)
        for place, name in enumerate(self.instances):
            behaviour = self._behaviours[place]
            mode = behaviour.modes[state.modes[place]]
            for one in behaviour.transitions:
                if one.on is not None or mode not in one.modes or len(one.pushes) > room:
                    continue
                sent = tuple(self._number[End(name, port)] for port in one.pushes)
                modes = _with(state.modes, place, self._after(place, one.goto, state))
                yield (
                    Move(name, None, self._named(sent)),
                    State(modes, state.correlators, (*state.queue, *sent)),
                )
        if state.queue:
            yield from self._deliver(state)

    def _deliver(self, state: State) -> Iterator[tuple[Move, State]]:
        first, rest = state.queue[0], state.queue[1:]
        ways = [(State(state.modes, state.correlators, rest), tuple[int, ...]())]
        for target in self._receivers[first]:
            ways = [
                (after, (*sent, *more))
                for before, sent in ways
                for after, more in self._receive(before, target)
            ]
        for after, sent in ways:
            move = Move(None, str(self.ends[first]), self._named(sent))
            yield move, State(after.modes, after.correlators, (*rest, *sent))

    def _receive(self, state: State, target: End) -> list[tuple[State, tuple[int, ...]]]:
        """What a receiver can make of an event: the state afterwards, and what it sends."""
        assert target.port is not None
        if target.owner not in self.system.instances:
            place = self.correlations.index(target.owner)
            after, count = self._run.take(target.owner, state.correlators[place], target.port)
            correlators = (*state.correlators[:place], after, *state.correlators[place + 1 :])
            return [(replace(state, correlators=correlators), (self._number[End(target.owner)],) * count)]
        place = self.instances.index(target.owner)
        behaviour, mode = self._behaviours[place], state.modes[place]
        found = [
            (
                replace(state, modes=_with(state.modes, place, self._after(place, one.goto, state))),
                tuple(self._number[End(target.owner, port)] for port in one.pushes),
            )
            for one in behaviour.transitions
            if one.on == target.port and behaviour.modes[mode] in one.modes
        ]
        return found or [(state, ())]

    def _after(self, place: int, goto: str | None, state: State) -> int:
        return state.modes[place] if goto is None else self._behaviours[place].modes.index(goto)

    def _named(self, sent: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(str(self.ends[number]) for number in sent)

    def holds(self, condition: Condition, state: State) -> bool:
        """Whether a condition holds in a state."""
        match condition:
            case InMode(instance, mode):
                place = self.instances.index(instance)
                return self._behaviours[place].modes[state.modes[place]] == mode
            case IsOff(correlation, label):
                place = self.correlations.index(correlation)
                return label in self._run.off(correlation, state.correlators[place])
            case UnderWay(None):
                return bool(state.queue)
            case UnderWay(owner, port):
                return self._number[End(str(owner), port)] in state.queue
            case NotSo(part):
                return not self.holds(part, state)
            case Both(left, right):
                return self.holds(left, state) and self.holds(right, state)
            case Either(left, right):
                return self.holds(left, state) or self.holds(right, state)
            case _:
                assert_never(condition)


def _with(modes: tuple[int, ...], place: int, mode: int) -> tuple[int, ...]:
    return (*modes[:place], mode, *modes[place + 1 :])
