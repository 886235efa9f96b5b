"""Collect the types of events that tasks see while they read, to warn of types that a pattern names and no event has.

Each task reports once; the last report of a stage completes the picture, and the warning comes before the action returns.
Where Spark evaluates predicates, it drops events that no pattern looks at before a task sees them: then only types that are
named without a filter are reported. Nothing is read for this alone.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from pyspark import Accumulator

from tocsin.errors import TocsinWarning
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.spark.events.doubts import named_types, never_occur, sole_type
from tocsin.spark.observe.task_reports import JoinReports, Reports, Work, pack_reporting, read_reporting
from tocsin.spark.query import Query
from tocsin.spark.session.session import is_remote

_UNKNOWN = 1 << 62  # more tasks than there can be


class TypesSeen:
    """Collects the types that the tasks of one query see, and warns of those that are named and never occur."""

    def __init__(self, query: Query, warn: Callable[[TocsinWarning], None], stages: int) -> None:
        context = query.spark.sparkContext
        self._tracker = context.statusTracker()
        self._warn: Callable[[TocsinWarning], None] | None = warn
        self._tasks: int | None = None  # that read files; None if Spark reads them
        self._stages = stages  # that have to report: the first micro-batches of a stream, or one
        self._catalog = query.catalog
        self._named = _asked(query)
        # A bit without a filter is set in every event of its type.
        self._bits: dict[str, int] = {
            type: bit
            for bit, test in query.compiled.tests
            if (type := sole_type(test)) is not None and type in self._named
        }
        self._column = query.columns.type
        self._reports: Accumulator[Reports] = context.accumulator({}, JoinReports(self._conclude))

    def reading(self, work: Work, reading: ReadJob, tasks: int, *others: Any) -> Work:
        """Return work over files that reports the types in them."""
        self._tasks = tasks
        return partial(read_reporting, self._reports, work, reading, others)

    def packing(self, work: Work, words: int) -> Work:
        """Return work over prepared rows that reports their bits."""
        return partial(pack_reporting, self._reports, work, words)

    def _conclude(self, reports: Reports) -> None:
        """Warn of types that never occur, once all tasks of enough stages have reported."""
        if self._warn is None:
            reports.clear()
            return
        counts = Counter(stage for stage, _ in reports)
        complete = [stage for stage, count in counts.items() if count >= (self._tasks or self._count(stage))]
        if len(complete) < self._stages:
            return
        warn, self._warn = self._warn, None
        found = frozenset[object]().union(*reports.values())
        if self._tasks is None:
            missing = [name for name, bit in self._bits.items() if bit not in found]
            there = [name for name, bit in self._bits.items() if bit in found]
            hint = f"events.groupBy({self._column!r}).count() shows all types"
        else:
            there, hint = [str(type) for type in found], ""
            missing = [name for name in self._named if not self._catalog.members(name) & set(there)]
        if missing:
            # Raised here, where warnings are errors, it would break Spark's connection and not reach the user.
            with suppress(TocsinWarning):
                warn(never_occur(missing, there, hint))

    def _count(self, stage: int) -> int:
        info = self._tracker.getStageInfo(stage)
        return _UNKNOWN if info is None else info.numTasks


def types_seen(
    query: Query,
    warn: Callable[[TocsinWarning], None] = warnings.warn,
    *,
    stages: int = 1,
) -> TypesSeen | None:
    """Return what collects the types of a query's events; None if there is nothing to ask, or no way to report.

    Args:
        stages: how many stages have to report before the first warning.
    """
    asked = query.columns.type is not None and bool(_asked(query))
    return TypesSeen(query, warn, stages) if asked and not is_remote(query.spark) else None


def _asked(query: Query) -> list[str]:
    """Return the types that patterns name, but not those that are declared, which are known to be no mistakes."""
    return [name for name in named_types(query.compiled) if name not in query.catalog.names]
