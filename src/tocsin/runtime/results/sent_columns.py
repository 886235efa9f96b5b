"""The events that detectors of the completion family send, as columns of the table of matches.

| column | type | meaning |
|---|---|---|
| `what` | string | `push`; `success` or `failure`: an expression completes; or `trigger`, `skipped`, `dead` (see KSU) |
| `type` | string | the type of the event that is sent; the branch of a trigger |
| `value` | string | a constant; the name of an event that is sent on; the labels of a trigger; the event that was missing |
| `output` | struct | a field for each type of events that are sent, which is null except in the rows of that type |
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tocsin.errors import InputError
from tocsin.runtime.feed import Result
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.program import Array, Detector, Emission, travelling
from tocsin.runtime.results.constituents import Leaves


def output_columns(
    result: Result, detector: Detector, matches: Matches, leaves: Leaves, schema: pa.Schema
) -> dict[str, pa.Array]:
    """The columns of a schema from `what` on; without `output` if no emission has attributes."""
    assert matches.emissions is not None
    names = schema.names[schema.names.index("what") :]
    order = np.argsort(matches.emissions, kind="stable")
    back = pa.array(np.argsort(order, kind="stable"))
    parts: dict[str, list[pa.Array]] = {name: [] for name in names}
    for number in np.unique(matches.emissions).tolist():
        emission = detector.emissions[number]
        rows = np.flatnonzero(matches.emissions == number)
        parts["what"].append(pa.array([emission.what] * len(rows), pa.string()))
        parts["type"].append(_types(result, emission, leaves, rows))
        parts["value"].append(pa.array([emission.value] * len(rows), pa.string()))
        if "output" in parts:
            parts["output"].append(_output(result, emission, leaves, rows, schema.field("output").type))
    return {
        name: pa.concat_arrays(parts[name]).take(back)
        if parts[name]
        else pa.array([], schema.field(name).type)
        for name in names
    }


def _types(result: Result, emission: Emission, leaves: Leaves, rows: Array) -> pa.Array:
    if emission.forwards is None or emission.what != "push":
        return pa.array([emission.type] * len(rows), pa.string())
    refs = _refs(leaves, emission.forwards, rows)
    return result.events.column("type").take(refs).combine_chunks().cast(pa.string())


def _output(
    result: Result, emission: Emission, leaves: Leaves, rows: Array, tables: pa.StructType
) -> pa.Array:
    """The struct of one emission's rows; all of its fields are null except the one that the emission fills."""
    arrays = []
    for field in tables:
        if emission.what == "push" and emission.table == field.name:
            arrays.append(_attributes(result, emission, leaves, rows, field.type))
        else:
            arrays.append(pa.nulls(len(rows), field.type))
    return pa.StructArray.from_arrays(arrays, fields=list(tables))


def _attributes(
    result: Result, emission: Emission, leaves: Leaves, rows: Array, type: pa.StructType
) -> pa.Array:
    given = dict(emission.fields)
    carried = None
    if emission.forwards is not None and result.events.column_names.count("attributes"):
        refs = _refs(leaves, emission.forwards, rows)
        carried = result.events.column("attributes").take(refs).combine_chunks()
    arrays = []
    for field in type:
        source = given.get(field.name)
        if source is not None and source[0] == "literal":
            arrays.append(pa.array([source[1]] * len(rows), field.type))
        elif source is not None:
            column = result.events.column(travelling("field", source[2])).take(_refs(leaves, source[1], rows))
            arrays.append(_cast(column.combine_chunks(), field, emission))
        elif carried is not None and carried.type.get_field_index(field.name) >= 0:
            arrays.append(_cast(carried.field(field.name), field, emission))
        else:
            arrays.append(pa.nulls(len(rows), field.type))
    return pa.StructArray.from_arrays(arrays, fields=list(type))


def _cast(values: pa.Array, field: pa.Field, emission: Emission) -> pa.Array:
    try:
        return values.cast(field.type)
    except pa.ArrowInvalid as problem:
        message = f"{field.name!r} of {emission.table!r} is declared as {field.type}: {problem}"
        raise InputError(
            "wrong-type", message, hint="correct the values, or the type of the attribute"
        ) from None


def _refs(leaves: Leaves, role: str, rows: Array) -> pa.Array:
    """The event that has a role in each match; for an empty role the one that completed it.

    Of two, the first: it was stored, and the other only completed the match.
    """
    if not role:
        return pa.array(leaves.refs[leaves.offsets[rows + 1] - 1])
    places = np.repeat(np.arange(len(leaves.offsets) - 1), np.diff(leaves.offsets))
    named = np.array([name == role for name in leaves.names], np.bool_)[leaves.roles]
    found = np.full(len(leaves.offsets) - 1, -1, np.int64)
    found[places[named][::-1]] = leaves.refs[named][::-1]
    return pa.array(found[rows], mask=found[rows] < 0)
