"""The state of detection between two batches, and its layout as bytes.

Events are remembered only as long as a partial match holds them. `ref` numbers: 0 and up are rows of `events`, -2 and
down are `composites` (-2 the first), -1 is a timer.

The bytes are those of `encoding`, of the kind `state` and of version `VERSION`; the value is a dict:

| field | type | meaning |
|---|---|---|
| `keys` | (int, tuple) | how many keys there are, and a column for each of their parts: an Arrow array, or a list of values |
| `values` | tuple | the values that variables hold, by number: integers, floats, decimals, texts, booleans, times |
| `events` | Arrow table or None | the events that partial matches hold, with the columns that matches report |
| `composites` | tuple of tuples | detector, refs, roles, times, variables, start, end: see `composites.Composite` |
| `detectors` | tuple of (str, dict) | for each detector of the plan the name of its kernel, and the fields of its memory |

The fields of a memory are listed in the module `memory` of the kernel's folder.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from tocsin.errors import InputError
from tocsin.runtime import encoding
from tocsin.runtime.composites import Composite
from tocsin.runtime.encoding import damaged
from tocsin.runtime.kernels import registry
from tocsin.runtime.kernels.protocol import Memory
from tocsin.runtime.kernels.registry import kernel_named
from tocsin.runtime.program import Plan
from tocsin.runtime.rows.keys import NO_KEYS, Keys
from tocsin.values import Value

VERSION = 7
_KIND = "state"
_FIELDS = frozenset({"keys", "values", "events", "composites", "detectors"})


class State(NamedTuple):
    """Everything that detection keeps between two batches."""

    keys: Keys
    values: tuple[Value, ...]
    events: pa.Table | None
    composites: tuple[Composite, ...]
    detectors: tuple[Memory, ...]

    @property
    def partial_matches(self) -> int:
        """The number of waiting tokens, nodes of groups, and keys that have left their initial state, over all detectors."""
        return sum(kernel_named(one.kind).size(one.content) for one in self.detectors)


def initial(plan: Plan, *, in_order: bool = True) -> State:
    """The state before the first event. `in_order`: every event will lie after those that were fed before it."""
    return State(NO_KEYS, (), None, (), tuple(registry.initial(one, in_order) for one in plan.detectors))


def to_bytes(state: State) -> bytes:
    """The state as bytes."""
    return encoding.encode(to_plain(state), kind=_KIND, version=VERSION)


def from_bytes(data: bytes) -> State:
    """The state that `to_bytes` wrote."""
    return from_plain(encoding.decode(data, kind=_KIND, version=VERSION))


def to_plain(state: State) -> dict[str, Any]:
    """The state as plain values, as in the table above."""
    columns = tuple(
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for column in state.keys.columns
    )
    return {
        "keys": (state.keys.size, columns),
        "values": state.values,
        "events": state.events,
        "composites": tuple(tuple(one) for one in state.composites),
        "detectors": tuple((one.kind, kernel_named(one.kind).fields(one.content)) for one in state.detectors),
    }


def from_plain(value: Any) -> State:
    """The state that was passed to `to_plain`."""
    if not isinstance(value, dict) or set(value) != _FIELDS:
        raise damaged("a state has other fields")
    try:
        size, columns = value["keys"]
        composites = tuple(Composite(*one) for one in value["composites"])
        detectors = tuple(
            Memory(kind, kernel_named(kind).from_fields(fields)) for kind, fields in value["detectors"]
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(f"a part of the state has other fields: {error}") from error
    return State(Keys(columns, size), value["values"], value["events"], composites, detectors)
