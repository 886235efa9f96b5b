"""The composites of a detector as input events of others: their bits, their values and their place in the total order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.protocol import Input
from tocsin.runtime.predicates.conditions import truth
from tocsin.runtime.program import Array, Detector, Plan
from tocsin.runtime.rows.value_numbers import Interned
from tocsin.values import Value


class Composite(NamedTuple):
    """A composite event that other detectors read."""

    detector: int
    refs: tuple[int, ...]
    roles: tuple[int, ...]  # role, or -1 - timer
    times: tuple[int, ...]
    variables: tuple[int, ...]  # numbers of interned values
    start: int
    end: int


def as_input(
    plan: Plan, number: int, matches: Matches, composites: list[Composite], interned: Interned
) -> Input:
    """The matches of a detector as input rows of others; ties in time are broken by the order of their events."""
    first = len(composites)
    for i in range(len(matches.key)):
        part = slice(int(matches.offsets[i]), int(matches.offsets[i + 1]))
        composites.append(
            Composite(
                number,
                tuple(matches.refs[part].tolist()),
                tuple(matches.roles[part].tolist()),
                tuple(matches.times[part].tolist()),
                tuple(matches.variables[i].tolist()),
                int(matches.start[i]),
                int(matches.end[i]),
            )
        )
    order = sorted(range(len(matches.key)), key=lambda i: _leaf_order(plan, composites, first + i))
    composites[first:] = [composites[first + i] for i in order]
    names = plan.detectors[number].variable_names
    bits = np.zeros((len(order), plan.words), np.uint64)
    values = np.full((len(order), len(plan.columns)), -1, np.int32)
    for row, composite in enumerate(composites[first:]):
        bound = {name: n for name, n in zip(names, composite.variables, strict=True) if n >= 0}
        for column, name in enumerate(plan.columns):
            values[row, column] = bound.get(name, -1)
        for test in plan.composite_tests:
            if (
                test.detector == number
                and truth(test.condition, partial(_variable, bound, interned)) is test.truth
            ):
                bits[row, test.bit >> 6] |= np.uint64(1) << np.uint64(test.bit & 63)
    chosen = np.array(order, np.int64)
    return Input(
        matches.key[chosen],
        matches.start[chosen],
        matches.end[chosen],
        bits,
        values,
        -2 - (first + np.arange(len(chosen))),
        np.array([_first_end(plan, composites, n) for n in range(first, len(composites))], np.int64),
    )


def _first_end(plan: Plan, composites: list[Composite], number: int) -> int:
    """When the first event of a composite ends; parts of the same pattern are no events of their own."""
    own = composites[number]
    parts = plan.detectors[own.detector].parts
    ends = []
    for ref, time in zip(own.refs, own.times, strict=True):
        inside = ref <= -2 and composites[-2 - ref].detector in parts
        ends.append(_first_end(plan, composites, -2 - ref) if inside else time)
    return min(ends)


def numbers_of(detector: Detector, composites: list[Composite]) -> Array:
    """For each composite a number that breaks ties in time: by input, then in the order in which they were found."""
    if not detector.inputs:
        return np.empty(0, np.int64)  # it has no composites to order
    rank = {number: place for place, number in enumerate(detector.inputs)}
    return np.array([rank.get(c.detector, 0) << 40 | n for n, c in enumerate(composites)], np.int64)


def _variable(bound: dict[str, int], interned: Interned, operand: tuple[Any, ...]) -> list[Value]:
    """The value of an attribute of a composite, which is one of its variables."""
    return [interned.values[bound[operand[1]]] if operand[1] in bound else None]


def _leaf_order(
    plan: Plan, composites: list[Composite], number: int
) -> tuple[list[tuple[int, int, str]], list[tuple[int, ...]]]:
    """Sort key of a composite: the places of its events in the total order, then their positions in the composite."""
    leaves = list(_leaves(plan, composites, number, ()))
    return [place for place, _ in leaves], [path for _, path in leaves]


def _leaves(
    plan: Plan, composites: list[Composite], number: int, inside: tuple[int, ...]
) -> Iterator[tuple[tuple[int, int, str], tuple[int, ...]]]:
    """Primitive events by their place in the total order (their ref), timers after the events of their moment."""
    composite = composites[number]
    names = plan.detectors[composite.detector].timer_names
    for place, (ref, role, time) in enumerate(
        zip(composite.refs, composite.roles, composite.times, strict=True)
    ):
        path = (*inside, place)
        if ref <= -2:
            yield from _leaves(plan, composites, -2 - ref, path)
        else:
            yield ((time, 1 << 62, names[-1 - role]) if role < 0 else (time, ref, "")), path
