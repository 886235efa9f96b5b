"""Which instances may be combined: order, timeframe, overlap, and what may not occur between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import assert_never

from tocsin.algebra.pairs.expression import Composition, Conjunction, Disjunction, Simultaneity
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.observation import Instance, Place
from tocsin.algebra.pairs.parameters import Concurrency

Chosen = Sequence[tuple[Instance, ...] | None]


def meets(
    expression: Composition,
    chosen: Chosen,
    concurrency: Concurrency = Concurrency.OVERLAPPING,
    same: Iterable[tuple[int, int]] = (),
) -> bool:
    """Whether the instances chosen for the operands (None: not chosen yet) can belong to one match.

    `same` are pairs of operands that are one class; they take different instances, in order (Part C.5.7).
    """
    times = [instance.time for some in chosen if some is not None for instance in some]
    span = max(times) - min(times)
    pairs = [(one, other) for one, other in combinations(chosen, 2) if one is not None and other is not None]
    match expression:
        case Disjunction():
            return True
        case Conjunction(_, timeframe):
            fits = not isinstance(timeframe, int) or span <= timeframe
        case Simultaneity(tolerance=tolerance):
            fits = span <= tolerance
        case Ordered(_, timeframe):
            in_order = all(max(i.time for i in one) < min(i.time for i in other) for one, other in pairs)
            fits = in_order and (not isinstance(timeframe, int) or span <= timeframe)
        case _:
            assert_never(expression)
    if not fits or any(set(one) & set(other) for one, other in pairs):
        return False
    if any(not _before(chosen[one], chosen[other]) for one, other in same):
        return False
    return concurrency is Concurrency.OVERLAPPING or all(_apart(*pair) for pair in pairs)


def _before(one: tuple[Instance, ...] | None, other: tuple[Instance, ...] | None) -> bool:
    if one is None or other is None:
        return True
    return max(instance.order for instance in one) < min(instance.order for instance in other)


def _apart(one: Sequence[Instance], other: Sequence[Instance]) -> bool:
    """Whether the one is over before the other starts, or the other way round."""
    first, second = sorted((one, other), key=lambda some: max(i.time for i in some))
    return max(i.time for i in first) < min(i.start for i in second)


def nothing_between(parts: Sequence[Instance], times: Iterable[int]) -> bool:
    """Whether none of the times lies strictly between the first and the last of the parts."""
    first, last = min(part.time for part in parts), max(part.time for part in parts)
    return not any(first < time < last for time in times)


def uninterrupted(match: Instance, places: Iterable[Place]) -> bool:
    """Whether none of the places lies between the first and the last event of a match. Paper: 004, coupling mode."""
    return not any(min(match.places) < place < match.last for place in places)
