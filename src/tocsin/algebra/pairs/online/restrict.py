"""Stages that look at a part of what is observed: an interval, the events of one group, one event of a chain at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tocsin.algebra.pairs.expression import Chain, Each
from tocsin.algebra.pairs.observation import Instance, compose
from tocsin.algebra.pairs.online.stage import Delivery, Moment, Stage, in_order
from tocsin.algebra.pairs.semantics import goes_on, group_of, looks_at


@dataclass
class Span:
    """An operand that sees only an interval of time; observation ends for it with the interval."""

    body: Stage
    since: int
    until: int
    over: bool = False

    def advance(self, moment: Moment) -> Delivery:
        if self.over:
            return Delivery((), moment.bound)
        end = (self.until + 1, 0, 0)
        if moment.final or moment.bound >= end:
            self.over = True
            below = self.body.advance(Moment(None, min(moment.bound, end), final=True))
            return Delivery(below.instances, moment.bound, below.deletions)
        early = moment.place is not None and moment.place[0] < self.since
        return self.body.advance(replace(moment, event=None, tick=None) if early else moment)

    def kept(self) -> int:
        return 0 if self.over else self.body.kept()


@dataclass
class Groups:
    """An operand that runs once for each group of events; one group more is kept for each new value."""

    expression: Each
    make: Callable[[], Stage]
    stages: dict[object, Stage] = field(default_factory=dict)

    def advance(self, moment: Moment) -> Delivery:
        event = moment.event
        own = None
        if event is not None and looks_at(self.expression, event):
            own = self.stages.setdefault(group_of(self.expression, event), self.make())
        others = replace(moment, event=None)
        deliveries = [stage.advance(moment if stage is own else others) for stage in self.stages.values()]
        return Delivery(
            in_order([instance for delivery in deliveries for instance in delivery.instances]),
            min([moment.bound, *(delivery.frontier for delivery in deliveries)]),
            [deletion for delivery in deliveries for deletion in delivery.deletions],
        )

    def kept(self) -> int:
        return sum(1 + stage.kept() for stage in self.stages.values())


@dataclass
class Steps:
    """A chain: the match that is begun, and nothing else."""

    chain: Chain
    begun: list[Instance] = field(default_factory=list)

    def advance(self, moment: Moment) -> Delivery:
        event, place = moment.event, moment.place
        if event is None or place is None or not goes_on(self.chain, self.begun, event):
            return Delivery((), moment.bound)
        self.begun.append(Instance(place[0], place[0], (place,), event.id, event=event))
        if len(self.begun) < len(self.chain.operands):
            return Delivery((), moment.bound)
        match, self.begun = compose(self.begun, place[0]), []
        return Delivery((match,), moment.bound)

    def kept(self) -> int:
        return len(self.begun)
