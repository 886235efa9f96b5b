"""Matches as an Arrow table: the rows that users get.

| column | type | meaning |
|---|---|---|
| `match_id` | string | identical on every run: derived from the pattern, the key and the events |
| `pattern` | string | name of the subscription |
| the key columns | as in the input, each under its own name | the key the match belongs to; none without a key |
| `start`, `end` | timestamp | from the earliest start to the latest end of the constituents |
| `constituents` | array of structs | the events, in the order of detection |
| `variables` | map of strings | the values that the pattern's `$x` were bound to |

A constituent has `role` (the name the pattern used), `type`, `id`, `start`, `end`, `path` (its place: `[2]` is the second
event, `[2, 1]` the first event of a composite in second place) and `attributes` (the columns that were carried along).
A timer has its name as role, `timer` as type and no id. Languages whose expressions send events have more columns: see
`sent_columns`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.errors import InputError, did_you_mean
from tocsin.runtime.feed import Result
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.program import Array, Detector, Output, Plan
from tocsin.runtime.results.constituents import Leaves, chosen, open_leaves
from tocsin.runtime.results.sent_columns import output_columns
from tocsin.runtime.results.where import matches_that_hold
from tocsin.runtime.rows.stable_hash import fold_paths, hash_members, hash_rows, match_ids
from tocsin.runtime.rows.value_numbers import Column
from tocsin.runtime.transport.time_chunks import Chunk
from tocsin.values import as_text

MOMENT = pa.timestamp("us", tz="UTC")


_ALWAYS = ("match_id", "pattern", "start", "end", "constituents", "variables")
_SENT = ("what", "type", "value", "output", "delivered_at", "lost")
_SOMETIMES = ("late", "rule_change", "detected_at")
MATCH_COLUMNS = frozenset({*_ALWAYS, *_SENT, *_SOMETIMES})
"""The columns of tables of matches that are no key columns."""


def key_names(columns: Sequence[str], *, sends: bool) -> list[str]:
    """The names of key columns in a table of matches: their own, with `_` appended where the table has such a column.

    >>> key_names(["room", "start", "value"], sends=False)
    ['room', 'start_', 'value']
    """
    taken = {*_ALWAYS, *_SOMETIMES, *(_SENT if sends else ())}
    return [f"{name}_" if name in taken else name for name in columns]


def keys_among(columns: Sequence[str]) -> list[str]:
    """The key columns of a table of matches, which are those between `pattern` and `start`."""
    return list(columns[columns.index("pattern") + 1 : columns.index("start")])


def match_schema(
    keys: Sequence[pa.Field], attributes: pa.StructType | None, outputs: pa.StructType | None = None
) -> pa.Schema:
    """The schema of a table of matches.

    Args:
        keys: the key columns (see `key_names`).
        attributes: those that constituents carry.
        outputs: the types of events that are sent, if any can be.
    """
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
            *keys,
            pa.field("start", MOMENT),
            pa.field("end", MOMENT),
            pa.field("constituents", pa.list_(pa.struct(constituent))),
            pa.field("variables", pa.map_(pa.string(), pa.string())),
            *(() if outputs is None else [pa.field(name, pa.string()) for name in ("what", "type", "value")]),
            *([pa.field("output", outputs)] if outputs else ()),
        ]
    )


OF_EVENTS = frozenset({"match_id", "constituents"})
"""The columns that identify the events of a match, rather than only give its times."""


def chosen_columns(there: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The wanted columns of a table of matches, in the order given; by default all."""
    if wanted is None:
        return list(there)
    if not wanted:
        hint = "name some, as in report=['start', 'end']"
        raise InputError("bad-option", "no column of the matches is wanted", hint=hint)
    for name in wanted:
        if name not in there:
            hint = did_you_mean(name, there)
            raise InputError("unknown-column", f"matches have no column {name!r}", hint=hint)
    return list(dict.fromkeys(wanted))


def to_arrow(
    plan: Plan,
    result: Result,
    number: int,
    schema: pa.Schema,
    *,
    wanted: Sequence[str] | None = None,
    chunk: Chunk | None = None,
) -> pa.Table:
    """The matches of one subscription, or those that end in a chunk of time.

    The events of the result need columns `id`, `type` and `end`, and `start` if they have a length; they need none if nothing
    is sent and none of `OF_EVENTS` is wanted.

    Args:
        wanted: the columns of the schema to return; by default all.
    """
    output = plan.outputs[number]
    own = schema if wanted is None else pa.schema([schema.field(name) for name in wanted])
    parts = [
        _of_detector(plan, result, number, detector, schema, own, chunk) for detector in output.detectors
    ]
    found = pa.concat_tables(parts)
    sends = bool(plan.detectors[output.detectors[0]].emissions)
    return _with_own_ids(found) if sends and "match_id" in own.names else found


def _of_detector(
    plan: Plan,
    result: Result,
    number: int,
    detector: int,
    schema: pa.Schema,
    wanted: pa.Schema,
    chunk: Chunk | None,
) -> pa.Table:
    output, own, matches = plan.outputs[number], plan.detectors[detector], result.matches[detector]
    leaves = open_leaves(plan, result, detector, matches)
    if chunk is not None:
        inside = (matches.end > chunk.after) & (matches.end <= chunk.until)
        matches, leaves = chosen(matches, leaves, np.flatnonzero(inside))
    if matches.emissions is not None:
        mine = np.array([emission.output == number for emission in own.emissions], np.bool_)
        matches, leaves = chosen(matches, leaves, np.flatnonzero(mine[matches.emissions]))
    if output.where and len(matches.key):
        matches, leaves = chosen(matches, leaves, matches_that_hold(output.where, result.events, leaves))
    names = set(wanted.names)
    columns = {
        "pattern": pa.repeat(pa.scalar(output.name, pa.string()), len(matches.key)),
        "start": pa.array(matches.start, pa.int64()).cast(MOMENT),
        "end": pa.array(matches.end, pa.int64()).cast(MOMENT),
    }
    key_columns = keys_among(schema.names)
    if names & {"match_id", *key_columns}:
        keys, key = _keys(result, matches, [schema.field(name).type for name in key_columns])
        columns |= {
            name: part.take(pa.array(key))
            for name, part in zip(key_columns, keys, strict=True)
            if name in names
        }
    if names & OF_EVENTS:
        ids = result.events.column("id").take(_indices(leaves)).combine_chunks()
        copies = _copies(result, leaves)
    if "match_id" in names:
        columns["match_id"] = _match_ids(output, own, matches, leaves, ids, copies, keys, key)
    if "constituents" in names:
        type = schema.field("constituents").type
        columns["constituents"] = _constituents(result, leaves, _shown_ids(ids, copies), type)
    if "variables" in names:
        columns["variables"] = _variables(own, result, matches)
    if names - columns.keys():
        columns |= output_columns(result, own, matches, leaves, schema)
    return pa.table([columns[name] for name in wanted.names], schema=wanted)


def _with_own_ids(found: pa.Table) -> pa.Table:
    """Make match ids unique: an event can make one subscription send the same thing several times."""
    coded = found.column("match_id").combine_chunks().dictionary_encode()
    if len(coded.dictionary) == len(coded):
        return found
    codes = coded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], codes[order])
    repeats = np.empty(len(codes), np.int64)
    repeats[order] = np.arange(len(codes)) - first
    at = found.column_names.index("match_id")
    return found.set_column(at, found.schema.field(at), _numbered(coded.dictionary_decode(), repeats))


def _indices(leaves: Leaves) -> pa.Array:
    timers = leaves.refs < 0
    return pa.array(leaves.refs, pa.int64(), mask=timers if timers.any() else None)


def _copies(result: Result, leaves: Leaves) -> Array | None:
    """The copy number of each event among equal ones; None if no events are equal."""
    if "copy" not in result.events.column_names:
        return None
    copies = result.events.column("copy").take(_indices(leaves)).fill_null(0)
    return copies.combine_chunks().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _shown_ids(ids: pa.Array, copies: Array | None) -> pa.Array:
    """The ids of the events as text; a copy of an equal row has its number appended."""
    shown = ids.cast(pa.string())
    return shown if copies is None or not copies.any() else _numbered(shown, copies)


def _numbered(texts: pa.Array, numbers: Array) -> pa.Array:
    """Texts with their number appended, except for 0."""
    behind = pc.binary_join_element_wise(texts, pa.array(numbers).cast(pa.string()), "#")
    return pc.if_else(pa.array(numbers > 0), behind, texts)


def _match_ids(
    output: Output,
    detector: Detector,
    matches: Matches,
    leaves: Leaves,
    ids: pa.Array,
    copies: Array | None,
    keys: Sequence[pa.Array],
    key: Array,
) -> pa.Array:
    prefixes = [output.fingerprint]
    which = np.zeros(len(matches.key), np.int64)
    if matches.emissions is not None:
        prefixes = [
            f"{output.fingerprint}|{emission._replace(output=0)!r}" for emission in detector.emissions
        ]
        which = matches.emissions
    timers = np.flatnonzero(leaves.refs < 0)
    names = pa.array(leaves.names, pa.string()).take(pa.array(leaves.roles[timers]))
    members = hash_members(ids, copies, timers, names, leaves.times[timers])
    fold_paths(members, leaves.paths)
    # Without a key, matches have the ids that a key which is null would give them.
    columns = list(keys) or [pa.nulls(int(key.max(initial=-1)) + 1, pa.string())]
    return match_ids(prefixes, which, hash_rows(columns, len(columns[0])), key, leaves.offsets, members)


def _keys(result: Result, matches: Matches, types: Sequence[pa.DataType]) -> tuple[list[pa.Array], Array]:
    """The columns of the distinct keys of the matches, and the index of the key of each match."""
    numbers, key = np.unique(matches.key, return_inverse=True)
    columns = result.keys.take(numbers).columns
    return [_typed(column, type) for column, type in zip(columns, types, strict=True)], key


def _typed(column: Column, type: pa.DataType) -> pa.Array:
    return pa.array(column, type) if isinstance(column, list) else column.cast(type)


def _constituents(result: Result, leaves: Leaves, ids: pa.Array, type: pa.ListType) -> pa.Array:
    events, indices = result.events, _indices(leaves)
    timer = leaves.refs < 0
    timers = bool(timer.any())
    types = events.column("type").take(indices).combine_chunks().cast(pa.string())
    fields = {
        "role": pa.array(leaves.names, pa.string()).take(pa.array(leaves.roles)),
        "type": pc.if_else(pa.array(timer), "timer", types) if timers else types,
        "id": ids,
        "path": leaves.paths,
    }
    for name in ("start", "end"):
        # Events without a length travel without `start`.
        column = events.column(name if name in events.column_names else "end")
        moments = column.take(indices).combine_chunks()
        if timers:
            moments = pc.if_else(pa.array(timer), pa.array(leaves.times), moments)
        fields[name] = moments.cast(pa.int64()).cast(MOMENT)
    struct = type.value_type
    if (at := struct.get_field_index("attributes")) >= 0:
        # Cast, because very large text columns travel with wide offsets.
        fields["attributes"] = (
            events.column("attributes").take(indices).combine_chunks().cast(struct.field(at).type)
        )
    arrays = [fields[field.name] for field in struct]
    return pa.ListArray.from_arrays(
        pa.array(leaves.offsets, pa.int32()), pa.StructArray.from_arrays(arrays, fields=list(struct))
    )


def _variables(detector: Detector, result: Result, matches: Matches) -> pa.Array:
    names = pa.array(detector.variable_names, pa.string())
    bound = matches.variables >= 0
    offsets = np.concatenate([[0], np.cumsum(bound.sum(axis=1))])
    numbers, which = np.unique(matches.variables[bound], return_inverse=True)
    texts = pa.array([as_text(result.values[number]) for number in numbers.tolist()], pa.string())
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        names.take(pa.array(np.nonzero(bound)[1])),
        texts.take(pa.array(which)),
    )
