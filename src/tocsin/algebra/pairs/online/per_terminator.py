"""Detection per terminator, one instance at a time, and what of the available instances can be forgotten.

An instance can be forgotten once no match to come can take it:

- it is older than the timeframe, unless a cumulative selection lists whatever is there;
- it is not among the oldest that `first`, a number or a range will ever pick, if there is no timeframe that makes the oldest
  expire;
- it is older than the youngest that `last` will ever pick;
- it is of the last operand of a sequence, and each match takes one of those only.

The last three hold where nothing but order and timeframe decides whether instances fit, and where nothing is deleted one
by one: after that the next oldest would be wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tocsin.algebra.pairs.composition import unwrapped
from tocsin.algebra.pairs.observation import Instance, Place
from tocsin.algebra.pairs.online.forgetting import Forgetting
from tocsin.algebra.pairs.online.stage import Delivery, Merge, Moment, Stage, in_order
from tocsin.algebra.pairs.parameters import LAST, Mode, Pick
from tocsin.algebra.pairs.terminator import Deletion, Task, end_matches, without_deleted
from tocsin.events import Event

Interruptions = tuple[list[int], list[Place]]  # times of what may not lie between, places of foreign events


@dataclass
class Terminators:
    """A running operator. `foreign` says whether an event is irrelevant to all operands."""

    merge: Merge
    modes: Sequence[Mode]
    forgetting: Forgetting
    make_task: Callable[[Interruptions], Task]
    without: Stage | None = None
    foreign: Callable[[Event], bool] | None = None
    available: list[list[Instance]] = field(default_factory=list)
    active: list[Deletion] = field(default_factory=list)
    interruptions: Interruptions = field(default_factory=lambda: ([], []))

    def advance(self, moment: Moment) -> Delivery:
        limit = self._interrupt(moment)
        arrivals, inner, frontier = self.merge.advance(moment, limit)
        self.available = self.available or [[] for _ in self.modes]
        task = self.make_task(self.interruptions)
        found: list[Instance] = []
        deletions = list(inner)
        for operand, instance in arrivals:
            while inner and inner[0].place <= instance.last:
                self._delete(inner.pop(0))
            if any(deletion.covers(instance) for deletion in self.active):
                continue
            ended, deletion = end_matches(task, self.available, operand, instance)
            found += ended
            if deletion is not None:
                deletions += deletion.outside()
                self._delete(deletion)
            if deletion is None or not deletion.covers(instance):
                self.available[operand].append(instance)
            self._forget_by_number()
        for deletion in inner:
            self._delete(deletion)
        self._forget(frontier)
        return Delivery(in_order(found), frontier, deletions)

    def _interrupt(self, moment: Moment) -> Place | None:
        times, places = self.interruptions
        if self.foreign is not None and moment.event is not None and moment.place is not None:
            places += [moment.place] if self.foreign(moment.event) else []
        if self.without is None:
            return None
        below = self.without.advance(moment)
        times += [instance.time for instance in below.instances]
        return below.frontier

    def _delete(self, deletion: Deletion) -> None:
        self.active.append(deletion)
        self.available = without_deleted(self.available, deletion)

    def _forget(self, frontier: Place) -> None:
        """Forget what is older than the timeframe, and what can interrupt nothing any more."""
        if self.forgetting.length is not None:
            start = frontier[0] - self.forgetting.length
            self.available = [[i for i in found if i.time >= start] for found in self.available]
        self.active = [deletion for deletion in self.active if deletion.place >= frontier]
        times, places = self.interruptions
        still = [instance for found in self.available for instance in found]
        still += [instance for _, instance in self.merge.waiting]
        oldest = min([frontier[0], *(instance.time for instance in still)])
        times[:] = [time for time in times if time > oldest]
        if self.forgetting.reach is not None:
            started = min([frontier[0] - self.forgetting.reach, *(instance.start for instance in still)])
            places[:] = [place for place in places if place[0] >= started]

    def _forget_by_number(self) -> None:
        if not self.forgetting.plain:
            return
        for operand, mode in enumerate(self.modes):
            if self.forgetting.last_only and operand == len(self.modes) - 1:
                self.available[operand] = []
            elif mode.selection == LAST:
                self.available[operand] = _youngest(self.available[operand])
            elif isinstance(mode.selection, Pick) and mode.selection.high and self.forgetting.length is None:
                del self.available[operand][mode.selection.high :]

    def kept(self) -> int:
        times, places = self.interruptions
        here = sum(map(len, self.available)) + len(times) + len(places) + len(self.active)
        return here + self.merge.kept() + (0 if self.without is None else self.without.kept())


def _youngest(instances: list[Instance]) -> list[Instance]:
    """Those of the latest time, and the one before: one of equal time, or the same instance, may not be taken."""
    if not instances:
        return []
    latest = instances[-1].time
    earlier = [instance for instance in instances if instance.time < latest]
    return earlier[-1:] + [instance for instance in instances if instance.time == latest]


@dataclass
class EachOne:
    """A disjunction per terminator: each operand is detected alone, and an instance of several counts once."""

    merge: Merge
    at: Place | None = None
    seen: set[Instance] = field(default_factory=set)

    def advance(self, moment: Moment) -> Delivery:
        arrivals, deletions, frontier = self.merge.advance(moment)
        found: list[Instance] = []
        for _, instance in arrivals:
            alone = unwrapped(instance)
            if self.at != alone.last:
                self.at, self.seen = alone.last, set()
            if alone not in self.seen:
                self.seen.add(alone)
                found.append(alone)
        return Delivery(in_order(found), frontier, deletions)

    def kept(self) -> int:
        return len(self.seen) + self.merge.kept()
