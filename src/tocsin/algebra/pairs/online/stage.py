"""The interface of the stages of an online evaluation: moments go in, decided instances come out in order.

A stage may decide late: which duplicate is the last is known when the run ends, whether something has not occurred is known
when its time is over. So each stage says how far it has got (`frontier`): every instance whose last event stands before the
frontier has been delivered. An operator takes the instances of its operands in order, as far as all of them have got.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tocsin.algebra.pairs.observation import Instance, Place
from tocsin.algebra.pairs.terminator import Deletion
from tocsin.events import Event


@dataclass(frozen=True, slots=True)
class Moment:
    """An event or tick that arrives, or neither when observation ends; `bound` is the place after it."""

    place: Place | None
    bound: Place
    event: Event | None = None
    tick: int | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a moment decided: instances in order, deletions, and how far the stage has got."""

    instances: Sequence[Instance]
    frontier: Place
    deletions: Sequence[Deletion] = ()


class Stage(Protocol):
    """A running operator. Its state is what it keeps between moments."""

    def advance(self, moment: Moment) -> Delivery:
        """Take one moment."""

    def kept(self) -> int:
        """How many instances the stage and those below it keep."""


@dataclass
class Merge:
    """The instances of several operands in one order, as far as all operands have got."""

    operands: Sequence[Stage]
    waiting: list[tuple[int, Instance]] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)

    def advance(
        self, moment: Moment, limit: Place | None = None
    ) -> tuple[list[tuple[int, Instance]], list[Deletion], Place]:
        """Arrivals in order with the number of their operand, deletions, and the place all have got to.

        `limit` is how far another stage has got that the operator depends on.
        """
        deliveries = [operand.advance(moment) for operand in self.operands]
        frontier = min(delivery.frontier for delivery in deliveries)
        if limit is not None:
            frontier = min(frontier, limit)
        for operand, delivery in enumerate(deliveries):
            self.waiting += [(operand, instance) for instance in delivery.instances]
            self.deletions += delivery.deletions
        self.waiting.sort(key=lambda arrival: (arrival[1].order, arrival[0]))
        ready = [arrival for arrival in self.waiting if arrival[1].last < frontier]
        self.waiting = self.waiting[len(ready) :]
        self.deletions.sort(key=lambda deletion: deletion.place)
        passed = [deletion for deletion in self.deletions if deletion.place < frontier]
        self.deletions = self.deletions[len(passed) :]
        return ready, passed, frontier

    def kept(self) -> int:
        """How many instances wait, here and below."""
        return len(self.waiting) + sum(operand.kept() for operand in self.operands)


def in_order(instances: Sequence[Instance]) -> list[Instance]:
    """The instances by place."""
    return sorted(instances, key=lambda instance: instance.order)
