"""Evaluation over trace views: which duplicates of which runs are combined.

The trace is cut into views (`renumber`); z and w choose within a view of the first and of the second operand, P chooses
the views. The definitions are read as Part C.5.6 to C.5.9 says:

- a sequence drops a leading view of its second operand, so that odd views are of the first operand and even ones of the
  second; unique pairs are the views (1,2), (3,4), …, all pairs every odd view with every later even one;
- a conjunction pairs the views (1,2), (3,4), … whichever operand comes first, or every two views of different operands;
- unique holds for views, not for instances: within a pair of views every chosen one meets every chosen one;
- one class twice, as in `(e, e)`, has one view only: every two instances in order, or (1,2), (3,4), … if unique.

Paper: 004, section 4.2, event operators with parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from tocsin.algebra.pairs.observation import Instance, View, renumber
from tocsin.algebra.pairs.parameters import Pairing, Views

Pair = tuple[Instance, Instance]
Fits = Callable[[Sequence[Instance]], bool]


def one_of(classes: Sequence[Sequence[Instance]], how: Views) -> list[Instance]:
    """The chosen instances of a disjunction. Only z applies (Part C.5.11); an instance of two classes counts once."""
    seen: set[Instance] = set()
    once: list[list[Instance]] = []
    for found in classes:
        once.append([instance for instance in found if instance not in seen])
        seen.update(found)
    return [chosen for view in renumber(once, how.equal) for chosen in how.first.of(view.instances)]


def ordered_pairs(
    first: Sequence[Instance], second: Sequence[Instance], how: Views, fits: Fits
) -> list[Pair]:
    """The pairs of a sequence that fit its timeframe."""
    views = renumber((first, second), how.equal)
    while views and views[0].operand == 1:
        views = views[1:]
    # With strict duplicates several views of one operand can follow each other, so they are numbered by pairs.
    odd, even = _numbered(views)
    return [
        pair
        for x, one in odd
        for y, other in even
        if (x == y if how.pairing is Pairing.UNIQUE else x <= y)
        for pair in _product(one, other, how)
        if fits(pair)
    ]


def any_order_pairs(
    first: Sequence[Instance], second: Sequence[Instance], how: Views, fits: Fits
) -> list[Pair]:
    """The pairs of a conjunction that fit its timeframe, each in the order of the operands."""
    views = renumber((first, second), how.equal)
    if how.pairing is Pairing.UNIQUE:
        chosen = list(zip(views[::2], views[1::2], strict=False))
    else:
        chosen = list(combinations(views, 2))
    pairs = [
        pair
        for one, other in chosen
        if one.operand != other.operand
        for pair in (_product(one, other, how) if one.operand == 0 else _product(other, one, how))
    ]
    return [pair for pair in pairs if pair[0] != pair[1] and fits(pair)]


def pairs_of_one_class(instances: Sequence[Instance], how: Views, fits: Fits) -> list[Pair]:
    """The pairs of `(e, e)` and `(e ; e)`: two different instances, in order. Part C.5.7."""
    in_order = sorted(instances, key=lambda instance: instance.order)
    if how.pairing is Pairing.UNIQUE:
        return [pair for pair in zip(in_order[::2], in_order[1::2], strict=False) if fits(pair)]
    return [pair for pair in combinations(in_order, 2) if fits(pair)]


def _numbered(views: Sequence[View]) -> tuple[list[tuple[int, View]], list[tuple[int, View]]]:
    """The views of the first and of the second operand, with x of tr[2x-1] and y of tr[2y]."""
    odd: list[tuple[int, View]] = []
    even: list[tuple[int, View]] = []
    number = 0
    for before, view in zip([None, *views], views, strict=False):
        if view.operand == 0 and (before is None or before.operand == 1):
            number += 1
        (odd if view.operand == 0 else even).append((number, view))
    return odd, even


def _product(one: View, other: View, how: Views) -> Iterator[Pair]:
    """Every chosen duplicate of the one view with every chosen one of the other. Part C.5.8."""
    for left in how.first.of(one.instances):
        for right in how.second.of(other.instances):
            yield left, right
