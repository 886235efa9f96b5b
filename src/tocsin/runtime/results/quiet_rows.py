"""Hold back alerts: after one of a rule and key was heard, none is for a while (see `algebra.quiet`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

FIRST = "tocsin:first"  # the column that says where the alerts of the next rule and key begin
END = "tocsin:end"  # the end of an alert, in microseconds


def hold_back(ends: Sequence[int], quiet: int, last: int | None = None) -> tuple[list[bool], int | None]:
    """For each alert of a rule and key whether it is heard, and the end of the last that was.

    Args:
        last: the end of the last alert that was heard before these.

    >>> hold_back([0, 10, 60], 60), hold_back([100, 120], 60, 60)
    (([True, False, True], 60), ([False, True], 120))
    """
    reported = []
    for end in ends:
        reported.append(last is None or end - last >= quiet)
        if reported[-1]:
            last = end
    return reported, last


def quiet_partition(quiet: Mapping[str, int], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Worker entry point: the rows that are heard, of rows that come by rule, key and order of their ends."""
    last: int | None = None
    for batch in batches:
        firsts = batch.column(FIRST).to_pylist()
        ends, patterns = batch.column(END).to_pylist(), batch.column("pattern").to_pylist()
        reported = np.zeros(batch.num_rows, np.bool_)
        for row, (first, end, pattern) in enumerate(zip(firsts, ends, patterns, strict=True)):
            (heard,), last = hold_back([end], quiet[pattern], None if first else last)
            reported[row] = heard
        yield batch.filter(pa.array(reported)).drop_columns([FIRST, END])
