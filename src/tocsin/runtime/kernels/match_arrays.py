"""The matches that a kernel finds, as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.program import Array


class Matches(NamedTuple):
    """The matches of one detector. Constituents of match `i` are those from `offsets[i]` to `offsets[i+1]`."""

    key: Array  # int64, into the keys of the result
    start: Array  # int64
    end: Array  # int64
    variables: Array  # int64 (matches, variables), numbers of values
    offsets: Array  # int64
    refs: Array  # int64
    roles: Array  # int64
    times: Array  # int64
    begins: Array  # int64: the start of each constituent, as `times` are the ends
    emissions: Array | None = None  # int64: which emission of the detector it is, in the completion family


def none(variables: int) -> Matches:
    """An empty set of matches."""
    empty = np.empty(0, np.int64)
    zero = np.zeros(1, np.int64)
    return Matches(empty, empty, empty, np.empty((0, variables), np.int64), zero, empty, empty, empty, empty)


def some(matches: Matches, rows: Array) -> Matches:
    """The matches of these rows, in this order."""
    counts = np.diff(matches.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = np.arange(offsets[-1]) + np.repeat(matches.offsets[rows] - offsets[:-1], counts)
    return Matches(
        matches.key[rows],
        matches.start[rows],
        matches.end[rows],
        matches.variables[rows],
        offsets,
        matches.refs[places],
        matches.roles[places],
        matches.times[places],
        matches.begins[places],
        None if matches.emissions is None else matches.emissions[rows],
    )


def joined(first: Matches, second: Matches) -> Matches:
    """The matches of both; neither has emissions."""
    if not len(first.key):
        return second
    names = [name for name in Matches._fields if name not in ("offsets", "emissions")]
    columns = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    return Matches(offsets=np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]), **columns)
