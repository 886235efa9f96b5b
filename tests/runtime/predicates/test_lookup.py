"""Predicates looked up where a stream is packed give the bits that evaluating them one by one gives, for the same events."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from support.one_shard import SCHEMA, Shard, prepared, rows
from support.strategies import subscriptions, traces
from support.table_columns import ARROW, of_columns
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.compile import compile
from tocsin.events import Catalog, Event
from tocsin.runtime.batch.partition import bits_of
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.predicates.derived import derived_column
from tocsin.runtime.predicates.lookup import WorkerLookup, with_bits, without_compared
from tocsin.runtime.stream.arrivals import EVENTS, FOR_JOB, MARKS, ArrivalJob, pack_arrivals
from tocsin.runtime.transport.pack import from_ipc
from tocsin.spark.events.arrow_predicates import Lookup, arrow_predicates, domain_of
from tocsin.spark.query import EventColumns

COLUMNS = EventColumns("types", "Event", ("start", "end"), None, ("key",), "id", None)
TYPES = T.StructType(
    [
        T.StructField("types", T.ArrayType(T.StringType())),
        T.StructField("k", T.LongType()),
        T.StructField("v", T.DoubleType()),
        T.StructField("s", T.StringType()),
        T.StructField("f", T.BooleanType()),
    ]
)


def compared(asked: Lookup, events: list[Event]) -> dict[str, pa.Array]:
    """The columns that predicates compare, as Spark hands them over."""

    def attribute(name: str) -> pa.Array:
        return pa.array([e.attributes.get(name) for e in events], ARROW[name])

    found = {}
    for name, operand in asked.columns.items():
        if operand == ("type",):
            found[name] = pa.array([sorted(e.types) for e in events], pa.list_(pa.string()))
        else:
            truths = derived_column(operand, attribute)
            found[name] = attribute(operand[1]) if truths is None else truths
    return found


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=80)
@given(
    st.lists(subscriptions().filter(of_columns), min_size=1, max_size=6),
    traces(max_size=16, keys=("p", "q")),
    st.integers(0, 16),
)
def test_a_lookup_gives_the_bits_of_each_predicate(
    many: list[Subscription], events: list[Event], ours: int
) -> None:
    compiled = compile(many)
    asked = arrow_predicates(compiled, Catalog(), TYPES, COLUMNS)
    assert isinstance(asked, Lookup)
    lookup = WorkerLookup(asked.index, tuple(asked.columns))
    table, domain, words = prepared(compiled, events), domain_of(compiled), compiled.plan.words
    bits = [f"bits{word}" for word in range(words)]
    given = table.drop_columns(bits)
    for name, column in compared(asked, events).items():
        given = given.append_column(name, column)
    relevant = (bits_of(table, words) & domain).any(axis=1)
    assert with_bits(lookup, given).select(table.column_names).equals(table.filter(pa.array(relevant)))
    assert without_compared(lookup, given).equals(table.drop_columns(bits))
    # And on the way to the shards: the same events arrive and are matched, and all others advance the watermark.
    wanted = pa.array(np.arange(len(events)) < ours)
    arrived = {}
    for job, sent in (
        (ArrivalJob(1, 1, domain, False), table),
        (ArrivalJob(1, 1, domain, False, lookup), given),
    ):
        packed = pack_arrivals(job, sent.append_column(FOR_JOB, wanted).to_batches())
        own = {row["kind"]: from_ipc(row["packed"]) for batch in packed for row in batch.to_pylist()}
        marks = own.get(MARKS)
        found = Shard(compiled).advance(own.get(EVENTS), FOREVER) if EVENTS in own else SCHEMA.empty_table()
        arrived[job.lookup is None] = (None if marks is None else marks.to_pylist(), rows(found))
    assert arrived[True] == arrived[False]
