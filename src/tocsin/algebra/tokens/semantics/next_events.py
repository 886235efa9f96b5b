"""Next events of a token, computed from the syntax tree: a list of alternatives, one for each place to wait at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import assert_never

from tocsin.algebra.tokens.semantics.syntax_places import (
    Clocked,
    Fork,
    Limited,
    Loop,
    Node,
    Parts,
    Place,
    Skippable,
)


@dataclass(frozen=True)
class Skip:
    """A way past something without an event: whether it crosses a strong link, and which strong links it enters."""

    strong: bool = False
    enters: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Entry:
    """An atom that may take the next event, how it must follow the last one, and what comes after it.

    `begins`: the limits that the event is the first of. The others around the place must not have run out.
    """

    place: Place
    then: Then | None
    way: Skip = Skip()
    begins: frozenset[int] = frozenset()

    @property
    def limits(self) -> frozenset[int]:
        """The limits that close it when they run out."""
        return self.place.limits - self.begins


@dataclass(frozen=True)
class Alternative:
    """A place to wait at. `empty`: how the whole can be passed without an event. `arms`: timers that start here."""

    entries: tuple[Entry, ...]
    empty: Skip | None
    arms: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Then:
    """The rest of `node` from `index` on, followed by `then`."""

    node: Parts | Loop | Skippable | Clocked
    index: int
    then: Then | None


def _link(link: int | None) -> Skip:
    return Skip() if link is None else Skip(True, frozenset({link}))


def _along(first: Skip, second: Skip) -> Skip:
    return Skip(first.strong or second.strong, first.enters | second.enters)


def _behind(way: Skip, alternatives: Iterable[Alternative]) -> list[Alternative]:
    return [
        Alternative(
            tuple(replace(entry, way=_along(way, entry.way)) for entry in alternative.entries),
            None if alternative.empty is None else _along(way, alternative.empty),
            alternative.arms,
        )
        for alternative in alternatives
    ]


def join(left: Iterable[Alternative], right: list[Alternative]) -> list[Alternative]:
    """`left` and, where it can be empty, `right` merged into the same place."""
    joined = []
    for a in left:
        if a.empty is None:
            joined.append(a)
            continue
        for b in _behind(a.empty, right):
            joined.append(Alternative(a.entries + b.entries, b.empty, a.arms | b.arms))
    return joined


def waits_at(node: Node, then: Then | None) -> list[Alternative]:
    """Where a token that starts on `node` can wait; `then` is what follows the node."""
    match node:
        case Place():
            return [Alternative((Entry(node, then),), None)]
        case Parts():
            return _rest(node, 0, then)
        case Loop(body):
            return [replace(a, empty=Skip()) for a in waits_at(body, Then(node, 0, then))]
        case Skippable():
            return _more(node, 0, then)
        case Limited(body, timer):
            return [
                replace(a, entries=tuple(replace(e, begins=e.begins | {timer}) for e in a.entries))
                for a in waits_at(body, then)
            ]
        case Fork(options):
            return [a for option in options for a in waits_at(option, then)]
        case Clocked(first, _, _):
            return waits_at(first, Then(node, 1, then))
        case _:
            assert_never(node)


def _rest(node: Parts, index: int, then: Then | None) -> list[Alternative]:
    """Where a token that starts on the parts from `index` on can wait: on the first that cannot be empty, or before it."""
    waits = _part(node, index, then)
    for later in range(index + 1, len(node.parts)):
        if all(alternative.empty is None for alternative in waits):
            break
        waits = join(waits, _behind(_link(node.links[later]), _part(node, later, then)))
    return waits


def _more(node: Skippable, index: int, then: Then | None) -> list[Alternative]:
    """Where a token can wait that may take the copies from `index` on: in one place for the next one and what follows."""
    if index == len(node.copies):
        return [Alternative((), Skip())]
    waits = join(waits_at(node.copies[index], Then(node, index + 1, then)), _more(node, index + 1, then))
    return [replace(alternative, empty=Skip()) for alternative in waits]


def _part(node: Parts, index: int, then: Then | None) -> list[Alternative]:
    last = index == len(node.parts) - 1
    return waits_at(node.parts[index], then if last else Then(node, index + 1, then))


@lru_cache(maxsize=100_000)
def waits_after(then: Then | None) -> list[Alternative]:
    """Where a token goes when what came before `then` is complete. An alternative that can be empty is a match."""
    if then is None:
        return [Alternative((), Skip())]
    after = waits_after(then.then)
    match then.node:
        case Loop():
            return join(waits_at(then.node, then.then), after)
        case Skippable():
            return join(_more(then.node, then.index, then.then), after)
        case Parts():
            rest = _rest(then.node, then.index, then.then)
            return join(_behind(_link(then.node.links[then.index]), rest), after)
        case Clocked():
            second = join(waits_at(then.node.second, then.then), after)
            return [replace(a, arms=a.arms | {then.node.timer}) for a in second]
        case _:
            assert_never(then.node)
