"""Filters of tables over Parquet files, evaluated by Arrow as Spark would."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin.runtime.read.parquet_columns import OpenFiles
from tocsin.runtime.read.parquet_scan import Scan, holds, read_scan

NAN = float("nan")
ROWS = pa.table(
    {
        "small": pa.array([1, None, 3], pa.int8()),
        "part": pa.array([0.5, NAN, None]),
        "name": pa.array(["ab", "b", None]).dictionary_encode(),
        "at": pa.array([datetime(2024, 1, 30, tzinfo=UTC), None, datetime(1969, 12, 31, tzinfo=UTC)]),
        "day": pa.array([date(1970, 1, 2), date(1969, 12, 31), None]),
        "yes": pa.array([True, False, None]),
    }
)


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        (("compare", "<", "small", 3), [True, None, False]),
        (("compare", "=", "small", 300), [False, None, False]),
        # NaN is greater than every number, and nothing else is equal to it.
        (("compare", ">", "part", 7.0), [False, True, None]),
        (("compare", "<=", "part", 7.0), [True, False, None]),
        (("not", ("compare", ">=", "part", 0.5)), [False, False, None]),
        (("compare", ">=", "name", "b"), [False, True, None]),
        (("text", "starts", "name", "a"), [True, False, None]),
        (("text", "contains", "name", "b"), [True, True, None]),
        (("text", "ends", "name", "a"), [False, False, None]),
        (("among", "name", ["b", "c"]), [False, True, None]),
        (("not", ("among", "small", [3, 1000])), [True, None, False]),
        (("compare", ">", "at", 0), [True, None, False]),
        (("compare", "<", "day", 0), [False, True, None]),
        (("compare", "=", "yes", True), [True, False, None]),
        (("null", "at"), [False, True, False]),
        (("and", ("compare", "=", "yes", True), ("null", "name")), [False, False, None]),
        (("or", ("compare", "=", "yes", True), ("null", "name")), [True, False, True]),
    ],
)
def test_a_condition_has_three_truth_values(condition: Any, truth: list[bool | None]) -> None:
    assert holds(condition, ROWS).to_pylist() == truth


def test_rows_are_filtered_and_columns_renamed(tmp_path: Path) -> None:
    file = str(tmp_path / "rows.parquet")
    pq.write_table(ROWS, file)
    scan = Scan(
        (("n", "small"), ("again", "small"), ("who", "name")), ("compare", ">", "part", 0.0), ("part",)
    )
    assert scan.in_files(("n", "again", "who")) == ("small", "name")
    with OpenFiles() as files:
        found = read_scan(scan, files, file, 0, ("who", "n", "again"), ("who",))
    assert found.to_pylist() == [{"who": "ab", "n": 1, "again": 1}, {"who": "b", "n": None, "again": None}]
