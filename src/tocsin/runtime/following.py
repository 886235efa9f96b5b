"""What stays of a batch: the state that follows it, with only what partial matches still hold, renumbered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.runtime import heap
from tocsin.runtime import tokens as kernel
from tocsin.runtime.counting import Counts
from tocsin.runtime.grouped import Groups
from tocsin.runtime.groups import PART_REF
from tocsin.runtime.interning import Interned
from tocsin.runtime.program import VERSION, Array, Detector, Plan, Program
from tocsin.runtime.ranked import Ranks
from tocsin.runtime.state import Composite, Memory, State, Tokens
from tocsin.runtime.walk import Walks


def state_after(
    plan: Plan,
    keys: list[tuple[Any, ...]],
    interned: Interned,
    events: pa.Table,
    composites: list[Composite],
    after: list[Memory],
) -> State:
    """The state with only the keys, values, events and composites that tokens still hold, renumbered."""
    needed = _needed_refs(after, composites)
    rows = sorted(ref for ref in needed if ref >= 0)
    kept_composites = sorted(-2 - ref for ref in needed if ref <= -2)
    new_ref = (
        {ref: i for i, ref in enumerate(rows)}
        | {-2 - c: -2 - i for i, c in enumerate(kept_composites)}
        | {-1: -1}
    )
    used_keys = sorted({key for one in after for key in _keys(one)})
    new_key = {key: i for i, key in enumerate(used_keys)}
    numbers = {n for one, d in zip(after, plan.detectors, strict=True) for n in _values(one, d)}
    numbers |= {n for c in kept_composites for n in composites[c].variables if n >= 0}
    used_values = sorted(numbers)
    new_value = {n: i for i, n in enumerate(used_values)} | {-1: -1}
    renumbered = tuple(
        _renumbered(one, detector, new_key, new_value, new_ref)
        for one, detector in zip(after, plan.detectors, strict=True)
    )
    return State(
        VERSION,
        tuple(keys[key] for key in used_keys),
        tuple(interned.values[n] for n in used_values),
        events.take(pa.array(rows, pa.int64())),
        tuple(
            composites[c]._replace(
                refs=tuple(new_ref[ref] for ref in composites[c].refs),
                variables=tuple(new_value[n] for n in composites[c].variables),
            )
            for c in kept_composites
        ),
        renumbered,
    )


def _keys(one: Memory) -> list[int]:
    if not isinstance(one, Tokens):
        return one.keys.tolist()  # type: ignore[no-any-return]
    return [*np.unique(one.rows[:, kernel.KEY]).tolist(), *one.alive, *one.held.key.tolist()]


def _values(one: Memory, detector: Detector) -> list[int]:
    """The numbers of the values that variables hold."""
    if not isinstance(one, Tokens):
        return []
    bound = [*np.unique(one.rows[:, _variables(detector)]), *np.unique(one.held.variables)]
    return [int(n) for n in bound if n >= 0]


def _variables(detector: Detector) -> slice:
    assert isinstance(detector.program, Program)
    return slice(kernel.TOKEN_WIDTH, kernel.TOKEN_WIDTH + detector.program.variables)


def _renumbered(
    one: Memory,
    detector: Detector,
    keys: dict[int, int],
    values: dict[int, int],
    refs: dict[int, int],
) -> Memory:
    match one:
        case Walks():
            return _walks(one, keys, refs)
        case Counts():
            return one._replace(keys=_mapped(one.keys, keys))
        case Ranks():
            for table in (one.links, one.log):
                table[:, PART_REF] = _mapped(table[:, PART_REF], refs)
            return one._replace(keys=_mapped(one.keys, keys))
        case Groups():
            one.nodes[:, heap.REF] = _mapped(one.nodes[:, heap.REF], refs)
            return one._replace(keys=_mapped(one.keys, keys))
        case Tokens():
            return _tokens(one, detector, keys, values, refs)


def _tokens(
    one: Tokens, detector: Detector, keys: dict[int, int], values: dict[int, int], refs: dict[int, int]
) -> Tokens:
    own = _variables(detector)
    one.rows[:, kernel.KEY] = _mapped(one.rows[:, kernel.KEY], keys)
    one.rows[:, own] = _mapped(one.rows[:, own], values)
    one.nodes[:, kernel.REF] = _mapped(one.nodes[:, kernel.REF], refs)
    held = one.held._replace(
        key=_mapped(one.held.key, keys),
        variables=_mapped(one.held.variables, values),
        refs=_mapped(one.held.refs, refs),
    )
    return one._replace(alive={keys[key]: mask for key, mask in one.alive.items()}, held=held)


def _walks(one: Walks, keys: dict[int, int], refs: dict[int, int]) -> Walks:
    registers = one.registers.copy()
    registers[:, :, 0] = _mapped(registers[:, :, 0], refs)
    return Walks(_mapped(one.keys, keys), one.configurations, registers)


def _held_refs(one: Memory) -> list[Array]:
    match one:
        case Walks():
            return [one.registers[:, :, 0]]
        case Counts():
            return []
        case Ranks():
            return [one.links[:, PART_REF], one.log[:, PART_REF]]
        case Groups():
            return [one.nodes[:, heap.REF]]
        case Tokens():
            return [one.nodes[:, kernel.REF], one.held.refs]


def _needed_refs(after: list[Memory], composites: list[Composite]) -> set[int]:
    waiting = [ref for one in after for refs in _held_refs(one) for ref in np.unique(refs).tolist()]
    needed: set[int] = set()
    while waiting:
        ref = waiting.pop()
        if ref == -1 or ref in needed:
            continue
        needed.add(ref)
        if ref <= -2:
            waiting += composites[-2 - ref].refs
    return needed


def _mapped(array: Array, numbers: dict[int, int]) -> Array:
    distinct, inverse = np.unique(array, return_inverse=True)
    table = np.array([numbers[int(n)] for n in distinct], np.int64)
    return table[inverse].reshape(array.shape) if len(distinct) else array.astype(np.int64)
