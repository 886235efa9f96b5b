"""Sorting by key and in the total order, against a sort that is plainly right."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.runtime.rows.total_order import placed, places, total_order

EXTREME = [-(2**62), -1, 0, 1, 2**40, 2**62]


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "texts"])
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([*range(6), *EXTREME]), st.integers(0, 2)), max_size=120
    ),
    st.randoms(use_true_random=False),
)
def test_the_total_order(text: bool, events: list[tuple[int, int, int]], random: object) -> None:
    ids = list(range(len(events)))
    random.shuffle(ids)  # type: ignore[attr-defined]
    named: list[int] | list[str] = [f"é{id}" for id in ids] if text else ids
    codes, end, length = (np.array([e[i] for e in events], np.int64) for i in range(3))
    start = end - length
    order, offsets, _ = total_order(
        codes, 4, start, end, pa.array(named, pa.string() if text else pa.int64())
    )
    expected = sorted(range(len(events)), key=lambda i: (codes[i], end[i], start[i], named[i]))
    assert order.tolist() == expected
    assert offsets.tolist() == [int((codes < key).sum()) for key in range(5)]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=120), st.integers(1, 40), st.booleans()
)
def test_places_are_those_of_the_total_order(events: list[tuple[int, int]], piece: int, sort: bool) -> None:
    events = sorted(events, key=lambda event: event[1]) if sort else events
    codes, end = (np.array([e[i] for e in events], np.int64) for i in range(2))
    found = places(codes, 4, end)
    order, offsets, ties = total_order(codes, 4, end, end, None)
    if ties or end.tolist() != sorted(end.tolist()):
        assert found is None
        return
    assert found is not None
    assert found[1].tolist() == offsets.tolist()
    column = pa.chunked_array(
        [pa.array(end[at : at + piece]) for at in range(0, len(end), piece)], pa.int64()
    )
    assert placed(column, found[0]).tolist() == end[order].tolist()


def test_many_events_of_one_moment_are_looked_at_one_by_one() -> None:
    """Whether keys are tied is asked of few neighbours only, so that a moment of many events costs no more than others."""
    codes = np.arange(200)
    assert places(codes, 200, np.zeros(200, np.int64)) is None
    assert total_order(codes, 200, codes, np.zeros(200, np.int64), None)[0].tolist() == codes.tolist()


@pytest.mark.parametrize("spread", [3, 5_000, 2**50])
def test_a_key_with_many_events_is_sorted_digit_by_digit(spread: int) -> None:
    end = np.random.default_rng(1).integers(-spread, spread, 5000)
    order, _, _ = total_order(np.zeros(5000, np.int64), 1, end, end, None)
    assert order.tolist() == np.argsort(end, kind="stable").tolist()
