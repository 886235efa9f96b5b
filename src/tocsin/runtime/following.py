"""What stays of a batch: the state that follows it, with only what partial matches still hold, renumbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime import heap
from tocsin.runtime import tokens as kernel
from tocsin.runtime.counting import Counts
from tocsin.runtime.found import some
from tocsin.runtime.grouped import Groups
from tocsin.runtime.keys import Keys
from tocsin.runtime.listing import PART_REF
from tocsin.runtime.program import VERSION, Array, Detector, Plan, Program
from tocsin.runtime.ranked import Ranks
from tocsin.runtime.state import Composite, Memory, State, Tokens
from tocsin.runtime.walk import Walks
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
    kept = _needed_composites(after, composites)
    held = [refs for one in after for refs in _held_refs(one)]
    held += [np.array(composites[number].refs, np.int64) for number in kept]
    rows = _used(held, events.num_rows)
    used_keys = _used([_keys(one) for one in after], keys.size)
    bound = [_values(one, detector) for one, detector in zip(after, plan.detectors, strict=True)]
    bound += [np.array(composites[number].variables, np.int64) for number in kept]
    used_values = _used(bound, len(values))
    new = _Numbers(
        _places(used_keys), _places(used_values), _places(rows), _composite_places(kept, composites)
    )
    return State(
        VERSION,
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
        tuple(_renumbered(one, detector, new) for one, detector in zip(after, plan.detectors, strict=True)),
    )


def restricted(plan: Plan, state: State, keep: Array) -> State:
    """The state of some keys alone; `keep` says of each key whether it is one of them."""
    if state.events is None:
        return state
    own = [_of_keys(one, keep) for one in state.detectors]
    return state_after(plan, state.keys, state.values, state.events, state.composites, own)


class _Numbers(NamedTuple):
    """For everything that a state numbers the place it has now; -1 stands for nothing, or for a timer, and stays."""

    key_places: Array
    value_places: Array
    row_places: Array
    composite_places: Array

    def keys(self, numbers: Array) -> Array:
        return self.key_places[numbers]

    def values(self, numbers: Array) -> Array:
        return self.value_places[numbers]

    def refs(self, numbers: Array) -> Array:
        if not len(self.composite_places):
            return self.row_places[numbers]
        composite = self.composite_places[np.where(numbers <= -2, -2 - numbers, -1)]
        return np.where(numbers <= -2, composite, self.row_places[np.maximum(numbers, -1)])


def _used(numbers: Sequence[Array], count: int) -> Array:
    """Which of so many things are named; what is below 0 is none of them."""
    used = np.zeros(count, np.bool_)
    for own in numbers:
        used[own[own >= 0]] = True
    return used


def _places(used: Array) -> Array:
    """Where each thing that is used comes to stand; the last entry is that of -1."""
    return np.concatenate([np.where(used, np.cumsum(used) - 1, -1), [-1]])


def _composite_places(kept: Sequence[int], composites: Sequence[Composite]) -> Array:
    """The new ref of each composite, -1 for those that go."""
    if not composites:
        return np.empty(0, np.int64)
    places = np.full(len(composites) + 1, -1, np.int64)
    places[list(kept)] = -2 - np.arange(len(kept))
    return places


def _needed_composites(after: Sequence[Memory], composites: Sequence[Composite]) -> list[int]:
    if not composites:
        return []
    waiting = [
        int(ref) for one in after for refs in _held_refs(one) for ref in np.unique(refs[refs <= -2]).tolist()
    ]
    needed: set[int] = set()
    while waiting:
        number = -2 - waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [ref for ref in composites[number].refs if ref <= -2]
    return sorted(needed)


def _keys(one: Memory) -> Array:
    if not isinstance(one, Tokens):
        return one.keys
    return np.concatenate([one.rows[:, kernel.KEY], np.array([*one.alive], np.int64), one.held.key])


def _values(one: Memory, detector: Detector) -> Array:
    """The numbers of the values that variables hold."""
    if not isinstance(one, Tokens):
        return np.empty(0, np.int64)
    return np.concatenate([one.rows[:, _variables(detector)].ravel(), one.held.variables.ravel()])


def _held_refs(one: Memory) -> list[Array]:
    match one:
        case Walks():
            return [one.registers[:, :, 0].ravel()]
        case Counts():
            return []
        case Ranks():
            return [one.links[:, PART_REF], one.log[:, PART_REF]]
        case Groups():
            return [one.nodes[:, heap.REF]]
        case Tokens():
            return [one.nodes[:, kernel.REF], one.held.refs]


def _variables(detector: Detector) -> slice:
    assert isinstance(detector.program, Program)
    return slice(kernel.TOKEN_WIDTH, kernel.TOKEN_WIDTH + detector.program.variables)


def _renumbered(one: Memory, detector: Detector, new: _Numbers) -> Memory:
    match one:
        case Walks():
            registers = one.registers.copy()
            registers[:, :, 0] = new.refs(registers[:, :, 0])
            return one._replace(keys=new.keys(one.keys), registers=registers)
        case Counts():
            return one._replace(keys=new.keys(one.keys))
        case Ranks():
            for table in (one.links, one.log):
                table[:, PART_REF] = new.refs(table[:, PART_REF])
            return one._replace(keys=new.keys(one.keys))
        case Groups():
            one.nodes[:, heap.REF] = new.refs(one.nodes[:, heap.REF])
            return one._replace(keys=new.keys(one.keys))
        case Tokens():
            own = _variables(detector)
            one.rows[:, kernel.KEY] = new.keys(one.rows[:, kernel.KEY])
            one.rows[:, own] = new.values(one.rows[:, own])
            one.nodes[:, kernel.REF] = new.refs(one.nodes[:, kernel.REF])
            held = one.held._replace(
                key=new.keys(one.held.key),
                variables=new.values(one.held.variables),
                refs=new.refs(one.held.refs),
            )
            alive = {int(new.key_places[key]): mask for key, mask in one.alive.items()}
            return one._replace(alive=alive, held=held)


def _of_keys(one: Memory, keep: Array) -> Memory:
    """What a detector remembers of some keys. The arrays are copies, so that they can be renumbered."""
    match one:
        case Walks():
            own = keep[one.keys]
            chosen = np.flatnonzero(own).tolist()
            return Walks(one.keys[own], tuple(one.configurations[n] for n in chosen), one.registers[own])
        case Counts():
            own = keep[one.keys]
            offsets, times = _of_rows(one.offsets, one.times, own)
            _, waiting = _of_rows(one.offsets, one.waiting, own)
            return one._replace(
                keys=one.keys[own], offsets=offsets, times=times, waiting=waiting, begun=one.begun[own]
            )
        case Ranks():
            own = keep[one.keys]
            link_at, links = _of_rows(one.link_at, one.links, own)
            root_at, roots = _of_rows(one.root_at, one.roots, own)
            log_at, log = _of_rows(one.log_at, one.log, own)
            return Ranks(
                one.keys[own], one.begun[own], link_at, links, root_at, roots, log_at, log, one.known, one.fed
            )
        case Groups():
            own = keep[one.keys]
            roots = one.roots[own]
            nodes, _ = heap.compacted(one.nodes, roots, kernel.LONG_AGO)
            return one._replace(keys=one.keys[own], roots=roots, begun=one.begun[own], nodes=nodes)
        case Tokens():
            rows = one.rows[keep[one.rows[:, kernel.KEY]]]
            alive = {key: mask for key, mask in one.alive.items() if keep[key]}
            rows, nodes = kernel.compacted(rows, one.nodes, len(one.nodes))
            return Tokens(rows, nodes, alive, some(one.held, np.flatnonzero(keep[one.held.key])))


def _of_rows(offsets: Array, rows: Array, own: Array) -> tuple[Array, Array]:
    """Of rows that belong to keys, `offsets` by `offsets`, those of some keys."""
    sizes = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(sizes[own])]).astype(np.int64), rows[np.repeat(own, sizes)]
