"""Times and dates as microseconds since 1970-01-01 UTC, the only form of time in detection."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_DAY = 86_400_000_000


def as_micros(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of times or dates in microseconds since 1970-01-01 UTC."""
    if pa.types.is_date(column.type):
        return pc.multiply(column.cast(pa.int32()).cast(pa.int64()), _DAY)
    return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
