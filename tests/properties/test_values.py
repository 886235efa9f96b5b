"""Values compare in one way on every route, however strange they are; and equal values are one key."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.hostile_routes import ON_SPARK, ROUTES, differences
from tocsin.algebra.tokens import semantics
from tocsin.automata import execute
from tocsin.events import Event, Interval
from tocsin.languages.core import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_PYTHON = sorted(ROUTES.keys() - ON_SPARK)
SEVERAL = [pytest.param(route, marks=pytest.mark.slow) for route in IN_PYTHON]
SEED = 20261118


@pytest.mark.parametrize("route", SEVERAL)
def test_values_compare_as_they_must(route: str) -> None:
    assert differences(route, SEED, 1500) == []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("route", sorted(ON_SPARK))
def test_values_compare_as_they_must_on_spark(spark: SparkSession, route: str) -> None:
    assert differences(route, SEED, 1500, spark) == []


@pytest.mark.long
@pytest.mark.parametrize("route", IN_PYTHON)
def test_ten_thousand_comparisons(route: str) -> None:
    assert differences(route, SEED + 1, 10_000) == []


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("route", sorted(ON_SPARK))
def test_ten_thousand_comparisons_on_spark(spark: SparkSession, route: str) -> None:
    assert differences(route, SEED + 1, 10_000, spark) == []


# Keys

PATTERN = "[A];[B]"
# Two spellings of each key: for NaN, numbers of different bits.
NANS = np.array([0x7FF8000000000000, 0xFFF8000000000001], np.uint64).view(np.float64).tolist()
FIRST = [NANS[0], 0.0, 1.0, math.inf, -math.inf, 5e-324]
THEN = [NANS[1], -0.0, 1.0, math.inf, -math.inf, 5e-324]


def keyed_table(type: pa.DataType) -> pa.Table:
    """For each key an A with one spelling and a B with the other."""
    keys = np.array([*FIRST, *THEN], np.float32 if pa.types.is_float32(type) else np.float64)
    return pa.table(
        {
            "k": pa.array(keys, type),
            "also": pa.array(["x"] * len(keys)),
            "id": pa.array(range(len(keys)), pa.int64()),
            "at": pa.array([1] * len(FIRST) + [2] * len(THEN), pa.int64()),
            "type": pa.array(["A"] * len(FIRST) + ["B"] * len(THEN)),
        }
    )


def shown(keys: list[Any]) -> list[str]:
    """The keys of matches, with the sign of a zero."""
    return sorted(map(repr, keys))


def expected(type: pa.DataType) -> list[str]:
    own = [float(np.float32(key)) for key in FIRST] if pa.types.is_float32(type) else FIRST
    # As a float of 32 bits the smallest number of 64 bits is zero: two A and two B of one key, and the first B ends both.
    return sorted(repr(key) for key in own)


def test_equal_keys_are_one_key_in_the_reference_and_in_the_kernel() -> None:
    events = [
        Event(number, frozenset({type}), Interval(at, at), {}, key)
        for at, (type, keys) in enumerate((("A", FIRST), ("B", THEN)))
        for number, key in enumerate(keys, at * len(FIRST))
    ]
    for detect in (semantics.detect, execute.detect):
        found = [composite.key for composite in detect(parse(PATTERN), events)]
        assert shown(found) == expected(pa.float64())


@pytest.mark.spark
@pytest.mark.slow
def test_equal_keys_are_one_key_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    from support.calls import detect
    from tocsin.spark.testing import DELAY, streamed

    for type in (pa.float64(), pa.float32()):
        table = keyed_table(type)
        file = tmp_path / f"{type}.parquet"
        pq.write_table(table, file)
        for key in ("k", ["k", "also"]):
            asked: dict[str, Any] = {
                "pattern": PATTERN,
                "key": key,
                "time": "at",
                "time_unit": "s",
                "id": "id",
            }
            of_table = detect(spark.createDataFrame(table), **asked)
            of_file = detect(str(file), **asked, spark=spark)
            of_cut = detect(str(file), **asked, spark=spark, cut="key")
            for matches in (of_table, of_file, of_cut):
                assert shown(matches.toArrow().column("k").to_pylist()) == expected(type)
            ask = partial(detect, **asked, delay=f"{DELAY}s", ahead="any")
            last = {"k": -1.0, "also": "x", "id": 99}
            rows = streamed(table, ask, types="type", moments={"at": 1_000_000}, last=last)
            assert shown([row["k"] for row in rows]) == expected(type)


@pytest.mark.spark
@pytest.mark.slow
def test_no_statistics_of_a_file_hide_a_value(spark: SparkSession, tmp_path: Path) -> None:
    """Arrow leaves NaN out of the least and the greatest value of a row group, and a dictionary has one of the zeros."""
    from support.calls import detect

    values = [1.0, math.nan, -0.0, -0.0, 1.0, 1.0]
    numbers = pa.array(range(len(values)), pa.int64())
    table = pa.table({"x": pa.array(values), "at": numbers, "id": numbers, "type": pa.array(["E"] * 6)})
    file = str(tmp_path / "events.parquet")
    pq.write_table(table, file, row_group_size=2)
    filters = {"x > 5": [1], "x >= 1": [0, 1, 4, 5], "x != 1": [1, 2, 3], "x = 0": [2, 3], "NOT x <= 5": [1]}
    for text, rows in filters.items():
        for events in (spark.read.parquet(file), file):
            on = {"spark": spark} if isinstance(events, str) else {}
            asked = {"time": "at", "time_unit": "s", "id": "id", "columns": ["constituents"], **on}
            found = detect(events, f"[E({text})]", **asked).toArrow().column("constituents").to_pylist()
            assert sorted(int(one[0]["id"]) for one in found) == rows, (text, events)
