"""What a detection remembers between two batches: plain arrays and lists, written to and read from bytes.

Events are remembered only as long as a partial match holds them. `ref` numbers: 0 and up are rows of `events`, -2 and
down are `composites` (-2 the first), -1 is a timer.
"""

from __future__ import annotations

import pickle
import zlib
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.errors import InputError
from tocsin.runtime import tokens as kernel
from tocsin.runtime.program import VERSION, Array, Plan, Program, Walk
from tocsin.runtime.walk import Walks, start
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


class Tokens(NamedTuple):
    """The partial matches of one detector, sorted by key, and the tree of events they share (see `tokens`)."""

    rows: Array  # int64 (tokens, width)
    nodes: Array  # int64 (nodes, NODE_WIDTH), the root first
    alive: dict[int, int]  # key -> mask of the start states it still has, where not all


class State(NamedTuple):
    """Everything between two batches."""

    version: int
    keys: tuple[tuple[Any, ...], ...]
    values: tuple[Value, ...]
    events: pa.Table | None
    composites: tuple[Composite, ...]
    detectors: tuple[Tokens | Walks, ...]

    @property
    def partial_matches(self) -> int:
        """How many tokens are waiting, and how many keys are on their way, over all detectors."""
        return sum(len(one.keys if isinstance(one, Walks) else one.rows) for one in self.detectors)


def initial(plan: Plan) -> State:
    """The state before the first event."""
    return State(VERSION, (), (), None, (), tuple(_initial(detector.program) for detector in plan.detectors))


def _initial(program: Program | Walk) -> Tokens | Walks:
    if isinstance(program, Walk):
        return start(program)
    return Tokens(np.empty((0, kernel.layout(program)[kernel.WIDTH]), np.int64), kernel.root(), {})


def to_bytes(state: State) -> bytes:
    """The state as bytes."""
    events = None
    if state.events is not None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, state.events.schema) as writer:
            writer.write_table(state.events)
        events = sink.getvalue().to_pybytes()
    return zlib.compress(pickle.dumps((*state[:3], events, *state[4:]), protocol=5), 1)


def from_bytes(data: bytes) -> State:
    """The state that `to_bytes` wrote."""
    version, keys, values, events, composites, detectors = pickle.loads(zlib.decompress(data))
    if version != VERSION:
        raise InputError(
            "state-version",
            f"this state has version {version}, the runtime reads version {VERSION}",
            hint="start from a fresh checkpoint, or use the version of tocsin that wrote it",
        )
    table = None if events is None else pa.ipc.open_stream(events).read_all()
    return State(version, keys, values, table, composites, detectors)
