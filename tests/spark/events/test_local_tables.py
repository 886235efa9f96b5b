"""Tables of other libraries as events: which they are, and what becomes of their columns."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tocsin
from tocsin.errors import InputError
from tocsin.spark.events.local_tables import local_table

EVENTS = {"time": [1, 2], "type": ["A", "B"], "k": [7, 7]}


def test_the_library_of_a_table_is_recognised() -> None:
    given = {"arrow": pa.table(EVENTS), "pandas": pd.DataFrame(EVENTS), "polars": pl.DataFrame(EVENTS)}
    for library, table in given.items():
        found = local_table(table)
        assert found is not None
        assert (found.library, found.rows.to_pydict()) == (library, EVENTS)
        assert found.rows.schema.field("type").type == pa.string()
    lazy = local_table(pl.LazyFrame(EVENTS))
    assert lazy is not None
    assert lazy.library == "polars"
    assert local_table(pa.table(EVENTS).to_batches()[0]) == local_table(pa.table(EVENTS))
    assert local_table("events.parquet") is None


def test_an_index_with_a_name_is_a_column_and_one_without_is_not() -> None:
    frame = pd.DataFrame(EVENTS)
    for indexed, names in (
        (frame[frame["k"] == 7], ["time", "type", "k"]),
        (frame.set_index("time"), ["time", "type", "k"]),
        (frame.set_index(["time", pd.Index([5, 6])]), ["time", "type", "k"]),
        (frame.astype({"type": "category"}), ["time", "type", "k"]),
    ):
        found = local_table(indexed)
        assert found is not None
        assert found.rows.column_names == names
        assert found.rows.to_pydict() == EVENTS


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="one type") as mixed:
        local_table(pd.DataFrame({"time": [1, "x"]}))
    assert mixed.value.code == "bad-table"
    with pytest.raises(InputError, match=r"events cannot be a builtins\.list"):
        tocsin.detect([1, 2], "[A]")  # type: ignore[call-overload]
