"""The input of an evaluation (a trace, a clock and an end), and the instances found in it.

| paper (004)                       | here                                                |
|-----------------------------------|-----------------------------------------------------|
| trace tr                          | `Observation.events`                                |
| time event e_t                    | `Observation.ticks`                                 |
| trace view, tr[x], tr[x,y]        | `View`, `renumber`                                  |
| initiator, terminator, interiors  | `initiator`, `terminator`, `interiors`              |
| event group                       | `event_groups`                                      |

Paper: 004, sections 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from tocsin.errors import InputError
from tocsin.events import Event
from tocsin.values import identity

Nested = list["int | str | Nested"]
# A position in the trace: its time, then 0 for events, 1 for ticks and 2 for other time events (so that
# time events come after all events of their time, Part C.5.28), then its number.
Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Observation:
    """Events in the order of time (the given order among equal times), time events, and when observation ends.

    A negation is decided at the ticks; relative and periodic events come up to the end. Without an end, that is the
    last event or tick.

    >>> Observation.of([], ticks=range(0, 30, 10)).end
    20
    """

    events: tuple[Event, ...]
    ticks: tuple[int, ...]
    end: int
    since: int | None = None  # of a part of an observation, with the numbers of its events
    numbers: frozenset[int] | None = None

    @classmethod
    def of(cls, events: Iterable[Event], ticks: Iterable[int] = (), end: int | None = None) -> Observation:
        """An observation of these events. An event is taken to occur at the end of its interval."""
        in_order = tuple(sorted(events, key=lambda event: event.interval.end))
        clock = tuple(sorted(set(ticks)))
        last = max([event.interval.end for event in in_order[-1:]] + list(clock[-1:]), default=0)
        if end is not None and end < last:
            raise InputError(
                "early-end",
                f"the observation ends at {end}, before its last event or tick at {last}",
                hint=f"leave the later ones out, or end at {last} or later",
            )
        return cls(in_order, clock, last if end is None else end)

    def placed(self) -> Iterator[tuple[Place, Event]]:
        """The events with their places; a part of an observation keeps the places of the whole."""
        for number, event in enumerate(self.events):
            if self.numbers is None or number in self.numbers:
                yield (event.interval.end, 0, number), event

    def part(self, events: Iterable[Place], since: int, until: int) -> Observation:
        """These events, and the clock from one moment to another."""
        start = since if self.since is None else max(self.since, since)
        numbers = frozenset(number for time, _, number in events if start <= time <= until)
        return replace(self, end=min(self.end, until), since=start, numbers=numbers)


@dataclass(frozen=True, slots=True)
class Instance:
    """An occurrence of a primitive or composite event, or of a time event.

    `start` is the earliest occurrence in it, `time` its own; `places` are those of everything it is made of, in the order
    of the operands.
    """

    time: int
    start: int
    places: tuple[Place, ...]
    id: int | str | None = None
    parts: tuple[Instance, ...] = ()
    event: Event | None = field(default=None, compare=False, repr=False)

    @property
    def last(self) -> Place:
        """The place of its last event."""
        return max(self.places)

    @property
    def order(self) -> tuple[int, Place, tuple[Place, ...]]:
        """Sort key: by time, then by the place of the last event, then by the places of the parts. Part C.5.28."""
        return self.time, self.last, self.places

    @property
    def ids(self) -> int | str | Nested:
        """The id of a primitive event, or a list of what a composite is made of."""
        return self.id if self.id is not None else [part.ids for part in self.parts]

    def leaves(self) -> tuple[Instance, ...]:
        """The primitive instances in it, in the order of the operands."""
        return tuple(leaf for part in self.parts for leaf in part.leaves()) if self.parts else (self,)


def compose(parts: Sequence[Instance], time: int) -> Instance:
    """The composite of these parts with its occurrence time."""
    places = tuple(place for part in parts for place in part.places)
    return Instance(time, min(part.start for part in parts), places, parts=tuple(parts))


def tick_instances(observation: Observation) -> list[Instance]:
    """The ticks as instances, numbered from 1."""
    return [
        Instance(time, time, ((time, 1, number),), f"tick.{number}")
        for number, time in enumerate(observation.ticks, 1)
        if time <= observation.end and (observation.since is None or observation.since <= time)
    ]


@dataclass(frozen=True, slots=True)
class View:
    """A trace view: a run of instances of one class, here the operand with this number."""

    operand: int
    instances: tuple[Instance, ...]


def renumber(classes: Sequence[Iterable[Instance]], equal: bool = False) -> list[View]:
    """The trace cut into views: a view ends where an instance of another class follows.

    Instances of no class are not in the trace that is cut, so they do not end a run (Part C.5.10). With `equal` a
    view also ends where an attribute has another value.

    Paper: 004, section 4.2, trace renumbering.
    """
    entries = sorted(
        ((operand, instance) for operand, found in enumerate(classes) for instance in found),
        key=lambda entry: (entry[1].order, entry[0]),
    )

    def alike(entry: tuple[int, Instance]) -> object:
        operand, instance = entry
        return operand, duplicate_values(instance) if equal else None

    return [
        View(run[0][0], tuple(i for _, i in run)) for run in (list(g) for _, g in groupby(entries, alike))
    ]


def duplicate_values(instance: Instance) -> list[object]:
    """The types and attributes of everything in an instance, to tell whether two instances are duplicates."""
    events = [leaf.event for leaf in instance.leaves()]
    return [e and (e.types, {name: identity(v) for name, v in e.attributes.items()}) for e in events]


# --- names that Unland and Zimmer give to the parts of a match ----------------------------------------


def initiator(match: Instance) -> Instance:
    """The part that starts the match."""
    return min(match.parts or (match,), key=lambda part: part.order)


def terminator(match: Instance) -> Instance:
    """The part that ends the match."""
    return max(match.parts or (match,), key=lambda part: part.order)


def interiors(match: Instance) -> tuple[Instance, ...]:
    """The parts between the initiator and the terminator."""
    return tuple(sorted(match.parts, key=lambda part: part.order)[1:-1])


def event_groups(matches: Iterable[Instance]) -> list[tuple[Instance, ...]]:
    """The matches by their terminator: those of one group are ended by the same instance."""
    groups: dict[Instance, list[Instance]] = {}
    for match in matches:
        groups.setdefault(terminator(match), []).append(match)
    return [tuple(group) for group in groups.values()]
