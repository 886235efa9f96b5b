"""The state of a running correlation between two events: numbers, and the events it may have to forward.

>>> state = State(0, 0, (BranchState(1, 0, (0,), ()),))
>>> unpack(pack(state)) == state
True
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from tocsin.algebra.correlation.outcome import Arrival
from tocsin.errors import InputError

VERSION = 1


@dataclass(frozen=True, slots=True)
class BranchState:
    """One branch since its last trigger: the start of its window, its marks, the events it keeps."""

    start: int
    marks: int
    label_marks: tuple[int, ...]
    kept: tuple[Arrival, ...]


@dataclass(frozen=True, slots=True)
class State:
    """How many events were read, which labels are off (as bits), and the branches."""

    at: int
    off: int
    branches: tuple[BranchState, ...]


def configuration_of(state: State) -> Hashable:
    """The state without times and events: labels that are off, and of each branch the marks and the kept names."""
    return state.off, tuple(
        (b.marks, b.label_marks, tuple(sorted(arrival.event for arrival in b.kept))) for b in state.branches
    )


def state_of(configuration: Hashable) -> State:
    """A state with this configuration, in which nothing is known of times and of what the events held."""
    assert isinstance(configuration, tuple)
    off, branches = configuration
    return State(
        0,
        off,
        tuple(BranchState(0, marks, labels, tuple(map(Arrival, kept))) for marks, labels, kept in branches),
    )


def pack(state: State) -> bytes:
    """The state as bytes, the same for equal states."""
    branches = [
        [b.start, b.marks, b.label_marks, [_plain(arrival) for arrival in b.kept]] for b in state.branches
    ]
    return json.dumps([VERSION, state.at, state.off, branches], separators=(",", ":")).encode()


def _plain(arrival: Arrival) -> list[Any]:
    return [arrival.event, arrival.type, dict(arrival.attributes), arrival.time]


def unpack(packed: bytes) -> State:
    """The state from its bytes."""
    version, *rest = json.loads(packed)
    if version != VERSION:
        raise InputError("old-state", f"this state has version {version}, and version {VERSION} is needed")
    at, off, branches = rest
    return State(
        at,
        off,
        tuple(
            BranchState(start, marks, tuple(label_marks), tuple(Arrival(*arrival) for arrival in kept))
            for start, marks, label_marks, kept in branches
        ),
    )
