"""Stages that bring instances into an evaluation: primitive events, time events, negations, selections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tocsin.algebra.pairs.expression import Primitive
from tocsin.algebra.pairs.observation import Instance, Place, compose
from tocsin.algebra.pairs.online.stage import Delivery, Moment, Stage, in_order
from tocsin.algebra.pairs.parameters import LAST, Pick
from tocsin.algebra.pairs.semantics import matches_class


@dataclass
class Events:
    """The events of a class; nothing is kept."""

    primitive: Primitive

    def advance(self, moment: Moment) -> Delivery:
        event, place = moment.event, moment.place
        if event is None or place is None or not matches_class(self.primitive, event):
            return Delivery((), moment.bound)
        return Delivery((Instance(place[0], place[0], (place,), event.id, event=event),), moment.bound)

    def kept(self) -> int:
        return 0


@dataclass
class Moments:
    """Time events that are due: an absolute one, or relative ones to the instances of an operand."""

    at: int | None = None
    body: Stage | None = None
    delay: int = 0
    due: list[Instance] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.at is not None:
            self.due = [Instance(self.at, self.at, ((self.at, 2, 0),), f"at.{self.at}")]

    def advance(self, moment: Moment) -> Delivery:
        below = Delivery((), moment.bound) if self.body is None else self.body.advance(moment)
        for source in below.instances:
            time = source.time + self.delay
            self.due.append(compose((source, Instance(time, time, ((time, 2, 1),), "after.1")), time))
        self.due = in_order(self.due)
        passed = [instance for instance in self.due if instance.last < min(moment.bound, below.frontier)]
        self.due = self.due[len(passed) :]
        frontier = min([moment.bound, below.frontier, *(instance.last for instance in self.due[:1])])
        return Delivery(passed, frontier, below.deletions)

    def kept(self) -> int:
        return len(self.due) + (0 if self.body is None else self.body.kept())


@dataclass
class _Series:
    """A periodic event at work: what started it, the number of its next event, when it stops if that is known."""

    source: Instance
    number: int = 1
    stop: int | None = None


@dataclass
class Periods:
    """Time events each period after an instance of `since`, until one of `until` comes."""

    period: int
    since: Stage
    until: Stage | None
    running: list[_Series] = field(default_factory=list)
    stops: list[Instance] = field(default_factory=list)

    def advance(self, moment: Moment) -> Delivery:
        since = self.since.advance(moment)
        until = Delivery((), moment.bound) if self.until is None else self.until.advance(moment)
        self.stops += until.instances
        self.running += [_Series(source) for source in since.instances]
        for series in self.running:
            if series.stop is None:
                after = (stop.time for stop in self.stops if stop.order > series.source.order)
                series.stop = next(after, None)
        # What stops a source that is still to come stands after it.
        self.stops = [stop for stop in self.stops if stop.last >= since.frontier]
        decided = min(moment.bound, since.frontier)
        found = [event for series in self.running for event in self._due(series, decided, until.frontier)]
        self.running = [s for s in self.running if s.stop is None or self._next(s)[0] < s.stop]
        frontier = min([decided, *(self._next(series) for series in self.running)])
        return Delivery(in_order(found), frontier, (*since.deletions, *until.deletions))

    def _next(self, series: _Series) -> Place:
        return series.source.time + series.number * self.period, 2, series.number

    def _due(self, series: _Series, bound: Place, until: Place) -> list[Instance]:
        """The events of a series that come for sure: before it stops, and before the place that is decided."""
        found: list[Instance] = []
        while True:
            place = self._next(series)
            time = place[0]
            known = time < series.stop if series.stop is not None else time < until[0]
            if not known or place >= bound:
                return found
            timer = Instance(time, time, (place,), f"every.{series.number}")
            found.append(compose((series.source, timer), time))
            series.number += 1

    def kept(self) -> int:
        below = self.since.kept() + (0 if self.until is None else self.until.kept())
        return len(self.running) + len(self.stops) + below


@dataclass
class Absence:
    """The ticks at which nothing occurred for a while; it keeps the times of the body within the timeframe."""

    body: Stage
    length: int | None
    ticks: list[Instance] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def advance(self, moment: Moment) -> Delivery:
        below = self.body.advance(moment)
        self.times += [instance.time for instance in below.instances]
        if moment.tick is not None and moment.place is not None:
            time = moment.place[0]
            self.ticks.append(Instance(time, time, (moment.place,), f"tick.{moment.tick}"))
        # Events of the time of a tick count, so it is decided when that time is over.
        decided = [tick for tick in self.ticks if tick.time < below.frontier[0]]
        self.ticks = self.ticks[len(decided) :]
        true = [tick for tick in decided if not self._occurred(tick.time)]
        self._forget(min([below.frontier[0], *(tick.time for tick in self.ticks)]))
        return Delivery(true, min([moment.bound, *(tick.last for tick in self.ticks[:1])]))

    def _occurred(self, now: int) -> bool:
        return any(time <= now and (self.length is None or now - self.length <= time) for time in self.times)

    def _forget(self, now: int) -> None:
        if self.length is None:
            self.times = [min(self.times)] if self.times else []
        else:
            start = now - self.length
            self.times = [time for time in self.times if start <= time]

    def kept(self) -> int:
        return len(self.times) + len(self.ticks) + self.body.kept()


@dataclass
class Numbered:
    """The instances with certain numbers; the last one is known when observation ends."""

    body: Stage
    pick: Pick
    count: int = 0
    last: Instance | None = None

    def advance(self, moment: Moment) -> Delivery:
        below = self.body.advance(moment)
        chosen = []
        for instance in below.instances:
            self.count += 1
            self.last = instance if self.pick == LAST else None
            if self.pick.low is not None and self.pick.low <= self.count:
                chosen += [instance] if self.pick.high is None or self.count <= self.pick.high else []
        if self.last is None:
            return Delivery(chosen, below.frontier, below.deletions)
        if moment.final:
            return Delivery([self.last], below.frontier, below.deletions)
        return Delivery((), min(below.frontier, self.last.last), below.deletions)

    def kept(self) -> int:
        return (self.last is not None) + self.body.kept()


@dataclass
class Asked:
    """The matches of an operator for which something has not occurred so far."""

    body: Stage
    guards: Sequence[Guard]
    alone: bool
    held: list[Instance] = field(default_factory=list)

    def advance(self, moment: Moment) -> Delivery:
        below = self.body.advance(moment)
        known = min(guard.advance(moment) for guard in self.guards)
        found = [compose((i,), i.time) for i in below.instances] if self.alone else list(below.instances)
        self.held += found
        decided = [match for match in self.held if match.time < known[0]]
        self.held = self.held[len(decided) :]
        true = [match for match in decided if all(guard.holds(match.time) for guard in self.guards)]
        frontier = min([below.frontier, *(match.last for match in self.held[:1])])
        return Delivery(true, frontier, below.deletions)

    def kept(self) -> int:
        return len(self.held) + self.body.kept() + sum(guard.kept() for guard in self.guards)


@dataclass
class Guard:
    """Whether things have not occurred so far: none of them, or (`some`) not all of them."""

    bodies: Sequence[Stage]
    inner: Sequence[Guard]
    some: bool
    earliest: list[int | None] = field(default_factory=list)

    def advance(self, moment: Moment) -> Place:
        """Take one moment; returns how far the guard has got."""
        self.earliest = self.earliest or [None] * len(self.bodies)
        frontiers = [inner.advance(moment) for inner in self.inner]
        for number, body in enumerate(self.bodies):
            delivery = body.advance(moment)
            frontiers.append(delivery.frontier)
            if self.earliest[number] is None and delivery.instances:
                self.earliest[number] = delivery.instances[0].time
        return min(frontiers)

    def holds(self, now: int) -> bool:
        """Whether it is true at a time that the guard has got past."""
        truths = [first is None or first > now for first in self.earliest]
        truths += [inner.holds(now) for inner in self.inner]
        return any(truths) if self.some else all(truths)

    def kept(self) -> int:
        return sum(body.kept() for body in self.bodies) + sum(inner.kept() for inner in self.inner)
