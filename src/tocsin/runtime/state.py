"""What a detection remembers between two batches: plain arrays and lists, written to and read from bytes.

Events are remembered only as long as a partial match holds them. `ref` numbers: 0 and up are rows of `events`, -2 and
down are `composites` (-2 the first), -1 is a timer.
"""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.errors import InputError
from tocsin.runtime import found
from tocsin.runtime import tokens as kernel
from tocsin.runtime.counting import Counts, no_counts
from tocsin.runtime.found import Matches
from tocsin.runtime.grouped import Groups, as_tokens, no_groups
from tocsin.runtime.keys import NO_KEYS, Keys
from tocsin.runtime.machine import machine_of
from tocsin.runtime.program import VERSION, Array, Detector, Plan, Program, Walk
from tocsin.runtime.ranked import Ranks, no_ranks
from tocsin.runtime.walk import Walks, start
from tocsin.values import Value

_CODEC = pa.Codec(
    "lz4"
)  # a state is written after every piece of a stream, so speed counts for more than size


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
    held: Matches  # complete, but one that begins earlier may still become complete


Memory = Tokens | Groups | Counts | Ranks | Walks  # what one detector remembers


class State(NamedTuple):
    """Everything between two batches."""

    version: int
    keys: Keys
    values: tuple[Value, ...]
    events: pa.Table | None
    composites: tuple[Composite, ...]
    detectors: tuple[Memory, ...]

    @property
    def partial_matches(self) -> int:
        """How many tokens, or nodes of groups, are waiting, and how many keys are on their way, over all detectors."""
        return sum(_size(one) for one in self.detectors)


def initial(plan: Plan, *, in_order: bool = True) -> State:
    """The state before the first event. `in_order`: every event will lie after those that were fed before it."""
    return State(VERSION, NO_KEYS, (), None, (), tuple(_initial(one, in_order) for one in plan.detectors))


def _size(one: Memory) -> int:
    match one:
        case Walks():
            return len(one.keys)
        case Groups():
            return len(one.nodes)
        case Counts():
            return len(one.times)
        case Ranks():
            return len(one.links) + len(one.log)
        case Tokens():
            return len(one.rows)


def _initial(detector: Detector, in_order: bool) -> Memory:
    program, choice = detector.program, detector.choice
    if isinstance(program, Walk):
        return start(program)
    machine = None if detector.inputs else machine_of(program, choice)
    if machine is None:
        return no_tokens(program)
    if in_order and machine.goes_on:  # groups can become tokens again, these cannot
        return no_counts() if choice.take == "count" else no_ranks()
    return no_groups()


def kernel_of(detector: Detector) -> str:
    """What runs a detector: `groups`, `counting`, `ranking`, `tokens` or `table`. Events may turn groups into tokens."""
    match _initial(detector, in_order=True):
        case Walks():
            return "table"
        case Groups():
            return "groups"
        case Counts():
            return "counting"
        case Ranks():
            return "ranking"
        case Tokens():
            return "tokens"


def no_tokens(program: Program) -> Tokens:
    """No partial match."""
    rows = np.empty((0, kernel.layout(program)[kernel.WIDTH]), np.int64)
    return Tokens(rows, kernel.root(), {}, found.none(program.variables))


def one_by_one(program: Program, groups: Groups) -> Tokens:
    """The partial matches of groups as tokens."""
    rows, nodes, alive = as_tokens(program, groups)
    return no_tokens(program)._replace(rows=rows, nodes=nodes, alive=alive)


def to_bytes(state: State) -> bytes:
    """The state as bytes."""
    events = None
    if state.events is not None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, state.events.schema) as writer:
            writer.write_table(state.events)
        events = sink.getvalue().to_pybytes()
    plain = pickle.dumps((*state[:3], events, *state[4:]), protocol=5)
    return pickle.dumps((len(plain), _CODEC.compress(plain, asbytes=True)), protocol=5)


def from_bytes(data: bytes) -> State:
    """The state that `to_bytes` wrote."""
    size, packed = pickle.loads(data)
    version, keys, values, events, composites, detectors = pickle.loads(_CODEC.decompress(packed, size))
    if version != VERSION:
        raise InputError(
            "state-version",
            f"this state has version {version}, the runtime reads version {VERSION}",
            hint="start from a fresh checkpoint, or use the version of tocsin that wrote it",
        )
    table = None if events is None else pa.ipc.open_stream(events).read_all()
    return State(version, keys, values, table, composites, detectors)
