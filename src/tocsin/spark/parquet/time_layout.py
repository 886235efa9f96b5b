"""Cut Parquet files whose events are roughly ordered by time into chunks that each task reads on its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import pairwise

import numpy as np
from pyspark.sql import types as T

from tocsin.events import MICROSECONDS
from tocsin.runtime.batch.parquet_chunks import LEAD
from tocsin.runtime.program import Array
from tocsin.runtime.read.parquet_columns import Moment
from tocsin.runtime.transport.time_chunks import ALWAYS, Chunk, Layout, far_apart
from tocsin.spark.events.naming import known_type
from tocsin.spark.parquet.row_groups import CannotReadError, RowGroup, task_count
from tocsin.spark.query import UTC_NAMES

_TWICE = 0.5  # of the rows may be read more than once; beyond that, a shuffle of the events costs less
_FEW = 2_000_000  # rows that one task reads and searches faster than events could be shuffled
_SLACK = 1_000  # microseconds by which a computed moment may be wrong
_EPOCH_DAY = date(1970, 1, 1).toordinal()


def lay_out(
    groups: Sequence[RowGroup], end: Moment, longest: int, *, chains: bool, cores: int
) -> Layout | None:
    """Return the chunks that tasks can read on their own; None if events are too far from the order of time.

    Args:
        end: how the times of the groups are converted.
        longest: how many microseconds a match can last.
        chains: whether the matches in a chunk can depend on matches that ended before it.
    """
    spans = times_of(groups, end)
    if spans is None:
        return None
    least, most = spans[:, 0] - _SLACK, spans[:, 1] + _SLACK
    rows = np.array([group.rows for group in groups])
    around = (LEAD * longest, longest) if chains else (longest, 0)
    for count in _counts(groups, int(rows.sum()), cores):
        chunks = _chunks(most, rows, around, count)
        if chunks is not None and _read_twice(chunks, least, most, rows, around) <= _TWICE * rows.sum():
            break
    else:
        return None
    files = {file: number for number, file in enumerate(dict.fromkeys(group.file for group in groups))}
    return Layout(
        tuple(files),
        np.array([files[group.file] for group in groups]),
        np.array([group.number for group in groups]),
        least,
        most,
        chunks,
        longest,
    )


def _counts(groups: Sequence[RowGroup], rows: int, cores: int) -> list[int]:
    """Return the numbers of chunks to try, the best first."""
    wanted = [task_count(groups, cores), cores] + [1] * (rows <= _FEW)
    return [count for count in dict.fromkeys(wanted) if count <= len(groups)]


def times_of(groups: Sequence[RowGroup], end: Moment) -> Array | None:
    """Return the approximate first and last end of each group, in microseconds: int64 (groups, 2).

    None if the files have no usable statistics.
    """
    spans: list[list[float]] = []
    for group in groups:
        if group.times is None:
            return None
        spans.append([reckoned(moment, end) for moment in group.times])
    found = np.array(spans, np.float64)
    # A floating-point time column may contain values that are not times.
    return found.astype(np.int64) if len(found) and (np.abs(found) < ALWAYS.until).all() else None


def reckoned(value: object, moment: Moment) -> float:
    """Convert a value of a time column to approximate microseconds."""
    match value:
        case datetime():
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * MICROSECONDS["s"]
        case date():
            return value.toordinal() * MICROSECONDS["d"] - _EPOCH_DAY * MICROSECONDS["d"]
        case int() | float():
            return value / 1000 if moment.form == "nanoseconds" else float(value * moment.factor)
        case _:
            raise TypeError(f"{value!r} is not a time")


def even_cuts(groups: Sequence[RowGroup], end: Moment, chunks: int, apart: int) -> tuple[int, ...]:
    """Return moments that cut the events into about equal chunks, from the footers; none without statistics.

    The matches do not depend on where the moments are.
    """
    spans = times_of(groups, end)
    if spans is None:
        return ()
    # Assumes that the events of a row group are spread evenly over its time.
    moments = np.concatenate([np.linspace(first, last, 64) for first, last in spans])
    weights = np.repeat([group.rows for group in groups], 64)
    order = np.argsort(moments, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    places = np.searchsorted(shares, np.arange(1, chunks) / chunks)
    return tuple(far_apart([int(moments[order][place]) for place in places], apart).tolist())


def moment_of(name: str, schema: T.StructType, unit: str | None, time_zone: str) -> Moment:
    """Return how to convert a time column to microseconds, as `columns.micros` does."""
    type = known_type(schema, name)
    if isinstance(type, T.TimestampType | T.TimestampNTZType | T.DateType):
        if not isinstance(type, T.TimestampType) and time_zone not in UTC_NAMES:
            raise CannotReadError(f"{name!r} has no time zone, and that of the session is not UTC")
        return Moment(name, "time")
    if not isinstance(type, T.IntegralType | T.DoubleType):
        raise CannotReadError(f"the time {name!r} is {type.simpleString()}")
    assert unit is not None
    if unit == "ns":
        return Moment(name, "nanoseconds")
    return Moment(name, "whole" if isinstance(type, T.IntegralType) else "float", MICROSECONDS[unit])


def _chunks(most: Array, rows: Array, around: tuple[int, int], count: int) -> tuple[Chunk, ...] | None:
    """Return `count` chunks of about equal reading effort that end where groups end; None if that is not possible."""
    order = np.argsort(most, kind="stable")
    ends, upto = most[order], np.cumsum(rows[order])
    # The margins read before and after a chunk count as well; the first and the last chunk have only one.
    pace = upto[-1] / max(1, int(ends[-1] - ends[0]))
    before, behind = (min(pace * length, upto[-1] / count) for length in around)
    share = (upto[-1] + (count - 1) * (before + behind)) / count
    wanted = [share * n - before * (n - 1) - behind * n for n in range(1, count)]
    cuts = [int(ends[min(int(np.searchsorted(upto, rows)), len(ends) - 1)]) for rows in wanted]
    edges = [ALWAYS.after, *cuts, ALWAYS.until]
    ascend = all(earlier < later for earlier, later in pairwise(edges))
    if not ascend or (cuts and cuts[-1] >= ends[-1]):
        return None
    return tuple(Chunk(after, until) for after, until in pairwise(edges))


def _read_twice(
    chunks: Sequence[Chunk], least: Array, most: Array, rows: Array, around: tuple[int, int]
) -> int:
    """Estimate how many more rows are read than there are."""
    before, behind = around
    # As floats, which do not overflow at the bounds of time.
    first, last = least.astype(np.float64), most.astype(np.float64)
    read = sum(
        int(rows[(last > after - before) & (first <= until + behind)].sum()) for after, until in chunks
    )
    return read - int(rows.sum())
