"""Matches as an Arrow table: the rows that users get.

| column | type | meaning |
|---|---|---|
| `match_id` | string | the same on every run: derived from the pattern, the key and the events |
| `pattern` | string | name of the subscription |
| `key` | as in the input; a struct for several columns | the key the match belongs to; null without a key |
| `start`, `end` | timestamp | from the earliest start to the latest end of the constituents |
| `constituents` | array of structs | the events, in the order of detection |
| `variables` | map of strings | what the pattern's `$x` were bound to |

A constituent has `role` (the name the pattern used), `type`, `id`, `start`, `end`, `path` (its place: `[2]` is the second
event, `[2, 1]` the first event of a composite in second place) and `attributes` (the columns that were carried along).
A timer has its name as role, `timer` as type and no id.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.conditions import truth
from tocsin.runtime.feed import Matches, Result
from tocsin.runtime.program import Array, Output, Plan
from tocsin.values import Value, as_text

MOMENT = pa.timestamp("us", tz="UTC")


class _Leaves(NamedTuple):
    """Primitive events and timers of matches, composites opened up."""

    offsets: Array  # int64 (matches+1,)
    refs: Array  # int64; -1 for a timer
    roles: list[str]
    times: Array  # int64
    paths: list[list[int]]


def match_schema(key: pa.DataType, attributes: pa.StructType | None) -> pa.Schema:
    """The schema of a table of matches."""
    constituent = [
        pa.field("role", pa.string()),
        pa.field("type", pa.string()),
        pa.field("id", pa.string()),
        pa.field("start", MOMENT),
        pa.field("end", MOMENT),
        pa.field("path", pa.list_(pa.int32())),
    ]
    if attributes is not None:
        constituent.append(pa.field("attributes", attributes))
    return pa.schema(
        [
            pa.field("match_id", pa.string()),
            pa.field("pattern", pa.string()),
            pa.field("key", key),
            pa.field("start", MOMENT),
            pa.field("end", MOMENT),
            pa.field("constituents", pa.list_(pa.struct(constituent))),
            pa.field("variables", pa.map_(pa.string(), pa.string())),
        ]
    )


def to_arrow(plan: Plan, result: Result, output: Output, schema: pa.Schema) -> pa.Table:
    """The matches of one subscription. The events of the result need columns `id`, `type`, `start`, `end`."""
    matches = result.matches[output.detector]
    leaves = _leaves(plan, result, output.detector, matches)
    if output.where:
        keep = [i for i in range(len(matches.key)) if truth(output.where, _lookup(result, leaves, i)) is True]
        matches, leaves = _chosen(matches, leaves, keep)
    ids = _ids(result, leaves)
    columns = [
        pa.array(_match_ids(output, result, matches, leaves, ids), pa.string()),
        pa.array([output.name] * len(matches.key), pa.string()),
        _keys(result, matches, schema.field("key").type),
        pa.array(matches.start, pa.int64()).cast(MOMENT),
        pa.array(matches.end, pa.int64()).cast(MOMENT),
        _constituents(result, leaves, ids, schema.field("constituents").type),
        _variables(plan, result, output, matches),
    ]
    return pa.table(columns, schema=schema)


def _leaves(plan: Plan, result: Result, detector: int, matches: Matches) -> _Leaves:
    own = plan.detectors[detector]
    # Roles count from 0 for specs and from -1 down for timers, which is how Python indexes a list from its end.
    names = [*own.spec_roles, *reversed(own.timer_names)]
    roles = [names[role] for role in matches.roles.tolist()]
    counts = np.diff(matches.offsets)
    if not (matches.refs <= -2).any():
        places = np.arange(len(matches.refs)) - np.repeat(matches.offsets[:-1], counts) + 1
        return _Leaves(matches.offsets, matches.refs, roles, matches.times, [[place] for place in places.tolist()])
    offsets, refs, opened, times, paths = [0], [], [], [], []
    for i in range(len(matches.key)):
        for at in range(int(matches.offsets[i]), int(matches.offsets[i + 1])):
            place = at - int(matches.offsets[i]) + 1
            for ref, role, time, path in _open(plan, result, int(matches.refs[at]), roles[at], int(matches.times[at])):
                refs.append(ref)
                opened.append(role)
                times.append(time)
                paths.append([place, *path])
        offsets.append(len(refs))
    return _Leaves(np.array(offsets), np.array(refs, np.int64), opened, np.array(times, np.int64), paths)


def _open(plan: Plan, result: Result, ref: int, role: str, time: int) -> list[tuple[int, str, int, list[int]]]:
    """The events of a composite, or the event itself."""
    if ref >= -1:
        return [(ref, role, time, [])]
    composite = result.composites[-2 - ref]
    own = plan.detectors[composite.detector]
    names = [*own.spec_roles, *reversed(own.timer_names)]
    found = []
    for place, (inner, code, when) in enumerate(zip(composite.refs, composite.roles, composite.times, strict=True), 1):
        found += [(r, n, t, [place, *path]) for r, n, t, path in _open(plan, result, inner, names[code], when)]
    return found


def _lookup(result: Result, leaves: _Leaves, match: int):  # type: ignore[no-untyped-def]
    places = range(int(leaves.offsets[match]), int(leaves.offsets[match + 1]))

    def values(operand: tuple[Any, ...]) -> list[Value]:
        _, role, name = operand
        column = result.events.column(f"where:{name}")
        own = [int(leaves.refs[at]) for at in places if leaves.roles[at] == role and leaves.refs[at] >= 0]
        return [column[ref].as_py() for ref in own]

    return values


def _chosen(matches: Matches, leaves: _Leaves, keep: list[int]) -> tuple[Matches, _Leaves]:
    chosen = np.array(keep, np.int64)
    counts = np.diff(leaves.offsets)[chosen]
    places = [at for i in keep for at in range(int(leaves.offsets[i]), int(leaves.offsets[i + 1]))]
    kept = _Leaves(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        leaves.refs[places] if places else np.empty(0, np.int64),
        [leaves.roles[at] for at in places],
        leaves.times[places] if places else np.empty(0, np.int64),
        [leaves.paths[at] for at in places],
    )
    only = Matches(
        matches.key[chosen], matches.start[chosen], matches.end[chosen], matches.variables[chosen], *matches[4:]
    )
    return only, kept


def _ids(result: Result, leaves: _Leaves) -> list[str | None]:
    taken = result.events.column("id").take(_indices(leaves))
    return taken.to_pylist()  # type: ignore[no-any-return]


def _indices(leaves: _Leaves) -> pa.Array:
    return pa.array(leaves.refs, pa.int64(), mask=leaves.refs < 0)


def _match_ids(
    output: Output, result: Result, matches: Matches, leaves: _Leaves, ids: list[str | None]
) -> list[str]:
    offsets, times = leaves.offsets.tolist(), leaves.times.tolist()
    named = [f"{role}@{time}" if key is None else key for key, role, time in zip(ids, leaves.roles, times, strict=True)]
    prefix = hashlib.blake2b(output.fingerprint.encode(), digest_size=16)
    found = []
    for i, key in enumerate(matches.key.tolist()):
        digest = prefix.copy()
        digest.update("\x1f".join([*map(str, result.keys[key]), "", *named[offsets[i] : offsets[i + 1]]]).encode())
        found.append(digest.hexdigest())
    return found


def _keys(result: Result, matches: Matches, type: pa.DataType) -> pa.Array:
    keys = [result.keys[key] for key in matches.key.tolist()]
    if pa.types.is_struct(type):
        names = [field.name for field in type]
        return pa.array([dict(zip(names, key, strict=True)) for key in keys], type)
    return pa.array([key[0] if key else None for key in keys], type)


def _constituents(result: Result, leaves: _Leaves, ids: list[str | None], type: pa.ListType) -> pa.Array:
    events, indices = result.events, _indices(leaves)
    timer = leaves.refs < 0
    paths = pa.array(leaves.paths, pa.list_(pa.int32()))
    types = events.column("type").take(indices).combine_chunks()
    fields = {
        "role": pa.array(leaves.roles, pa.string()),
        "type": pa.compute.if_else(pa.array(timer), "timer", types),
        "id": pa.array(ids, pa.string()),
        "path": paths,
    }
    for end in ("start", "end"):
        moments = events.column(end).take(indices).combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
        fields[end] = pa.array(np.where(timer, leaves.times, moments), pa.int64()).cast(MOMENT)
    struct = type.value_type
    if struct.get_field_index("attributes") >= 0:
        fields["attributes"] = events.column("attributes").take(indices).combine_chunks()
    arrays = [fields[field.name] for field in struct]
    return pa.ListArray.from_arrays(
        pa.array(leaves.offsets, pa.int32()), pa.StructArray.from_arrays(arrays, fields=list(struct))
    )


def _variables(plan: Plan, result: Result, output: Output, matches: Matches) -> pa.Array:
    names = plan.detectors[output.detector].variable_names
    rows = [
        [(name, as_text(result.values[number])) for name, number in zip(names, row, strict=True) if number >= 0]
        for row in matches.variables.tolist()
    ]
    return pa.array(rows, pa.map_(pa.string(), pa.string()))
