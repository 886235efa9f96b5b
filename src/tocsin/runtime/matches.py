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
A timer has its name as role, `timer` as type and no id. Languages whose expressions send events have more columns: see
`outputs`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.conditions import truth
from tocsin.runtime.feed import Matches, Result
from tocsin.runtime.leaves import Leaves, chosen, open_leaves
from tocsin.runtime.outputs import output_columns
from tocsin.runtime.program import Detector, Output, Plan, travelling
from tocsin.values import Value, as_text

MOMENT = pa.timestamp("us", tz="UTC")


def match_schema(
    key: pa.DataType, attributes: pa.StructType | None, outputs: pa.StructType | None = None
) -> pa.Schema:
    """The schema of a table of matches; `outputs` are the types of events that are sent, if any can be."""
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
            *(() if outputs is None else [pa.field(name, pa.string()) for name in ("what", "type", "value")]),
            *([pa.field("output", outputs)] if outputs else ()),
        ]
    )


def to_arrow(plan: Plan, result: Result, number: int, schema: pa.Schema) -> pa.Table:
    """The matches of one subscription. The events of the result need columns `id`, `type`, `start`, `end`."""
    output = plan.outputs[number]
    parts = [_of_detector(plan, result, number, detector, schema) for detector in output.detectors]
    found = pa.concat_tables(parts)
    return _with_own_ids(found) if plan.detectors[output.detectors[0]].emissions else found


def _of_detector(plan: Plan, result: Result, number: int, detector: int, schema: pa.Schema) -> pa.Table:
    output, own, matches = plan.outputs[number], plan.detectors[detector], result.matches[detector]
    leaves = open_leaves(plan, result, detector, matches)
    if matches.emissions is not None:
        mine = [emission.output == number for emission in own.emissions]
        keep = np.flatnonzero(np.array(mine, np.bool_)[matches.emissions]).tolist()
        matches, leaves = chosen(matches, leaves, keep)
    if output.where:
        keep = [i for i in range(len(matches.key)) if truth(output.where, _lookup(result, leaves, i)) is True]
        matches, leaves = chosen(matches, leaves, keep)
    ids = _ids(result, leaves)
    columns = [
        pa.array(_match_ids(output, own, result, matches, leaves, ids), pa.string()),
        pa.array([output.name] * len(matches.key), pa.string()),
        _keys(result, matches, schema.field("key").type),
        pa.array(matches.start, pa.int64()).cast(MOMENT),
        pa.array(matches.end, pa.int64()).cast(MOMENT),
        _constituents(result, leaves, ids, schema.field("constituents").type),
        _variables(own, result, matches),
    ]
    if matches.emissions is not None:
        columns += output_columns(result, own, matches, leaves, schema)
    return pa.table(columns, schema=schema)


def _with_own_ids(found: pa.Table) -> pa.Table:
    """The same with ids that differ: an event can make one subscription send the same thing several times."""
    seen: Counter[str] = Counter()
    ids = []
    for id in found.column("match_id").to_pylist():
        ids.append(f"{id}#{seen[id]}" if seen[id] else id)
        seen[id] += 1
    return found.set_column(0, found.schema.field(0), pa.array(ids, pa.string()))


def _lookup(result: Result, leaves: Leaves, match: int):  # type: ignore[no-untyped-def]
    places = range(int(leaves.offsets[match]), int(leaves.offsets[match + 1]))

    def values(operand: tuple[Any, ...]) -> list[Value]:
        _, role, name = operand
        column = result.events.column(travelling("field", name))
        named = [number for number, known in enumerate(leaves.names) if known == role]
        own = [int(leaves.refs[at]) for at in places if leaves.roles[at] in named and leaves.refs[at] >= 0]
        return [column[ref].as_py() for ref in own]

    return values


def _ids(result: Result, leaves: Leaves) -> pa.Array:
    """The ids of the events as text; a copy of an equal row has its number behind it."""
    ids = result.events.column("id").take(_indices(leaves)).combine_chunks().cast(pa.string())
    if "copy" not in result.events.column_names:
        return ids
    copies = result.events.column("copy").take(_indices(leaves)).combine_chunks()
    numbered = pc.binary_join_element_wise(ids, copies.cast(pa.string()), "#")
    return pc.if_else(pc.greater(copies, 0), numbered, ids)


def _indices(leaves: Leaves) -> pa.Array:
    return pa.array(leaves.refs, pa.int64(), mask=leaves.refs < 0)


def _match_ids(
    output: Output, detector: Detector, result: Result, matches: Matches, leaves: Leaves, ids: pa.Array
) -> list[str]:
    offsets = leaves.offsets.tolist()
    named = ids.to_pylist()
    for at in np.flatnonzero(leaves.refs < 0).tolist():
        named[at] = f"{leaves.names[leaves.roles[at]]}@{leaves.times[at]}"
    prefix = hashlib.blake2b(output.fingerprint.encode(), digest_size=16)
    sent = [repr(emission._replace(output=0)).encode() for emission in detector.emissions]
    found = []
    for i, key in enumerate(matches.key.tolist()):
        digest = prefix.copy()
        if matches.emissions is not None:
            digest.update(sent[matches.emissions[i]])
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


def _constituents(result: Result, leaves: Leaves, ids: pa.Array, type: pa.ListType) -> pa.Array:
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


def _variables(detector: Detector, result: Result, matches: Matches) -> pa.Array:
    names = detector.variable_names
    rows = [
        [
            (name, as_text(result.values[number]))
            for name, number in zip(names, row, strict=True)
            if number >= 0
        ]
        for row in matches.variables.tolist()
    ]
    return pa.array(rows, pa.map_(pa.string(), pa.string()))
