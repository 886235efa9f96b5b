"""The events that matches are made of, with composites replaced by their own events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.feed import Result
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.program import Array, Plan


class Leaves(NamedTuple):
    """Primitive events and timers of matches, composites expanded."""

    offsets: Array  # int64 (matches+1,)
    refs: Array  # int64; -1 for a timer
    roles: Array  # int64, into names
    names: list[str]
    times: Array  # int64
    paths: pa.Array  # lists of int32


def open_leaves(plan: Plan, result: Result, detector: int, matches: Matches) -> Leaves:
    """The primitive events and timers of the matches of a detector."""
    names = _role_names(plan, detector)
    roles = np.where(matches.roles < 0, len(names) + matches.roles, matches.roles)
    places = np.arange(len(matches.refs)) - np.repeat(matches.offsets[:-1], np.diff(matches.offsets)) + 1
    if not (matches.refs <= -2).any():
        paths = pa.ListArray.from_arrays(
            pa.array(np.arange(len(places) + 1), pa.int32()), pa.array(places, pa.int32())
        )
        return Leaves(matches.offsets, matches.refs, roles, names, matches.times, paths)
    opened = [
        [
            (ref, role, time, [place, *path])
            for ref, role, time, path in _open(plan, result, ref, names[role], time)
        ]
        for ref, role, time, place in zip(
            matches.refs.tolist(), roles.tolist(), matches.times.tolist(), places.tolist(), strict=True
        )
    ]
    leaves = [leaf for constituent in opened for leaf in constituent]
    counts = np.concatenate([[0], np.cumsum([len(constituent) for constituent in opened])])
    names = list(dict.fromkeys(role for _, role, _, _ in leaves))
    numbers = {name: number for number, name in enumerate(names)}
    return Leaves(
        counts[matches.offsets].astype(np.int64),
        np.array([ref for ref, _, _, _ in leaves], np.int64),
        np.array([numbers[role] for _, role, _, _ in leaves], np.int64),
        names,
        np.array([time for _, _, time, _ in leaves], np.int64),
        pa.array([path for _, _, _, path in leaves], pa.list_(pa.int32())),
    )


def _role_names(plan: Plan, detector: int) -> list[str]:
    """Names by role, from 0 up for events and from -1 down for timers, which is how Python indexes a list from its end."""
    own = plan.detectors[detector]
    return [*own.roles, *reversed(own.timer_names)]


def _open(
    plan: Plan, result: Result, ref: int, role: str, time: int
) -> list[tuple[int, str, int, list[int]]]:
    """The events of a composite, or the event itself if it is primitive."""
    if ref >= -1:
        return [(ref, role, time, [])]
    composite = result.composites[-2 - ref]
    names = _role_names(plan, composite.detector)
    found = []
    for place, (inner, code, when) in enumerate(
        zip(composite.refs, composite.roles, composite.times, strict=True), 1
    ):
        found += [
            (r, n, t, [place, *path]) for r, n, t, path in _open(plan, result, inner, names[code], when)
        ]
    return found


def chosen(matches: Matches, leaves: Leaves, rows: Array) -> tuple[Matches, Leaves]:
    """Some of the matches, with their events."""
    if len(rows) == len(matches.key):
        return matches, leaves
    counts = np.diff(leaves.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = (
        np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts) + np.repeat(leaves.offsets[rows], counts)
    )
    kept = Leaves(
        offsets,
        leaves.refs[places],
        leaves.roles[places],
        leaves.names,
        leaves.times[places],
        leaves.paths.take(pa.array(places)),
    )
    only = matches._replace(
        key=matches.key[rows],
        start=matches.start[rows],
        end=matches.end[rows],
        variables=matches.variables[rows],
        emissions=None if matches.emissions is None else matches.emissions[rows],
    )
    return only, kept
