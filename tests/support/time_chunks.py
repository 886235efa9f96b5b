"""Events as the rows a task prepares, without a key, and the matches found in them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from support.table_columns import ARROW
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.execute import holds
from tocsin.events import Event
from tocsin.runtime.batch.partition import Job
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.program import to_bytes, travelling
from tocsin.runtime.results.match_rows import match_schema

SCHEMA = match_schema([], None)


def job_of(compiled: Compiled) -> Job:
    return Job(to_bytes(compiled.plan), SCHEMA.serialize().to_pybytes(), 0, MAX_TOKENS)


def prepared(compiled: Compiled, events: Sequence[Event]) -> pa.Table:
    """Events as the rows that Spark prepares, without a key."""
    words = [0] * len(events)
    for bit, test in compiled.tests:
        words = [word | holds(test, event) << bit for word, event in zip(words, events, strict=True)]
    columns = {
        "start": pa.array([e.interval.start for e in events], pa.int64()),
        "end": pa.array([e.interval.end for e in events], pa.int64()),
        "id": pa.array([e.id for e in events], pa.int64()),
        "type": pa.array([min(e.types) for e in events], pa.string()),
    }
    for number in range(compiled.plan.words):
        own = [word >> 64 * number & (1 << 64) - 1 for word in words]
        columns[f"bits{number}"] = pa.array(own, pa.uint64()).view(pa.int64())
    for prefix, names in (("value", compiled.plan.columns), ("field", ARROW)):
        for name in names:
            values = pa.array([e.attributes.get(name) for e in events], ARROW.get(name, pa.string()))
            columns[travelling(prefix, name)] = values
    return pa.table(columns)


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())
