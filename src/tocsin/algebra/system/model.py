"""A system: component types with ports, how they behave, their instances, and the connections between them.

| paper (001, section 6)                    | here                          |
|-------------------------------------------|-------------------------------|
| component interfaces (IDL)                | `Component`, `Port`           |
| dependencies between ports (.cps)         | `Behaviour.depends`           |
| abstract transitions (.cps)               | `Behaviour.transitions`       |
| instances, connections (.cad)             | `Instance`, `Wire`            |
| correlations (.cor)                       | `System.library`              |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.system.specification import Specification
from tocsin.errors import Span

Direction = OneOf["provides", "uses", "publishes", "emits", "consumes"]
SENDING: tuple[Direction, ...] = ("publishes", "emits")


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a component: an interface it provides or uses, or an event type it sends or consumes."""

    name: str
    direction: Direction
    type: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Component:
    """A type of components; one with a parent has its ports as well."""

    name: str
    ports: Mapping[str, Port] = field(hash=False)
    span: Span | None = _span()

    def sending(self) -> tuple[str, ...]:
        """The ports that events leave by."""
        return tuple(name for name, port in self.ports.items() if port.direction in SENDING)

    def consuming(self) -> tuple[str, ...]:
        """The ports that events arrive at."""
        return tuple(name for name, port in self.ports.items() if port.direction == "consumes")


@dataclass(frozen=True, slots=True)
class Transition:
    """What a component may do in some of its modes: on an event of a port, or by itself if `on` is None."""

    modes: tuple[str, ...]
    on: str | None
    pushes: tuple[str, ...]
    goto: str | None  # None: the mode stays
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The modes of a component, the first of which it begins in, its transitions, and what its outputs depend on."""

    component: str
    modes: tuple[str, ...] = ("running",)
    transitions: tuple[Transition, ...] = ()
    depends: tuple[tuple[str, tuple[str, ...]], ...] = ()
    span: Span | None = _span()


def unconstrained(component: Component) -> Behaviour:
    """The behaviour of a component of which nothing is said: it may send by any port at any time."""
    sending = tuple(Transition(("running",), None, (port,), None) for port in component.sending())
    return Behaviour(component.name, ("running",), sending)


@dataclass(frozen=True, slots=True)
class Instance:
    """A component of the system, and the node it runs on, if that is said."""

    name: str
    component: str
    node: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class End:
    """An end of a connection: a port of an instance, a parameter of a correlation, or, without a port, its output."""

    owner: str
    port: str | None = None
    span: Span | None = _span()

    def __str__(self) -> str:
        return self.owner if self.port is None else f"{self.owner}.{self.port}"


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection: events of one end go to another, or one end uses the interface that another provides."""

    source: End
    target: End
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Rate:
    """How many events a second a port sends, or needs."""

    end: End
    hertz: float
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class System:
    """A whole system. `behaviours` has those of components of which something is said."""

    types: Types
    components: Mapping[str, Component]
    library: Library
    behaviours: Mapping[str, Behaviour]
    instances: Mapping[str, Instance]
    wires: tuple[Wire, ...]
    rates: tuple[Rate, ...] = ()
    specifications: tuple[Specification, ...] = ()
    queue: int = 8  # how many events may be under way at once

    def behaviour(self, instance: str) -> Behaviour:
        """How an instance behaves."""
        component = self.instances[instance].component
        return self.behaviours.get(component) or unconstrained(self.components[component])

    def port(self, end: End) -> Port | None:
        """The port of an instance at an end; None if it is that of a correlation, or there is none."""
        instance = self.instances.get(end.owner)
        return None if instance is None or end.port is None else self._ports(instance).get(end.port)

    def receivers(self, source: End) -> Iterator[End]:
        """The ends that get what leaves by an end."""
        return (wire.target for wire in self.wires if wire.source == source)

    def _ports(self, instance: Instance) -> Mapping[str, Port]:
        return self.components[instance.component].ports
