"""Times and dates as microseconds since 1970-01-01 UTC, the only form of time in detection."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

DAY = 86_400_000_000
LAST_DAY = (2**63 - 1) // DAY  # in the year 294247; a date may lie far beyond


def as_micros(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of times or dates in microseconds since 1970-01-01 UTC, rounded down.

    Dates that do not fit are the last that does.
    """
    if pa.types.is_date(column.type):
        days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        days = pc.max_element_wise(days, -LAST_DAY, skip_nulls=False)
        return pc.multiply(pc.min_element_wise(days, LAST_DAY, skip_nulls=False), DAY)
    if column.type.unit == "ns":
        # Without a zone, because none is needed to cut nanoseconds off, and to look one up takes time.
        column = pc.floor_temporal(column.cast(pa.int64()).cast(pa.timestamp("ns")), unit="microsecond")
    return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
