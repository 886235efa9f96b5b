"""Mistakes in how a system is put together: connections of ends that do not exist or do not fit, and unknown names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tocsin.algebra.correlation.expression import labelled
from tocsin.algebra.system.model import SENDING, Behaviour, End, System, Wire
from tocsin.algebra.system.specification import Both, Condition, Either, InMode, IsOff, NotSo, UnderWay
from tocsin.errors import PatternError, Span, did_you_mean


def mistakes(system: System) -> list[PatternError]:
    """Everything in a system that cannot be meant."""
    found = [error for behaviour in system.behaviours.values() for error in _behaviour(system, behaviour)]
    for instance in system.instances.values():
        if instance.component not in system.components:
            message = f"component {instance.component} not declared"
            hint = did_you_mean(instance.component, system.components)
            found.append(PatternError("unknown-component", message, instance.span, hint))
    for correlation in system.library.correlations:
        if correlation.name in system.instances:
            message = f"{correlation.name} is an instance and a correlation"
            span = system.instances[correlation.name].span
            found.append(PatternError("duplicate-name", message, span, "rename one of them"))
    if found:
        return found
    for wire in system.wires:
        found += _wire(system, wire)
    found += _several(system)
    for rate in system.rates:
        found += _end(system, rate.end)
    for specification in system.specifications:
        for condition in (specification.condition, specification.then):
            found += () if condition is None else _condition(system, condition)
    return found


def _behaviour(system: System, behaviour: Behaviour) -> Iterator[PatternError]:
    component = system.components.get(behaviour.component)
    if component is None:
        hint = did_you_mean(behaviour.component, system.components)
        message = f"component {behaviour.component} not declared"
        yield PatternError("unknown-component", message, behaviour.span, hint)
        return
    for transition in behaviour.transitions:
        for mode in (*transition.modes, *(() if transition.goto is None else (transition.goto,))):
            if mode not in behaviour.modes:
                hint = did_you_mean(mode, behaviour.modes)
                message = f"{component.name} has no mode {mode}"
                yield PatternError("unknown-mode", message, transition.span, hint)
        consumed = () if transition.on is None else (transition.on,)
        yield from _named(component.name, consumed, component.consuming(), "consumes", transition.span)
        yield from _named(component.name, transition.pushes, component.sending(), "sends", transition.span)
    for output, inputs in behaviour.depends:
        yield from _named(component.name, (output,), component.sending(), "sends", behaviour.span)
        yield from _named(component.name, inputs, component.consuming(), "consumes", behaviour.span)


def _named(
    name: str, ports: tuple[str, ...], known: tuple[str, ...], does: str, span: Span | None
) -> list[PatternError]:
    return [
        PatternError(
            "unknown-port", f"{name} {does} nothing by a port {port}", span, did_you_mean(port, known)
        )
        for port in ports
        if port not in known
    ]


def _end(system: System, end: End) -> list[PatternError]:
    """What is wrong with an end by itself."""
    correlation = system.library.find(end.owner)
    instance = system.instances.get(end.owner)
    if correlation is not None:
        names = [parameter.name for parameter in correlation.parameters]
        if end.port is None or end.port in names:
            return []
        message = f"event {end.port} not declared in {end.owner}"
        return [PatternError("unknown-event", message, end.span, did_you_mean(end.port, names))]
    if instance is None:
        known = (*system.instances, *(one.name for one in system.library.correlations))
        message = f"there is no instance or correlation {end.owner}"
        return [PatternError("unknown-instance", message, end.span, did_you_mean(end.owner, known))]
    ports = system.components[instance.component].ports
    if end.port in ports:
        return []
    hint = "write Name.port" if end.port is None else did_you_mean(end.port, ports)
    message = f"{end.owner} is a {instance.component}, which has no port {end.port or ''}".rstrip()
    return [PatternError("unknown-port", message, end.span, hint)]


def _wire(system: System, wire: Wire) -> list[PatternError]:
    errors = _end(system, wire.source) + _end(system, wire.target)
    if errors:
        return errors
    gives, takes = system.port(wire.source), system.port(wire.target)
    if gives is not None and gives.direction == "uses":
        if takes is None or takes.direction != "provides":
            message = f"{wire.source} uses an interface, and {wire.target} provides none"
            return [PatternError("wrong-direction", message, wire.span, "connect uses -> provides")]
        fits = gives.type == takes.type
    else:
        sends = wire.source.port is None if gives is None else gives.direction in SENDING
        consumes = wire.target.port is not None if takes is None else takes.direction == "consumes"
        if not sends or not consumes:
            wrong = f"{wire.source} sends nothing" if not sends else f"{wire.target} consumes nothing"
            return [PatternError("wrong-direction", wrong, wire.span, "connect publishes -> consumes")]
        fits = system.types.is_subtype(_type(system, wire.source), _type(system, wire.target))
    if fits:
        return []
    types = f"{_type(system, wire.source)}, and {wire.target} takes {_type(system, wire.target)}"
    return [PatternError("wrong-type", f"{wire.source} has the type {types}", wire.span)]


def _type(system: System, end: End) -> str:
    """The type of events, or the interface, at an end."""
    port, correlation = system.port(end), system.library.find(end.owner)
    if port is not None:
        return port.type
    assert correlation is not None
    if end.port is None:
        return correlation.output
    return next(parameter.type for parameter in correlation.parameters if parameter.name == end.port)


def _several(system: System) -> Iterator[PatternError]:
    """Ends that have more connections than they can."""
    into, out = Counter(w.target for w in system.wires), Counter(w.source for w in system.wires)
    for wire in system.wires:
        source = system.port(wire.source)
        if system.library.find(wire.target.owner) is not None and into[wire.target] > 1:
            hint = "give each source an event of its own, and join them in the filter with |"
            yield PatternError("bound-twice", f"event {wire.target} is bound twice", wire.span, hint)
        if source is not None and source.direction in ("emits", "uses") and out[wire.source] > 1:
            one = "emits to one receiver" if source.direction == "emits" else "uses one provider"
            message = f"{wire.source} {one}, and is connected {out[wire.source]} times"
            yield PatternError("connected-twice", message, wire.span, "let it publish")


def _condition(system: System, condition: Condition) -> Iterator[PatternError]:
    match condition:
        case NotSo(part):
            yield from _condition(system, part)
        case Both(left, right) | Either(left, right):
            yield from _condition(system, left)
            yield from _condition(system, right)
        case InMode(instance, mode):
            if instance not in system.instances:
                hint = did_you_mean(instance, system.instances)
                yield PatternError(
                    "unknown-instance", f"there is no instance {instance}", condition.span, hint
                )
            elif mode not in (modes := system.behaviour(instance).modes):
                hint = did_you_mean(mode, modes)
                yield PatternError("unknown-mode", f"{instance} has no mode {mode}", condition.span, hint)
        case IsOff(name, label):
            correlation = system.library.find(name)
            if correlation is None or not any(name == w.target.owner for w in system.wires):
                hint = did_you_mean(name, [one.name for one in system.library.correlations])
                message = f"no correlation {name} is connected"
                yield PatternError("unknown-correlation", message, condition.span, hint)
                return
            labels = [part.label for branch in correlation.branches for part in labelled(branch)]
            if label not in labels:
                hint = did_you_mean(label, labels)
                yield PatternError("unknown-label", f"{name} has no label {label}", condition.span, hint)
        case UnderWay(str() as owner, port):
            yield from _end(system, End(owner, port, condition.span))
            found = system.port(End(owner, port))
            if found is not None and found.direction not in SENDING:
                message = f"nothing leaves by {End(owner, port)}"
                yield PatternError("wrong-direction", message, condition.span, "name the port that sends it")
        case UnderWay():
            return
