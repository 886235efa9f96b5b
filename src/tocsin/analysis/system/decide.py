"""Decides what is specified of a system from all the states that it can reach; a refusal comes with a trace that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from tocsin.algebra.system.behaviour import Move
from tocsin.algebra.system.specification import Condition, Specification
from tocsin.analysis.system.search import Graph

OVERFLOW = Specification(
    "queue", "never deadlock", written="all events that are under way have room in the queue"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a specification holds; None if that is not known, because not all states were looked at.

    `trace` shows why it does not hold, or, of something possible, why it does; from `repeats` on it repeats for ever.
    """

    specification: Specification
    holds: bool | None
    trace: tuple[Move, ...] | None = None
    repeats: int | None = None


def decide(graph: Graph, specification: Specification) -> Decision:
    """Whether a specification holds in the states that a system can reach."""
    match specification.form:
        case "always":
            return _never(graph, specification, _states(graph, specification.condition, False))
        case "never":
            return _never(graph, specification, _states(graph, specification.condition, True))
        case "never deadlock":
            overflown = set(graph.overflown)
            stuck = (n for n in range(graph.complete) if not len(graph.after(n)) and n not in overflown)
            return _never(graph, specification, stuck)
        case "possible":
            found = next(_states(graph, specification.condition, True), None)
            if found is not None:
                return Decision(specification, True, graph.moves_along(graph.way_to(found)))
            return Decision(specification, _unless_cut(graph, False))
        case "always possible":
            return _always_possible(graph, specification)
        case "leads to":
            return _leads_to(graph, specification)
        case _:
            assert_never(specification.form)


def overflow(graph: Graph) -> Decision | None:
    """The shortest trace on which more events are under way than the queue has room for; None if there is none."""
    if not graph.overflown:
        return None
    return Decision(OVERFLOW, False, graph.moves_along(graph.way_to(graph.overflown[0])))


def _unless_cut(graph: Graph, holds: bool) -> bool | None:
    return None if graph.truncated else holds


def _states(graph: Graph, condition: Condition | None, wanted: bool) -> Iterator[int]:
    holds = _truth(graph, condition)
    return (number for number in range(len(graph.states)) if holds(number) is wanted)


def _truth(graph: Graph, condition: Condition | None) -> Callable[[int], bool]:
    assert condition is not None
    return lambda number: graph.behaving.holds(condition, graph.states[number])


def _never(graph: Graph, specification: Specification, bad: Iterator[int]) -> Decision:
    found = next(bad, None)
    if found is None:
        return Decision(specification, _unless_cut(graph, True))
    return Decision(specification, False, graph.moves_along(graph.way_to(found)))


def _always_possible(graph: Graph, specification: Specification) -> Decision:
    """Backwards from the states in which the condition holds; what is not reached can never get there."""
    if graph.truncated or graph.overflown:
        return Decision(specification, None)
    before = _Before(graph)
    reaches = np.zeros(len(graph.states), bool)
    pending = list(_states(graph, specification.condition, True))
    reaches[pending] = True
    while pending:
        for number in before(pending.pop()):
            if not reaches[number]:
                reaches[number] = True
                pending.append(number)
    if reaches.all():
        return Decision(specification, True)
    return Decision(specification, False, graph.moves_along(graph.way_to(int(np.argmin(reaches)))))


def _leads_to(graph: Graph, specification: Specification) -> Decision:
    """States in which the second condition does not hold and need never do: they have a move to another such, or none."""
    if graph.truncated or graph.overflown:
        return Decision(specification, None)
    first, then = _truth(graph, specification.condition), _truth(graph, specification.then)
    avoiding = [not then(number) for number in range(len(graph.states))]
    before = _Before(graph)
    left = [len(graph.after(number)) for number in range(len(graph.states))]
    pending = [number for number, avoids in enumerate(avoiding) if not avoids]
    while pending:
        for number in before(pending.pop()):
            left[number] -= 1
            if left[number] == 0 and avoiding[number]:
                avoiding[number] = False
                pending.append(number)
    bad = next((n for n, avoids in enumerate(avoiding) if avoids and first(n)), None)
    if bad is None:
        return Decision(specification, True)
    way = graph.way_to(bad)
    seen = {bad: len(way) - 1}
    while len(graph.after(way[-1])):
        following = next(n for n in graph.after(way[-1]) if avoiding[n])
        way.append(following)
        if following in seen:
            return Decision(specification, False, graph.moves_along(way), seen[following])
        seen[following] = len(way) - 1
    return Decision(specification, False, graph.moves_along(way))


class _Before:
    """The states whose moves lead to a state, once for each of these moves."""

    def __init__(self, graph: Graph) -> None:
        targets = np.array(graph.targets, np.int64)
        first = np.array(graph.first, np.int64)
        counts = first[1:] - first[:-1]
        order = np.argsort(targets, kind="stable")
        self._sources = np.repeat(np.arange(len(counts)), counts)[order]
        self._begins = np.searchsorted(targets[order], np.arange(len(graph.states) + 1))

    def __call__(self, state: int) -> list[int]:
        found: list[int] = self._sources[self._begins[state] : self._begins[state + 1]].tolist()
        return found
