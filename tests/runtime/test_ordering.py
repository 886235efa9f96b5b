"""Sorting by key and in the total order, against a sort that is plainly right."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.runtime.ordering import total_order

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


@pytest.mark.parametrize("spread", [3, 5_000, 2**50])
def test_a_key_with_many_events_is_sorted_digit_by_digit(spread: int) -> None:
    end = np.random.default_rng(1).integers(-spread, spread, 5000)
    order, _, _ = total_order(np.zeros(5000, np.int64), 1, end, end, None)
    assert order.tolist() == np.argsort(end, kind="stable").tolist()
