"""Many predicates looked up where the events of a stream are packed, in place of bits that Spark evaluates.

Planning and compiling more than one word of predicates takes Spark longer than looking them up. The columns that predicates
compare travel from Spark to the packing step and no further: shards receive `bits0`, … as if Spark had evaluated them.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from tocsin.runtime.predicates import index as rq


class WorkerLookup(NamedTuple):
    """The predicates of a job, and the columns that they compare."""

    predicates: rq.Index
    columns: tuple[str, ...]


def with_bits(lookup: WorkerLookup, events: pa.Table) -> pa.Table:
    """The relevant events, with bits in place of the columns that predicates compare."""
    numbers, distinct = rq.numbered(lookup.predicates, events)
    rows = rq.rows_of(numbers, rq.relevant(lookup.predicates, distinct))
    found = without_compared(lookup, events).take(pa.array(rows))
    bits = rq.answers(lookup.predicates, distinct)[numbers[rows]]
    for word in range(lookup.predicates.words):
        found = found.append_column(f"bits{word}", pa.array(bits[:, word].copy().view("int64")))
    return found


def without_compared(lookup: WorkerLookup, events: pa.Table) -> pa.Table:
    """The events without the columns that predicates compare."""
    return events.drop_columns([name for name in lookup.columns if name in events.column_names])
