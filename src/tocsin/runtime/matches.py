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
import pyarrow.compute as pc

from tocsin.runtime.conditions import truth
from tocsin.runtime.feed import Matches, Result
from tocsin.runtime.program import Array, Output, Plan
from tocsin.values import Value, as_text

MOMENT = pa.timestamp("us", tz="UTC")


class _Leaves(NamedTuple):
    """Primitive events and timers of matches, composites opened up."""

    offsets: Array  # int64 (matches+1,)
    refs: Array  # int64; -1 for a timer
    roles: Array  # int64, into names
    names: list[str]
    times: Array  # int64
    paths: pa.Array  # lists of int32


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
    names = _role_names(plan, detector)
    roles = np.where(matches.roles < 0, len(names) + matches.roles, matches.roles)
    places = np.arange(len(matches.refs)) - np.repeat(matches.offsets[:-1], np.diff(matches.offsets)) + 1
    if not (matches.refs <= -2).any():
        paths = pa.ListArray.from_arrays(
            pa.array(np.arange(len(places) + 1), pa.int32()), pa.array(places, pa.int32())
        )
        return _Leaves(matches.offsets, matches.refs, roles, names, matches.times, paths)
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
    return _Leaves(
        counts[matches.offsets].astype(np.int64),
        np.array([ref for ref, _, _, _ in leaves], np.int64),
        np.array([names.index(role) for _, role, _, _ in leaves], np.int64),
        names,
        np.array([time for _, _, time, _ in leaves], np.int64),
        pa.array([path for _, _, _, path in leaves], pa.list_(pa.int32())),
    )


def _role_names(plan: Plan, detector: int) -> list[str]:
    """Roles count from 0 for events and from -1 down for timers, which is how Python indexes a list from its end."""
    own = plan.detectors[detector]
    return [*own.roles, *reversed(own.timer_names)]


def _open(
    plan: Plan, result: Result, ref: int, role: str, time: int
) -> list[tuple[int, str, int, list[int]]]:
    """The events of a composite, or the event itself."""
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


def _lookup(result: Result, leaves: _Leaves, match: int):  # type: ignore[no-untyped-def]
    places = range(int(leaves.offsets[match]), int(leaves.offsets[match + 1]))

    def values(operand: tuple[Any, ...]) -> list[Value]:
        _, role, name = operand
        column = result.events.column(f"where:{name}")
        named = [number for number, known in enumerate(leaves.names) if known == role]
        own = [int(leaves.refs[at]) for at in places if leaves.roles[at] in named and leaves.refs[at] >= 0]
        return [column[ref].as_py() for ref in own]

    return values


def _chosen(matches: Matches, leaves: _Leaves, keep: list[int]) -> tuple[Matches, _Leaves]:
    chosen = np.array(keep, np.int64)
    counts = np.diff(leaves.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = (
        np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts) + np.repeat(leaves.offsets[chosen], counts)
    )
    kept = _Leaves(
        offsets,
        leaves.refs[places],
        leaves.roles[places],
        leaves.names,
        leaves.times[places],
        leaves.paths.take(pa.array(places)),
    )
    only = Matches(
        matches.key[chosen],
        matches.start[chosen],
        matches.end[chosen],
        matches.variables[chosen],
        *matches[4:],
    )
    return only, kept


def _ids(result: Result, leaves: _Leaves) -> pa.Array:
    """The ids of the events as text; a copy of an equal row has its number behind it."""
    ids = result.events.column("id").take(_indices(leaves)).combine_chunks().cast(pa.string())
    if "copy" not in result.events.column_names:
        return ids
    copies = result.events.column("copy").take(_indices(leaves)).combine_chunks()
    numbered = pc.binary_join_element_wise(ids, copies.cast(pa.string()), "#")
    return pc.if_else(pc.greater(copies, 0), numbered, ids)


def _indices(leaves: _Leaves) -> pa.Array:
    return pa.array(leaves.refs, pa.int64(), mask=leaves.refs < 0)


def _match_ids(output: Output, result: Result, matches: Matches, leaves: _Leaves, ids: pa.Array) -> list[str]:
    offsets = leaves.offsets.tolist()
    named = ids.to_pylist()
    for at in np.flatnonzero(leaves.refs < 0).tolist():
        named[at] = f"{leaves.names[leaves.roles[at]]}@{leaves.times[at]}"
    prefix = hashlib.blake2b(output.fingerprint.encode(), digest_size=16)
    found = []
    for i, key in enumerate(matches.key.tolist()):
        digest = prefix.copy()
        digest.update(
            "\x1f".join([*map(str, result.keys[key]), "", *named[offsets[i] : offsets[i + 1]]]).encode()
        )
        found.append(digest.hexdigest())
    return found


def _keys(result: Result, matches: Matches, type: pa.DataType) -> pa.Array:
    if pa.types.is_struct(type):
        names = [field.name for field in type]
        keys = pa.array([dict(zip(names, key, strict=True)) for key in result.keys], type)
    else:
        keys = pa.array([key[0] if key else None for key in result.keys], type)
    return keys.take(pa.array(matches.key))


def _constituents(result: Result, leaves: _Leaves, ids: pa.Array, type: pa.ListType) -> pa.Array:
    events, indices = result.events, _indices(leaves)
    timer = leaves.refs < 0
    types = events.column("type").take(indices).combine_chunks()
    fields = {
        "role": pa.array(leaves.names, pa.string()).take(pa.array(leaves.roles)),
        "type": pc.if_else(pa.array(timer), "timer", types),
        "id": ids,
        "path": leaves.paths,
    }
    for end in ("start", "end"):
        moments = (
            events.column(end).take(indices).combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
        )
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
        [
            (name, as_text(result.values[number]))
            for name, number in zip(names, row, strict=True)
            if number >= 0
        ]
        for row in matches.variables.tolist()
    ]
    return pa.array(rows, pa.map_(pa.string(), pa.string()))
