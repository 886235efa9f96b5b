"""Predicates that are evaluated in the shard when events are decided, because the rules may change until then.

Until then events wait with all columns that rules may name: `attributes`, which matches carry, and `value:NAME` for columns
that are not among those. The result has the columns of `partition`.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.predicates import index as rq
from tocsin.runtime.predicates.derived import derived_column
from tocsin.runtime.program import Array, Plan, travelling
from tocsin.runtime.rows.field_path import column_at
from tocsin.runtime.rows.microseconds import as_micros


class Asking(NamedTuple):
    """The predicates of rules, and the columns that they and the plan need."""

    predicates: rq.Index
    asked: tuple[tuple[str, rq.Operand], ...]  # operands as in `spark.events.arrow_predicates`
    fields: tuple[str, ...]  # attributes that conditions and outputs read
    known: frozenset[str]  # the attributes that events have
    type: str | None  # the column of the types
    source: str | None


def to_bytes(asking: Asking) -> bytes:
    """The predicates as bytes, as a pace group receives them."""
    return pickle.dumps(asking, protocol=5)


@lru_cache(maxsize=16)
def _from_bytes(data: bytes) -> Asking:
    asking = pickle.loads(data)
    assert isinstance(asking, Asking)
    return asking


def asked_for(asks: bytes, plan: Plan, events: pa.Table) -> Array:
    """Which events are relevant to some detector of a plan."""
    return _bits(_from_bytes(asks), plan, events)[1]


def answered(asks: bytes, plan: Plan, events: pa.Table) -> pa.Table:
    """The events that are relevant to some detector of a plan, with their bits, and the values and fields that it needs."""
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
    """The bits of each event, and whether it is relevant to some detector."""
    domain = np.zeros(plan.words, np.uint64)
    for detector in plan.detectors:
        domain |= np.bitwise_or.reduce(detector.program.domain, axis=0)
    columns = {name: _operand(asking, events, operand) for name, operand in asking.asked}
    table = pa.table(columns) if columns else pa.table({"": pa.nulls(events.num_rows)})
    numbers, distinct = rq.numbered(asking.predicates, table)
    bits: Array = rq.answers(asking.predicates, distinct)[numbers]
    used: Array = np.any(bits & domain, axis=1)
    return bits, used


def _operand(asking: Asking, events: pa.Table, operand: rq.Operand) -> pa.ChunkedArray:
    def attribute(name: str) -> pa.ChunkedArray:
        column = _attribute(asking, events, name)
        moment = pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)
        return as_micros(column) if moment else column

    if (derived := derived_column(operand, attribute)) is not None:
        return derived
    match operand:
        case ("attribute", str(name)):
            return attribute(name)
        case ("end",):
            return events.column("end")
        case ("source",):
            return _attribute(asking, events, str(asking.source)).cast(pa.string())
        case _:
            types = _attribute(asking, events, str(asking.type))
            return types.cast(pa.string()) if pa.types.is_integer(types.type) else types


def _field(asking: Asking, events: pa.Table, name: str) -> pa.ChunkedArray:
    """The column of a field, equal to what `spark.events.fields.field_column` returns."""
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
    """An attribute of the events; all null for a name that is only a variable of composites."""
    if name not in asking.known:
        alike = [one for one in asking.known if one.lower() == name.lower()]
        if not alike:
            return _nothing(events)
        name = alike[0]
    own = travelling("value", name)
    if own in events.column_names:
        return events.column(own)
    return column_at(pa.table({"attributes": events.column("attributes")}), f"attributes.{name}")


def _nothing(events: pa.Table) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(events.num_rows, pa.string())])
