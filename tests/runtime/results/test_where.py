"""Conditions on whole matches: over columns as one match at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tocsin.runtime.predicates.conditions import truth
from tocsin.runtime.program import travelling
from tocsin.runtime.results.constituents import Leaves
from tocsin.runtime.results.where import matches_that_hold
from tocsin.values import Relation, Value

FIELDS = {
    "n": pa.array([1, 2, None, 2, -3], pa.int64()),
    "x": pa.array([1.0, float("nan"), 0.5, None, 2.0], pa.float64()),
    "s": pa.array(["1", None, "", "b", "a"], pa.string()),
    "f": pa.array([True, False, None, True, True], pa.bool_()),
}
EVENTS = pa.table({travelling("field", name): column for name, column in FIELDS.items()})
ROLES = ("A", "B")
operands = st.one_of(
    st.tuples(st.just("literal"), st.sampled_from([1, 1.0, True, False, 2, "1", "b", None, float("nan")])),
    st.tuples(st.just("role"), st.sampled_from(ROLES), st.sampled_from(sorted(FIELDS))),
)
conditions: st.SearchStrategy[tuple[Any, ...]] = st.recursive(
    st.tuples(st.just("compare"), st.sampled_from([str(r) for r in Relation]), operands, operands),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner, inner),
    ),
    max_leaves=5,
)
members = st.tuples(st.integers(-1, 4), st.integers(0, 1))  # an event, or -1 for a timer, and its role


@given(conditions, st.lists(st.lists(members, max_size=4), max_size=5))
def test_all_matches_at_once_as_one_by_one(
    condition: tuple[Any, ...], matches: list[list[tuple[int, int]]]
) -> None:
    flat = [member for match in matches for member in match]
    leaves = Leaves(
        np.cumsum([0, *map(len, matches)]),
        np.array([ref for ref, _ in flat], np.int64),
        np.array([role for _, role in flat], np.int64),
        list(ROLES),
        np.zeros(len(flat), np.int64),
        pa.array([[1]] * len(flat), pa.list_(pa.int32())),
    )

    def holds(match: list[tuple[int, int]]) -> bool:
        def values(operand: tuple[Any, ...]) -> list[Value]:
            _, role, name = operand
            own = FIELDS[name].to_pylist()
            return [own[ref] for ref, number in match if ROLES[number] == role and ref >= 0]

        return truth(condition, values) is True

    expected = [number for number, match in enumerate(matches) if holds(match)]
    assert matches_that_hold(condition, EVENTS, leaves).tolist() == expected
