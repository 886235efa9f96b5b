"""Operators over trace views, one instance at a time.

A run is kept as a count and, for `last`, its latest instance. Unique pairs keep what was chosen of the open pair of views; all
pairs keep what was chosen within the timeframe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tocsin.algebra.pairs.observation import Instance, Place, duplicate_values
from tocsin.algebra.pairs.online.stage import Delivery, Merge, Moment, Stage, in_order
from tocsin.algebra.pairs.parameters import LAST, Pairing, Pick, Views

Pair = tuple[Instance, Instance]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """An instance that was chosen of a view, with x or y of the definitions (`pair`): views of one number are unique pairs."""

    operand: int
    pair: int
    instance: Instance


@dataclass
class Runs:
    """The current trace view: chooses within it, the last one when it ends."""

    how: Views
    in_order: bool = False
    only_first: bool = False
    key: tuple[int, object] | None = None
    view: int = 0
    pair: int = 0
    count: int = 0
    pending: _Chosen | None = None

    def arrive(self, operand: int, instance: Instance) -> Iterator[_Chosen]:
        """The instances chosen because this one arrived: the last of the view that it ends, the instance itself, or none."""
        key = (operand, duplicate_values(instance) if self.how.equal else None)
        if key != self.key:
            yield from self.end()
            begins = operand == 0 and (self.key is None or self.key[0] == 1)
            self.key, self.view, self.count = key, self.view + 1, 0
            self.pair = self.pair + begins if self.in_order else (self.view + 1) // 2
        self.count += 1
        pick: Pick = self.how.first if operand == 0 or self.only_first else self.how.second
        chosen = _Chosen(operand, self.pair, instance)
        if pick == LAST:
            self.pending = chosen
        elif (
            pick.low is not None and pick.low <= self.count and (pick.high is None or self.count <= pick.high)
        ):
            yield chosen

    def end(self) -> Iterator[_Chosen]:
        """The last of a view that is over."""
        if self.pending is not None:
            yield self.pending
            self.pending = None


@dataclass
class OneOf:
    """A disjunction over trace views."""

    merge: Merge
    runs: Runs
    at: Place | None = None
    seen: set[Instance] = field(default_factory=set)

    def advance(self, moment: Moment) -> Delivery:
        arrivals, deletions, frontier = self.merge.advance(moment)
        found: list[Instance] = []
        for operand, instance in arrivals:
            if self.at != instance.last:
                self.at, self.seen = instance.last, set()
            if instance not in self.seen:
                self.seen.add(instance)
                found += [chosen.instance for chosen in self.runs.arrive(operand, instance)]
        if moment.final:
            found += [chosen.instance for chosen in self.runs.end()]
        if self.runs.pending is not None:
            frontier = min(frontier, self.runs.pending.instance.last)
        return Delivery(found, frontier, deletions)

    def kept(self) -> int:
        return (self.runs.pending is not None) + len(self.seen) + self.merge.kept()


@dataclass
class PairsOfViews:
    """A sequence or conjunction of two classes over trace views.

    `length` is the timeframe; `fits` says whether a pair is a match, given the times of what may not occur in between.
    """

    merge: Merge
    runs: Runs
    fits: Callable[[Pair, Sequence[int]], bool]
    compose: Callable[[Pair], Instance]
    length: int | None
    without: Stage | None = None
    chosen: list[_Chosen] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)
    found: list[Instance] = field(default_factory=list)

    def advance(self, moment: Moment) -> Delivery:
        limit = None
        if self.without is not None:
            below = self.without.advance(moment)
            self.absent += [instance.time for instance in below.instances]
            limit = below.frontier
        arrivals, deletions, frontier = self.merge.advance(moment, limit)
        for operand, instance in arrivals:
            for new in self.runs.arrive(operand, instance):
                self.found += self._meet(new)
        if moment.final:
            for new in self.runs.end():
                self.found += self._meet(new)
        pending = self.runs.pending
        if pending is not None and (pending.operand == 1 or not self.runs.in_order):
            frontier = min(frontier, pending.instance.last)
        self._forget(frontier[0])
        # A match of the event that is still pending can stand before one that was found with that event already.
        self.found = in_order(self.found)
        decided = [match for match in self.found if match.last < frontier]
        self.found = self.found[len(decided) :]
        return Delivery(decided, frontier, deletions)

    def _meet(self, new: _Chosen) -> list[Instance]:
        """The matches of a newly chosen instance with those chosen before."""
        if self.runs.how.pairing is Pairing.UNIQUE:
            self.chosen = [old for old in self.chosen if old.pair == new.pair]
        found = []
        for old in self.chosen:
            if old.operand == new.operand or (self.runs.in_order and new.operand == 0):
                continue
            pair = (old.instance, new.instance) if new.operand == 1 else (new.instance, old.instance)
            if pair[0] != pair[1] and self.fits(pair, self.absent):
                found.append(self.compose(pair))
        if not self.runs.in_order or new.operand == 0:
            self.chosen.append(new)
        return found

    def _forget(self, now: int) -> None:
        if self.length is not None:
            self.chosen = [old for old in self.chosen if old.instance.time >= now - self.length]
        pending = [] if self.runs.pending is None else [self.runs.pending]
        oldest = min([now, *(one.instance.time for one in (*self.chosen, *pending))])
        self.absent = [time for time in self.absent if time > oldest]

    def kept(self) -> int:
        below = self.merge.kept() + (0 if self.without is None else self.without.kept())
        here = len(self.chosen) + len(self.found) + (self.runs.pending is not None) + len(self.absent)
        return here + below


@dataclass
class PairsOfOneClass:
    """A sequence or conjunction of one class with itself: two different instances, in order."""

    body: Stage
    unique: bool
    fits: Callable[[Pair, Sequence[int]], bool]
    compose: Callable[[Pair], Instance]
    length: int | None
    without: Stage | None = None
    waiting: list[Instance] = field(default_factory=list)
    earlier: list[Instance] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)

    def advance(self, moment: Moment) -> Delivery:
        below = self.body.advance(moment)
        frontier = below.frontier
        if self.without is not None:
            between = self.without.advance(moment)
            self.absent += [instance.time for instance in between.instances]
            frontier = min(frontier, between.frontier)
        self.waiting += below.instances
        ready = [instance for instance in self.waiting if instance.last < frontier]
        self.waiting = self.waiting[len(ready) :]
        found: list[Instance] = []
        for instance in ready:
            pairs = [(old, instance) for old in self.earlier]
            found += [self.compose(pair) for pair in pairs if self.fits(pair, self.absent)]
            self.earlier = [] if self.unique and self.earlier else [*self.earlier, instance]
        if self.length is not None and not self.unique:
            self.earlier = [old for old in self.earlier if old.time >= frontier[0] - self.length]
        oldest = min([frontier[0], *(old.time for old in self.earlier)])
        self.absent = [time for time in self.absent if time > oldest]
        return Delivery(in_order(found), frontier, below.deletions)

    def kept(self) -> int:
        below = self.body.kept() + (0 if self.without is None else self.without.kept())
        return len(self.waiting) + len(self.earlier) + len(self.absent) + below
