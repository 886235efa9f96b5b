"""Warnings about the layout of a system: ends without connections, events that go in circles, correlations that never
trigger, and consumers that need more than their suppliers send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from tocsin.algebra.correlation.expression import (
    Accumulation,
    And,
    Atom,
    Collection,
    Expression,
    Guard,
    Is,
    Labelled,
    Not,
    Or,
    Push,
    PushNew,
    Sequence,
    Switch,
    labelled,
    walk,
)
from tocsin.algebra.system.model import SENDING, End, System
from tocsin.analysis.system.connections import mistakes
from tocsin.errors import PatternError, PatternErrors


def check_layout(system: System) -> list[PatternError]:
    """The warnings about a system; raises `PatternErrors` with all mistakes in it."""
    if errors := mistakes(system):
        raise PatternErrors(errors)
    sending = live(system)
    return [*_unbound(system), *_circles(system), *_silent(system, sending), *_rates(system)]


def live(system: System) -> frozenset[End]:
    """The ends that events can ever leave by."""
    found: set[End] = set()
    modes = {name: {system.behaviour(name).modes[0]} for name in system.instances}
    while True:
        before = len(found), sum(map(len, modes.values()))
        for name in system.instances:
            for one in system.behaviour(name).transitions:
                if modes[name].isdisjoint(one.modes) or not _can_come(system, name, one.on, found):
                    continue
                found.update(End(name, port) for port in one.pushes)
                modes[name] |= set() if one.goto is None else {one.goto}
        for correlation in system.library.correlations:
            come = {
                w.target.port
                for w in system.wires
                if w.target.owner == correlation.name and w.source in found
            }
            pushes = any(isinstance(s, Push | PushNew) for case in correlation.cases for s in case.body)
            if pushes and any(_can_match(branch, come) for branch in correlation.branches):
                found.add(End(correlation.name))
        if (len(found), sum(map(len, modes.values()))) == before:
            return frozenset(found)


def _can_come(system: System, name: str, port: str | None, sending: set[End]) -> bool:
    return port is None or any(w.source in sending for w in system.wires if w.target == End(name, port))


def _can_match(expression: Expression, come: set[str | None]) -> bool:
    match expression:
        case Atom(event):
            return event in come
        case Labelled(_, body):
            return _can_match(body, come)
        case Collection(left, right):
            return _can_match(left, come) or _can_match(right, come)
        case Accumulation(left, right) | Sequence(left, right):
            return _can_match(left, come) and _can_match(right, come)


def _unbound(system: System) -> Iterator[PatternError]:
    connected = {end for wire in system.wires for end in (wire.source, wire.target)}
    for instance in system.instances.values():
        for port in system.components[instance.component].ports.values():
            end = End(instance.name, port.name)
            if end not in connected and port.direction != "provides":
                message = f"{end} {port.direction} {port.type}, and is connected to nothing"
                yield PatternError("unbound-port", message, instance.span)
    owners = {end.owner for end in connected}
    for correlation in system.library.correlations:
        for parameter in correlation.parameters:
            if correlation.name in owners and End(correlation.name, parameter.name) not in connected:
                message = (
                    f"event {parameter.name} of {correlation.name} is bound to no port, so it never arrives"
                )
                yield PatternError("unbound-event", message, parameter.span)


def _silent(system: System, sending: frozenset[End]) -> Iterator[PatternError]:
    owners = {wire.target.owner for wire in system.wires}
    for correlation in system.library.correlations:
        if correlation.name in owners and End(correlation.name) not in sending:
            message = f"{correlation.name} never sends anything: the events that it needs never come together"
            yield PatternError("never-triggered", message, correlation.span)
    for wire in system.wires:
        port = system.port(wire.source)
        if port is not None and port.direction in SENDING and wire.source not in sending:
            message = f"{wire.source} never sends anything, by the behaviour of its component"
            yield PatternError("never-sends", message, wire.span)


def _circles(system: System) -> Iterator[PatternError]:
    """Events that lead to each other: each end that can cause itself, once for those of one circle."""
    causes = {end: tuple(_caused(system, end)) for end in _sources(system)}
    told: set[End] = set()
    for end in causes:
        way = None if end in told else _way_back(causes, end)
        if way is not None:
            told.update(way)
            message = f"events go in a circle: {' -> '.join(map(str, [*way, end]))}"
            yield PatternError("event-cycle", message, hint="what comes back can come back for ever")


def _sources(system: System) -> list[End]:
    return list(dict.fromkeys(wire.source for wire in system.wires))


def _caused(system: System, end: End) -> Iterator[End]:
    """The ends that send because of an event that leaves by an end."""
    for target in system.receivers(end):
        if target.owner not in system.instances:
            yield End(target.owner)
            continue
        for one in system.behaviour(target.owner).transitions:
            if one.on == target.port:
                yield from (End(target.owner, port) for port in one.pushes)


def _way_back(causes: dict[End, tuple[End, ...]], end: End) -> list[End] | None:
    """A shortest way from an end back to itself."""
    came: dict[End, End | None] = {end: None}
    pending = [end]
    for one in pending:  # which grows during the loop
        for after in causes.get(one, ()):
            if after == end:
                way: list[End] = []
                at: End | None = one
                while at is not None:
                    way.append(at)
                    at = came[at]
                return way[::-1]
            if after not in came:
                came[after] = one
                pending.append(after)
    return None


def _rates(system: System) -> Iterator[PatternError]:
    for rate in system.rates:
        port = system.port(rate.end)
        if port is not None and port.direction != "consumes":
            continue
        supplied = _into(system, rate.end, ())
        if supplied is not None and supplied < rate.hertz:
            message = f"{rate.end} needs {rate.hertz:g} events a second, and is sent at most {supplied:g}"
            yield PatternError("too-slow", message, rate.span)


def _into(system: System, end: End, inside: tuple[str, ...]) -> float | None:
    """How many events a second arrive at an end at most; None if that is not known."""
    return _sum(_out_of(system, wire.source, inside) for wire in system.wires if wire.target == end)


def _out_of(system: System, end: End, inside: tuple[str, ...]) -> float | None:
    """How many events a second leave by an end at most; None if that is not known."""
    said = next((rate.hertz for rate in system.rates if rate.end == end), None)
    correlation = system.library.find(end.owner)
    if said is not None or correlation is None or end.owner in inside:
        return said

    def arriving(event: str) -> float | None:
        return _into(system, End(end.owner, event), (*inside, end.owner))

    statements = [*correlation.initial, *(s for case in correlation.cases for s in case.body)]
    switched = frozenset(label for s in statements if isinstance(s, Switch) for label in s.labels)
    triggers = _sum(_completed(branch, arriving, switched) for branch in correlation.branches)
    bodies = {part.label: part.body for branch in correlation.branches for part in labelled(branch)}
    labels = {label: _completed(body, arriving, switched) for label, body in bodies.items()}
    sent: list[float | None] = []
    for case in correlation.cases:
        pushes = sum(isinstance(statement, Push | PushNew) for statement in case.body)
        sent += [_fires(case.guard, labels, triggers)] * pushes
    return _sum(sent)


def _completed(
    part: Expression, arriving: Callable[[str], float | None], switched: frozenset[str]
) -> float | None:
    """How often an expression is completed at most: what needs two parts as often as the rarer of them."""
    match part:
        case Atom(event):
            return arriving(event)
        case Labelled(_, body):
            return _completed(body, arriving, switched)
        case Collection(left, right):
            return _sum([_completed(left, arriving, switched), _completed(right, arriving, switched)])
        case Accumulation(left, right) | Sequence(left, right):
            both = [_completed(left, arriving, switched), _completed(right, arriving, switched)]
            # Where one side can be switched off, the other is enough.
            labels = {p.label for side in (left, right) for p in walk(side) if isinstance(p, Labelled)}
            return _least(both) if labels.isdisjoint(switched) else _sum(both)


def _fires(guard: Guard, labels: Mapping[str, float | None], triggers: float | None) -> float | None:
    """How often a guard holds at most: a label is active only when what it marks has been completed again."""
    match guard:
        case Is(label):
            return labels.get(label)
        case And(parts):
            return _least([_fires(part, labels, triggers) for part in parts])
        case Or(parts):
            return _sum([_fires(part, labels, triggers) for part in parts])
        case Not():
            return triggers


def _sum(rates: Iterable[float | None]) -> float | None:
    total = 0.0
    for rate in rates:
        if rate is None:
            return None
        total += rate
    return total


def _least(rates: Iterable[float | None]) -> float | None:
    return min((rate for rate in rates if rate is not None), default=None)
