"""The state after a batch, reduced to what partial matches still hold, and renumbered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tocsin.runtime.composites import Composite
from tocsin.runtime.kernels.protocol import Held, Memory, Numbers
from tocsin.runtime.kernels.registry import kernel_named
from tocsin.runtime.program import Array, Plan
from tocsin.runtime.rows.keys import Keys
from tocsin.runtime.state import State
from tocsin.values import Value


def state_after(
    plan: Plan,
    keys: Keys,
    values: Sequence[Value],
    events: pa.Table,
    composites: Sequence[Composite],
    after: Sequence[Memory],
) -> State:
    """The state with only the keys, values, events and composites that partial matches still hold, renumbered."""
    owners = [
        (detector, one, kernel_named(one.kind)) for detector, one in zip(plan.detectors, after, strict=True)
    ]
    held = [kernel.held(detector, one.content) for detector, one, kernel in owners]
    kept = _needed_composites(held, composites)
    refs = [own.refs for own in held]
    refs += [np.array(composites[number].refs, np.int64) for number in kept]
    rows = _used(refs, events.num_rows)
    used_keys = _used([own.keys for own in held], keys.size)
    bound = [own.values for own in held]
    bound += [np.array(composites[number].variables, np.int64) for number in kept]
    used_values = _used(bound, len(values))
    new = Numbers(
        _places(used_keys), _places(used_values), _places(rows), _composite_places(kept, composites)
    )
    return State(
        keys.take(np.flatnonzero(used_keys)),
        tuple(values[number] for number in np.flatnonzero(used_values).tolist()),
        events.filter(pa.array(rows)),
        tuple(
            composites[number]._replace(
                refs=tuple(new.refs(np.array(composites[number].refs, np.int64)).tolist()),
                variables=tuple(new.values(np.array(composites[number].variables, np.int64)).tolist()),
            )
            for number in kept
        ),
        tuple(
            Memory(one.kind, kernel.renumber(detector, one.content, new)) for detector, one, kernel in owners
        ),
    )


def restricted(plan: Plan, state: State, keep: Array) -> State:
    """The state of some keys only; `keep` holds for each key whether it stays."""
    if state.events is None:
        return state
    own = [Memory(one.kind, kernel_named(one.kind).restrict(one.content, keep)) for one in state.detectors]
    return state_after(plan, state.keys, state.values, state.events, state.composites, own)


def _used(numbers: Sequence[Array], count: int) -> Array:
    """Which of the numbers below `count` occur; negative ones are ignored."""
    used = np.zeros(count, np.bool_)
    for own in numbers:
        used[own[own >= 0]] = True
    return used


def _places(used: Array) -> Array:
    """The new number of each entry in use; the last entry of the result is for -1."""
    return np.concatenate([np.where(used, np.cumsum(used) - 1, -1), [-1]])


def _composite_places(kept: Sequence[int], composites: Sequence[Composite]) -> Array:
    """The new ref of each composite, -1 for those that are dropped."""
    if not composites:
        return np.empty(0, np.int64)
    places = np.full(len(composites) + 1, -1, np.int64)
    places[list(kept)] = -2 - np.arange(len(kept))
    return places


def _needed_composites(held: Sequence[Held], composites: Sequence[Composite]) -> list[int]:
    if not composites:
        return []
    waiting = [int(ref) for own in held for ref in np.unique(own.refs[own.refs <= -2]).tolist()]
    needed: set[int] = set()
    while waiting:
        number = -2 - waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [ref for ref in composites[number].refs if ref <= -2]
    return sorted(needed)
