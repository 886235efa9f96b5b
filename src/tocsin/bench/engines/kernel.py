"""The bare kernels: events in memory, sorted by key and time, into `runtime.feed`; only those calls are timed.

Partitions are fed in slices of whole keys, as a Spark worker does.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal
from tocsin.algebra.tokens.selection import COUNT
from tocsin.automata.detection_plan import BitTest, Compiled
from tocsin.bench.events import Columns, SortedEvents
from tocsin.bench.job import Found, Job, Round
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.events import Catalog
from tocsin.languages.registry import plain_language
from tocsin.runtime.batch.partition import SLICE, batch_of
from tocsin.runtime.feed import Result, feed
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.state import initial
from tocsin.values import Relation

Array = np.ndarray[Any, Any]

_RELATIONS = {
    Relation.EQ: operator.eq,
    Relation.NE: operator.ne,
    Relation.LT: operator.lt,
    Relation.LE: operator.le,
    Relation.GT: operator.gt,
    Relation.GE: operator.ge,
}


def prepare(job: Job) -> Round:
    """Compile the patterns and evaluate their predicates on single events, as Spark does before the kernels run."""
    catalog = Catalog(common={"key": "number", "ts": "number", "v": "number"})
    named = job.workload.patterns(job.window)
    texts = named_texts(named, plain_language(job.workload.family))
    compiled = plan_texts(texts, KnownEvents(catalog=catalog)).compiled
    plan, keys = compiled.plan, int(job.keys > 1)
    slices = list(_slices(_table(compiled, SortedEvents(Path(job.path)).columns), keyed=job.keys > 1))

    def round() -> Any:
        results = [
            feed(plan, initial(plan), batch_of(plan, part, None, keys), FOREVER, keep=False)
            for part in slices
        ]
        return lambda: _total([_found(compiled, result, job.workload.counted) for result in results])

    return round


def _total(found: list[Found]) -> Found:
    counted = found[0].span_sum is None
    return Found(
        sum(one.matches or 0 for one in found), None if counted else sum(one.span_sum or 0 for one in found)
    )


def _slices(table: pa.Table, keyed: bool) -> Iterator[pa.Table]:
    """The table in pieces of whole keys, as large as the slices of a partition."""
    starts = np.zeros(1, np.int64)
    if keyed:
        keys = table.column("key0").to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    bounds = np.append(starts, table.num_rows)
    first = 0
    while first < table.num_rows:
        at = int(np.searchsorted(bounds, first + SLICE, "right")) - 1
        stop = int(bounds[at]) if bounds[at] > first else int(bounds[at + 1])
        yield table.slice(first, stop - first)
        first = stop


def _table(compiled: Compiled, events: Columns) -> pa.Table:
    """The columns that a worker gets, with bits in the narrowest type, as in Spark."""
    bits = np.zeros((compiled.plan.words, len(events.time)), np.uint64)
    for bit, test in compiled.tests:
        assert isinstance(test, BitTest)
        bits[bit >> 6] |= _answers(test, events).astype(np.uint64) << np.uint64(bit & 63)
    narrow = len(compiled.tests) <= 7
    words = {
        f"bits{n}": word.astype(np.int8) if narrow else word.view(np.int64) for n, word in enumerate(bits)
    }
    return pa.table({"key0": events.key, "end": events.time * 1_000, "ts": events.time, **words})


def _answers(test: BitTest, events: Columns) -> Array:
    of_type = np.ones(len(events.key), np.bool_) if test.type is None else events.is_type(test.type)
    if test.filter is None:
        return of_type
    answers: Array = of_type & (_truth(test.filter, events) == test.truth)
    return answers


def _truth(filter: Filter, events: Columns) -> Array:
    match filter:
        case Compare(Attribute("v"), relation, Literal(value)):
            truth: Array = _RELATIONS[relation](events.value, value)
            return truth
        case _:
            raise TypeError(f"no workload asks for {filter}")


def _found(compiled: Compiled, result: Result, counted: bool) -> Found:
    matches = spans = 0
    for output in compiled.plan.outputs:
        for number in output.detectors:
            found = result.matches[number]
            if counted:
                place = compiled.plan.detectors[number].variable_names.index(COUNT)
                matches += sum(int(result.values[n]) for n in found.variables[:, place].tolist())
                continue
            matches += len(found.key)
            spans += int((found.end - found.start).sum()) // 1_000
    return Found(matches, None if counted else spans)
