"""Rows of files as events: which are none, and what is made of times, types and attributes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tocsin.runtime.read.parquet_columns import Moment
from tocsin.runtime.read.pipeline_events import Made, Normal, normalised

NAMES = ("type", "start", "end")


def normal(**changed: Any) -> Normal:
    moment = Moment("t", "whole", 1_000_000)
    plain = Normal("doors", (), (), moment, moment, NAMES, "what", "", None, (), ())
    return plain._replace(**changed)


@pytest.mark.parametrize(
    ("moment", "values", "micros"),
    [
        (("whole", 1_000_000), [1, None, -(2**63), 2**63 - 1], [1_000_000]),
        (("whole", 1_000), [-(2**63) // 1000 + 1, (2**63 - 1) // 1000], [-(2**63) + 808, 2**63 - 808]),
        (("whole", 1_000), [-(2**63) // 1000, (2**63 - 1) // 1000 + 1], []),
        (("whole", 1), [-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
        (("nanoseconds", 1), [-1, None, 999, 1000], [-1, 0, 1]),
    ],
)
def test_times_that_do_not_fit_are_missing(
    moment: tuple[str, int], values: list[int | None], micros: list[int]
) -> None:
    rows = pa.table({"t": pa.array(values, pa.int64()), "what": ["A"] * len(values)})
    found = normalised(normal(start=Moment("t", *moment), end=Moment("t", *moment)), rows)
    assert found.column("end").to_pylist() == micros


@pytest.mark.parametrize("coded", [False, True])
def test_an_event_has_a_known_type_and_the_attributes_of_it(coded: bool) -> None:
    types = pa.array(["A", "B", None, "C", "A"])
    texts = pa.array(["v", None, "w", "x", "y"])
    rows = pa.table(
        {
            "t": [1, 2, 3, 4, None],
            "what": types.dictionary_encode() if coded else types,
            "s": texts.dictionary_encode() if coded else texts,
            "n": pa.array([1, 2, 3, 4, 5], pa.int32()),
        }
    )
    made = (
        Made("text", pa.string(), "s", default="none"),
        Made("number", pa.float64(), "n", owners=("B",)),
        Made("nowhere", pa.bool_(), None),
        Made("always", pa.string(), None, default="doors"),
    )
    found = normalised(normal(known_types=("A", "B"), made=made), rows)
    columns = {
        name: found.column(name).to_pylist() for name in ("type", "text", "number", "nowhere", "always")
    }
    assert columns == {
        "type": ["A", "B"],
        "text": ["v", "none"],
        "number": [None, 2.0],
        "nowhere": [None, None],
        "always": ["doors", "doors"],
    }


def test_an_event_does_not_end_before_it_starts() -> None:
    rows = pa.table({"from": [1, 2, None, 4], "to": [2, 1, 3, 4]})
    moments = {"start": Moment("from", "whole"), "end": Moment("to", "whole")}
    found = normalised(normal(type=None, constant_type="A", **moments), rows)
    assert found.column("start").to_pylist() == [1, 4]
    assert found.column("type").to_pylist() == ["A", "A"]
    assert normalised(normal(type=None, **moments), rows.slice(1, 2)).num_rows == 0
