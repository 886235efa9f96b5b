"""Questions about single events that are asked in the shard, when events are decided: their rules may change until then.

Until then events wait with all columns that rules may name: `attributes`, which matches carry, and `value:NAME` for what
is not among those. What comes out has the columns of `partition`.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime import questions as rq
from tocsin.runtime.file_columns import as_micros
from tocsin.runtime.program import Array, Plan, travelling


class Asking(NamedTuple):
    """The questions of rules, and where the columns are that they and the plan ask for."""

    questions: rq.Index
    asked: tuple[tuple[str, rq.Operand], ...]  # operands as in `spark.questions`
    fields: tuple[str, ...]  # what conditions and outputs take from events
    known: frozenset[str]  # the attributes that events have
    type: str | None  # the column of the types
    source: str | None


def to_bytes(asking: Asking) -> bytes:
    """What a line is told."""
    return pickle.dumps(asking, protocol=5)


@lru_cache(maxsize=16)
def _from_bytes(data: bytes) -> Asking:
    asking = pickle.loads(data)
    assert isinstance(asking, Asking)
    return asking


def asked_for(asks: bytes, plan: Plan, events: pa.Table) -> Array:
    """Which events some detector of a plan looks at."""
    return _bits(_from_bytes(asks), plan, events)[1]


def answered(asks: bytes, plan: Plan, events: pa.Table) -> pa.Table:
    """The events that some detector of a plan looks at, with answers, and the values and fields it asks for."""
    asking = _from_bytes(asks)
    bits, used = _bits(asking, plan, events)
    rows = pa.array(np.flatnonzero(used))
    part = events.take(rows).combine_chunks()
    raw = [name for name in part.column_names if name.startswith("value:")]
    made = part.drop_columns(raw)
    for word in range(plan.words):
        made = made.append_column(f"bits{word}", pa.array(bits[used, word].view(np.int64)))
    for name in plan.columns:
        made = made.append_column(travelling("value", name), _attribute(asking, part, name))
    for name in asking.fields:
        made = made.append_column(travelling("field", name), _field(asking, part, name))
    return made


def _bits(asking: Asking, plan: Plan, events: pa.Table) -> tuple[Array, Array]:
    """The answers of each event, and whether some detector looks at it."""
    domain = np.zeros(plan.words, np.uint64)
    for detector in plan.detectors:
        domain |= np.bitwise_or.reduce(detector.program.domain, axis=0)
    columns = {name: _operand(asking, events, operand) for name, operand in asking.asked}
    table = pa.table(columns) if columns else pa.table({"": pa.nulls(events.num_rows)})
    numbers, distinct = rq.numbered(asking.questions, table)
    bits: Array = rq.answers(asking.questions, distinct)[numbers]
    used: Array = np.any(bits & domain, axis=1)
    return bits, used


def _operand(asking: Asking, events: pa.Table, operand: rq.Operand) -> pa.ChunkedArray:
    match operand:
        case ("attribute", str(name)):
            column = _attribute(asking, events, name)
            moment = pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)
            return as_micros(column) if moment else column
        case ("end",):
            return events.column("end")
        case ("source",):
            return _attribute(asking, events, str(asking.source)).cast(pa.string())
        case _:
            return _attribute(asking, events, str(asking.type))


def _field(asking: Asking, events: pa.Table, name: str) -> pa.ChunkedArray:
    """What `spark.fields.field_column` gives."""
    if name == "timestamp":
        return events.column("end")
    if name == "type":
        return events.column("type").cast(pa.string())
    if name == "source":
        if asking.source is None:
            return _nothing(events)
        return _attribute(asking, events, asking.source).cast(pa.string())
    return _attribute(asking, events, name)


def _attribute(asking: Asking, events: pa.Table, name: str) -> pa.ChunkedArray:
    """An attribute of the events; a name that is only a variable of composites has no values."""
    if name not in asking.known:
        return _nothing(events)
    own = travelling("value", name)
    if own in events.column_names:
        return events.column(own)
    return pc.struct_field(events.column("attributes"), name.split("."))


def _nothing(events: pa.Table) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(events.num_rows, pa.string())])
