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
from tocsin.runtime.program import VERSION, Array, Plan
from tocsin.values import Value


class Composite(NamedTuple):
    """A composite event that other detectors read."""

    detector: int
    refs: tuple[int, ...]
    roles: tuple[int, ...]  # spec, or -1 - timer
    times: tuple[int, ...]
    variables: tuple[int, ...]  # numbers of interned values
    start: int
    end: int


class Tokens(NamedTuple):
    """The partial matches of one detector, sorted by key, and the tree of events they share."""

    key: Array  # int64
    state: Array  # int32
    node: Array  # int64
    last_start: Array  # int64
    last_end: Array  # int64
    variables: Array  # int32
    ends: Array  # int64
    timers: Array  # int64
    node_parent: Array  # int64, node 0 is the root
    node_ref: Array  # int64
    node_role: Array  # int32
    node_time: Array  # int64
    node_start: Array  # int64
    node_depth: Array  # int32
    alive: dict[int, int]  # key -> start states it still has, where not all


class State(NamedTuple):
    """Everything between two batches."""

    version: int
    keys: tuple[tuple[Any, ...], ...]
    values: tuple[Value, ...]
    events: pa.Table | None
    composites: tuple[Composite, ...]
    tokens: tuple[Tokens, ...]

    @property
    def partial_matches(self) -> int:
        """How many tokens are waiting, over all detectors."""
        return sum(len(tokens.state) for tokens in self.tokens)


def no_tokens(variables: int, links: int, timers: int) -> Tokens:
    """A detector that has seen nothing."""
    return Tokens(
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty((0, variables), np.int32),
        np.empty((0, links), np.int64),
        np.empty((0, timers), np.int64),
        np.zeros(1, np.int64),
        np.full(1, -1, np.int64),
        np.zeros(1, np.int32),
        np.zeros(1, np.int64),
        np.full(1, np.int64(1) << np.int64(62), np.int64),
        np.zeros(1, np.int32),
        {},
    )


def initial(plan: Plan) -> State:
    """The state before the first event."""
    tokens = tuple(
        no_tokens(d.program.variables, d.program.links, len(d.program.timer_after)) for d in plan.detectors
    )
    return State(VERSION, (), (), None, (), tokens)


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
    version, keys, values, events, composites, tokens = pickle.loads(zlib.decompress(data))
    if version != VERSION:
        raise InputError(
            "state-version",
            f"this state has version {version}, the runtime reads version {VERSION}",
            hint="start from a fresh checkpoint, or use the version of tocsin that wrote it",
        )
    table = None if events is None else pa.ipc.open_stream(events).read_all()
    return State(version, keys, values, table, composites, tokens)
