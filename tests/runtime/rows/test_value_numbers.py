"""Numbers and ranks of values: as `values.compare` orders them, whatever stands in other rows."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from random import Random

import pyarrow as pa

from support.hostile_values import COLUMNS, as_column, as_value, one_value
from tocsin.runtime.rows.value_numbers import Interned
from tocsin.values import Relation, compare, kind


def test_ranks_are_the_order_of_values() -> None:
    chance = Random(3)
    held = [(column, one_value(chance, column)) for column in COLUMNS for _ in range(20)]
    chance.shuffle(held)
    interned = Interned()
    numbers = [int(interned.column(as_column(column, [value]))[0]) for column, value in held]
    kinds, ranks = interned.arrays()
    values = [as_value(column, value) for column, value in held]
    for (a, left), (b, right) in product(zip(numbers, values, strict=True), repeat=2):
        if left is None or right is None:
            assert min(a, b) == -1
        elif kind(left) != kind(right):
            assert kinds[a] != kinds[b]
        else:
            assert kinds[a] == kinds[b]
            assert (ranks[a] < ranks[b]) == compare(left, Relation.LT, right), (left, right)
            assert (ranks[a] == ranks[b]) == compare(left, Relation.EQ, right), (left, right)


def test_nan_is_last_wherever_it_first_stood() -> None:
    for values in ([float("nan"), 1.0, 2.0], [1.0, float("nan"), 2.0], [1.0, 2.0, float("nan")]):
        interned = Interned()
        numbers = interned.column(pa.array(values))
        ranks = interned.arrays().rank[numbers]
        assert ranks.argmax() == [value != value for value in values].index(True)


def test_equal_values_that_are_written_differently_keep_their_form() -> None:
    """What a variable shows depends on the row that bound it, and not on rows before."""
    interned = Interned()
    interned.column(pa.array([1, 2]))
    numbers = interned.column(pa.array([1.0, -0.0]))
    (money,) = interned.column(pa.array([Decimal("1.00")]))
    assert [repr(interned.values[number]) for number in (*numbers, money)] == [
        "1.0",
        "0.0",
        "Decimal('1.00')",
    ]
    ranks = interned.arrays().rank
    assert ranks[0] == ranks[numbers[0]] == ranks[money]


def test_whole_numbers_and_floats_are_ranked_exactly_whatever_their_size() -> None:
    for most in (2**53, 2**53 + 1):
        interned = Interned()
        numbers = [interned.number(value) for value in (float(2**53), most, 1.5, 1, float("nan"), -most)]
        ranks = interned.arrays().rank[numbers]
        assert bool(ranks[0] == ranks[1]) is (most == 2**53)
        assert [int(place) for place in ranks.argsort(kind="stable")] == [5, 3, 2, 0, 1, 4]


def test_ranks_are_found_once_for_all_detectors_and_again_when_values_are_added() -> None:
    interned = Interned()
    interned.column(pa.array([3.0, 1.0]))
    once = interned.arrays()
    assert interned.arrays() is once
    interned.number(2)
    assert list(interned.arrays().rank) == [2, 0, 1]
    assert list(once.rank) == [1, 0]
