"""The event tree: the composition of a query, one event at a time, with only what later events can still complete.

Paper: 002, section 4.2, Fig. 8 and Algorithm 2. Each operator keeps occurrences of its operands as its context asks: the
newest, the newest of each key, or all. What WITHIN puts out of reach is forgotten. Events come in the order of their
ends, as every stream delivers them, so that something that has ended cannot lie between two events that are yet to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.matching import Found
from tocsin.algebra.blocks.occurrence import Occurrence, XmlEvent, close, related, together
from tocsin.algebra.blocks.query import Context, Query
from tocsin.algebra.blocks.semantics import block_occurrence, keys, shared
from tocsin.algebra.blocks.temporal import Absent, Both, Composition, Of, OneOfTwo, Related, tree_of
from tocsin.errors import InputError, LimitError

MAX_STORED = 100_000  # occurrences that one operator keeps


class EventTree:
    """The tree of one query, with what it remembers. `visits` counts the visits of nodes, which the paper bounds by k·N.

    Events that are not `ordered` by their ends can be fed, too; then nothing is forgotten because of its age.
    """

    def __init__(self, query: Query, evaluation: Evaluation, *, ordered: bool = True) -> None:
        tree = tree_of(query.where.composition, tuple(evaluation.blocks))
        self.visits = 0
        self._ordered = ordered
        self._latest: int | None = None
        self._root = _node(tree, _Kind(query.where.context or "recent", evaluation, ordered))

    def feed(self, event: XmlEvent, matched: Mapping[str, list[Found]]) -> list[Occurrence]:
        """The occurrences of the whole tree that an event completes."""
        if self._ordered and self._latest is not None and event.time.end < self._latest:
            message = f"the event {event.number} ends before one that came earlier"
            raise InputError("out-of-order", message, hint="give the events in the order of their ends")
        self._latest = event.time.end
        arrival = _Arrival(
            event, {name: block_occurrence(name, event, ways) for name, ways in matched.items()}
        )
        found = self._root.feed(arrival)
        self.visits += arrival.visits
        return found

    @property
    def stored(self) -> int:
        """The occurrences that all operators keep."""
        return self._root.stored()


@dataclass(slots=True)
class _Arrival:
    event: XmlEvent
    matched: Mapping[str, Occurrence]
    visits: int = 0


@dataclass(slots=True)
class _Leaf:
    block: str

    def feed(self, arrival: _Arrival) -> list[Occurrence]:
        arrival.visits += 1
        found = arrival.matched.get(self.block)
        return [] if found is None else [found]

    def stored(self) -> int:
        return 0


@dataclass(slots=True)
class _Either:
    left: _Node
    right: _Node

    def feed(self, arrival: _Arrival) -> list[Occurrence]:
        arrival.visits += 1
        return [*self.left.feed(arrival), *self.right.feed(arrival)]

    def stored(self) -> int:
        return self.left.stored() + self.right.stored()


@dataclass(slots=True, eq=False)
class _Stored:
    """An occurrence that waits, and the earliest end of what must be absent and started after it."""

    occurrence: Occurrence
    absent_until: int | None = None

    def interrupt(self, absent: Occurrence) -> None:
        """Note that something that must be absent has started after this one had ended, if it has."""
        if self.occurrence.end < absent.start:
            known = self.absent_until
            self.absent_until = absent.end if known is None else min(known, absent.end)


@dataclass(slots=True)
class _Operator:
    """An operator with two operands that wait for each other; `either` if the left one can complete it, too."""

    left: _Node
    right: _Node
    absent: _Node | None
    fits: Callable[[_Stored, _Stored], bool]
    within: int | None
    either: bool
    memory: _Memory

    def feed(self, arrival: _Arrival) -> list[Occurrence]:
        arrival.visits += 1
        if self.absent is not None:
            for something in self.absent.feed(arrival):
                self.memory.interrupt(something)
        new = (
            [_Stored(one) for one in self.left.feed(arrival)],
            [_Stored(one) for one in self.right.feed(arrival)],
        )
        if not new[0] and not new[1]:
            return []
        if self.within is not None:
            self.memory.forget(arrival.event.time.end - self.within)
        self.memory.store(0, new[0])
        if self.either:
            self.memory.store(1, new[1])
        found: list[Occurrence] = []
        pairs: set[tuple[int, ...]] = set()
        for side in (0, 1) if self.either else (1,):
            for one in new[side]:
                for chosen in self.memory.chosen(one, side, self.fits):
                    pair = tuple(sorted(map(id, (one, *chosen))))
                    if pair not in pairs:
                        pairs.add(pair)
                        parts = [one.occurrence, *(other.occurrence for other in chosen)]
                        found.append(together(arrival.event.number, parts))
                        self.memory.use(one, chosen)
        self.memory.settle()
        return found

    def stored(self) -> int:
        below = 0 if self.absent is None else self.absent.stored()
        return len(self.memory) + self.left.stored() + self.right.stored() + below


@dataclass(slots=True)
class _Memory:
    """What an operator keeps of its operands, as its context asks."""

    context: Context
    ordered: bool
    keys: Callable[[Occurrence], set[tuple[str, ...]]]
    sides: tuple[list[_Stored], list[_Stored]] = field(default_factory=lambda: ([], []))
    newest: tuple[dict[tuple[str, ...], _Stored], dict[tuple[str, ...], _Stored]] = field(
        default_factory=lambda: ({}, {})
    )
    absent: list[Occurrence] = field(default_factory=list)  # unless events are ordered
    used: set[int] = field(default_factory=set)  # identities, while one event is dealt with

    def __len__(self) -> int:
        return sum(map(len, self.sides))

    def store(self, side: int, new: list[_Stored]) -> None:
        """Remember new occurrences of an operand."""
        kept = self.sides[side]
        for one in new:
            for absent in self.absent:
                one.interrupt(absent)
            if self.context in ("recent", "recent_consume"):
                kept[:] = [one]
                continue
            kept.append(one)
            if self.context == "recent_per_key":
                for key in self.keys(one.occurrence):
                    self.newest[side][key] = one
        if new and self.context == "recent_per_key":
            current = {id(one) for one in self.newest[side].values()}
            kept[:] = [one for one in kept if id(one) in current]
        if len(kept) > MAX_STORED:
            message = f"an operator waits with more than {MAX_STORED:,} occurrences"
            raise LimitError("too-much-state", message, hint="say WITHIN, or choose another context")

    def chosen(
        self, new: _Stored, side: int, fits: Callable[[_Stored, _Stored], bool]
    ) -> Iterator[list[_Stored]]:
        """The groups that a new occurrence completes a detection with."""
        if id(new) in self.used:
            return
        others = self.sides[1 - side]

        def fitting(other: _Stored) -> bool:
            return id(other) not in self.used and (fits(other, new) if side else fits(new, other))

        match self.context:
            case "recent" | "recent_consume":
                yield from ([one] for one in others if fitting(one))
            case "recent_per_key":
                own = self.keys(new.occurrence)
                newest = {id(one) for key, one in self.newest[1 - side].items() if key in own}
                yield from [[one] for one in others if id(one) in newest and fitting(one)]
            case "chronicle":
                first = next((one for one in others if fitting(one)), None)
                if first is not None:
                    yield [first]
            case "continuous":
                yield from [[one] for one in others if fitting(one)]
            case "cumulative":
                together = [one for one in others if fitting(one)]
                if together:
                    yield together

    def use(self, new: _Stored, chosen: list[_Stored]) -> None:
        """Note what a detection uses up."""
        if self.context in ("recent_consume", "chronicle", "continuous"):
            self.used |= {id(one) for one in (new, *chosen)}
        elif self.context == "cumulative":
            self.used |= {id(one) for one in (new, *self.sides[0], *self.sides[1])}

    def settle(self) -> None:
        """Forget what has been used up."""
        if self.used:
            for kept in self.sides:
                kept[:] = [one for one in kept if id(one) not in self.used]
            self.used.clear()

    def forget(self, earliest: int) -> None:
        """Forget occurrences that started before a time: nothing that is yet to come is close enough to them."""
        for side, kept in enumerate(self.sides):
            if any(one.occurrence.start < earliest for one in kept):
                kept[:] = [one for one in kept if one.occurrence.start >= earliest]
                newest = self.newest[side]
                for key in [key for key, one in newest.items() if one.occurrence.start < earliest]:
                    del newest[key]

    def interrupt(self, absent: Occurrence) -> None:
        """Note that something has happened that must be absent after what has ended before it."""
        if not self.ordered:
            # What begins the composition may yet come, though it has ended before.
            self.absent.append(absent)
        for one in self.sides[0]:
            one.interrupt(absent)


_Node = _Leaf | _Either | _Operator


class _Kind(NamedTuple):
    """What all operators of a tree have in common."""

    context: Context
    evaluation: Evaluation
    ordered: bool


def _node(tree: Composition, kind: _Kind) -> _Node:
    def below(part: Composition) -> _Node:
        return _node(part, kind)

    def memory(left: Composition, right: Composition) -> _Memory:
        names = shared(left, right, kind.evaluation)
        return _Memory(kind.context, kind.ordered, lambda one: keys(one, names, kind.evaluation))

    match tree:
        case Of(block):
            return _Leaf(block)
        case OneOfTwo(left, right):
            return _Either(below(left), below(right))
        case Both(left, right):
            either = memory(left, right)
            return _Operator(below(left), below(right), None, lambda *_: True, None, True, either)
        case Related("AFTER", left, right, within):
            return below(Related("BEFORE", right, left, within))
        case Related(relation, left, right, within):

            def fits(one: _Stored, other: _Stored) -> bool:
                first, last = one.occurrence, other.occurrence
                return related(relation, first, last) and close(first, last, within)

            both = relation != "BEFORE"
            window = within if kind.ordered else None
            return _Operator(below(left), below(right), None, fits, window, both, memory(left, right))
        case Absent(absent, first, last):
            return _Operator(
                below(first), below(last), below(absent), _uninterrupted, None, False, memory(first, last)
            )


def _uninterrupted(one: _Stored, other: _Stored) -> bool:
    until, last = one.absent_until, other.occurrence
    return one.occurrence.end < last.start and not (until is not None and until < last.start)
