"""Specs evaluated on a stack, with three truth values and variables that gain what events bind."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin.runtime.kernels.tokens.single.comparisons import Asking, holds, relevant_types
from tocsin.runtime.program import AND, BIND, COMPARE, GT, LEAF, NOT, OR

MISSING = -1


def asking(code: list[tuple[int, int, int, int]], bits: int, cell: int, bound: int) -> Asking:
    """One event with some bits and one cell; values 0, 1 and 2 are the numbers 10, 20, 30, and 3 is a text."""
    return Asking(
        np.zeros((0, 6), np.int64),
        np.array([[0, 0, len(code), 0]]),
        np.array([0]),
        np.array(code, np.int64).reshape(-1, 4),
        np.array([[bits]], np.uint64),
        np.array([[cell]], np.int32),
        np.array([1, 1, 1, 2]),
        np.array([0, 1, 2, 0]),
        np.array([bound]),
        np.empty(8, np.int64),
    )


YES, NO, MAYBE = (LEAF, 0, 63, 0), (LEAF, 63, 0, 0), (LEAF, 62, 61, 0)


@pytest.mark.slow  # it is compiled
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ([], True),
        ([YES], True),
        ([NO], False),
        ([MAYBE], False),
        ([NO, (NOT, 0, 0, 0)], True),
        ([MAYBE, (NOT, 0, 0, 0)], False),
        ([MAYBE, YES, (OR, 0, 0, 0)], True),
        ([MAYBE, YES, (AND, 0, 0, 0)], False),
        ([MAYBE, NO, (AND, 0, 0, 0), (NOT, 0, 0, 0)], True),
    ],
)
def test_three_truth_values(code: list[tuple[int, int, int, int]], expected: bool) -> None:
    assert holds(asking(code, 1, 0, MISSING), 0, 0) is expected
    assert holds(asking(code, 0, 0, MISSING), 0, 0) is False  # the bit of the spec says that it cannot hold


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "bound", "expected"),
    [(2, 1, True), (1, 1, False), (3, 1, False), (MISSING, 1, False), (2, -1, False)],
)
def test_a_comparison_needs_two_values_of_a_kind(cell: int, bound: int, expected: bool) -> None:
    assert holds(asking([(COMPARE, GT, 0, 0)], 1, cell, bound), 0, 0) is expected


@pytest.mark.slow
def test_a_variable_is_bound_once() -> None:
    fresh = asking([(BIND, 0, 0, 0)], 1, 2, MISSING)
    assert holds(fresh, 0, 0)
    assert fresh.bound.tolist() == [2]
    assert not holds(asking([(BIND, 0, 0, 0)], 1, 2, 1), 0, 0)


def test_a_state_looks_at_events_that_share_a_bit() -> None:
    domain = np.array([[0, 2], [1, 0]], np.uint64)
    bits = np.array([[4, 2]], np.uint64)
    assert relevant_types(domain, 0, bits, 0)
    assert not relevant_types(domain, 1, bits, 0)
