"""The inputs and outputs of a correlation, the same for every engine.

>>> from tocsin.algebra.correlation.expression import Assignment
>>> seen = {"a": Arrival("a", "DataNotify", {"SourceID": 7, "Value": 1.5})}
>>> perform(PushNew("Notify", (Assignment("SourceID", Field("a", "SourceID")),)), seen, at=3)
Output(at=3, type='Notify', attributes={'SourceID': 7}, event=None, time=None)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tocsin.algebra.correlation.expression import Correlation, Field, Overwrite, Push, PushNew, used
from tocsin.algebra.correlation.types import DELIVERY_CHOICES, Types
from tocsin.values import Value


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event as it arrives at a correlation: the parameter its port is bound to, its type, and its payload.

    Without a type it has the type of its port. `time` is in microseconds.
    """

    event: str
    type: str | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict, hash=False)
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """A branch of the filter is complete.

    Positions count from 1, branches from 0, and both ends of the window are included.
    """

    at: int
    branch: int
    window: tuple[int, int]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """An event that a transformer sent. `event` names the received event if it was only forwarded."""

    at: int
    type: str | None
    attributes: Mapping[str, Value] = field(default_factory=dict, hash=False)
    event: str | None = None
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A statement that could not be carried out, because an event it needs was not in the trigger."""

    at: int
    statement: Push | PushNew
    missing: str


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that was rejected because its type is neither that of its port nor a subtype of it."""

    at: int
    arrival: Arrival
    expected: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything a correlation did with a trace, and the labels that are switched off at the end."""

    triggers: tuple[Trigger, ...] = ()
    outputs: tuple[Output, ...] = ()
    aborted: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    dead: tuple[DeadLetter, ...] = ()


def perform(
    statement: Push | PushNew,
    seen: Mapping[str, Arrival],
    at: int,
    time: int | None = None,
    types: Types | None = None,
) -> Output | Skipped:
    """Carry out a push: `seen` has, for each event of the trigger, the arrival that the transformer sees.

    If the types are given, an attribute that is not assigned is null.
    """
    for event in used(statement):
        if event not in seen:
            return Skipped(at, statement, event)
    if isinstance(statement, Push):
        arrival = seen[statement.event]
        return Output(at, arrival.type, arrival.attributes, statement.event, time)
    values: dict[str, Value] = dict.fromkeys(types.attributes(statement.type)) if types else {}
    for assignment in statement.assignments:
        match assignment.value:
            case Field(event, attribute):
                values[assignment.attribute] = seen[event].attributes.get(attribute)
            case literal:
                values[assignment.attribute] = literal.value
    return Output(at, statement.type, values, time=time)


def survivor(old: Arrival, new: Arrival, otherwise: Overwrite) -> Arrival:
    """Of two events of one port, the one the transformer sees; an event may itself say what it overwrites.

    >>> survivor(Arrival("a", time=1), Arrival("a", time=2), "recent").time
    2
    >>> survivor(Arrival("a", time=1), Arrival("a", attributes={"overwrite": "earliest"}), "recent").time
    1

    Paper: 001, section 8.
    """
    asked = new.attributes.get("overwrite")
    policy = asked if asked in DELIVERY_CHOICES["overwrite"] else otherwise
    return old if policy == "earliest" else new


def admit(arrival: Arrival, at: int, correlation: Correlation, types: Types | None) -> Arrival | DeadLetter:
    """The arrival with its type filled in, or a dead letter if its port cannot send events of that type."""
    port = next((p.type for p in correlation.parameters if p.name == arrival.event), None)
    if port is None:
        return arrival
    if arrival.type is None:
        return Arrival(arrival.event, port, arrival.attributes, arrival.time)
    if types is not None and not types.is_subtype(arrival.type, port):
        return DeadLetter(at, arrival, port)
    return arrival
