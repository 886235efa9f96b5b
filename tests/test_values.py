"""One order of values: exact, total within a kind, and the same in every form that engines use."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hostile_values import KINDS, as_value, expected, one_value, place_of
from tocsin.values import (
    Relation,
    Time,
    Value,
    as_text,
    canonical,
    compare,
    compare_constant,
    first_float,
    first_whole,
    identity,
    sort_key,
)

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.sampled_from([2**53 + 1, 2.0**53, -0.0, 0, math.nan, math.inf, -math.inf, Decimal("0.1"), 0.1]),
)


def test_hostile_values_compare_as_they_must() -> None:
    chance = Random(7)
    held = [(column, one_value(chance, column)) for column in KINDS for _ in range(12)]
    for (a, left), (b, right), relation in product(held, held, Relation):
        truth = compare(as_value(a, left), relation, as_value(b, right))
        if KINDS[a] == KINDS[b]:
            assert truth is expected(place_of(a, left), relation, place_of(b, right)), (left, relation, right)
        elif left is not None and right is not None:
            assert truth is {Relation.EQ: False, Relation.NE: True}.get(relation)


@given(NUMBERS, NUMBERS)
def test_equal_numbers_have_one_identity_and_one_place(left: Value, right: Value) -> None:
    equal = compare(left, Relation.EQ, right)
    assert (identity(left) == identity(right)) is equal
    assert (sort_key(left) == sort_key(right)) is equal
    assert (sort_key(left) < sort_key(right)) is compare(left, Relation.LT, right)
    assert compare(canonical(left), Relation.EQ, left)


@given(st.one_of(st.floats(), st.integers(-(2**1100), 2**1100)), st.booleans())
def test_the_first_of_a_type_that_is_not_less(constant: float, above: bool) -> None:
    relation = Relation.GT if above else Relation.GE
    number = first_float(constant, above=above)
    assert compare(number, relation, constant) or (number != number and constant != constant)
    if number == number and number > -math.inf:
        assert not compare(math.nextafter(number, -math.inf), relation, constant)
    whole = first_whole(constant, above=above)
    if isinstance(whole, int):
        assert Fraction(whole - 1) < Fraction(constant) + above <= Fraction(whole) + above


@pytest.mark.parametrize(
    "text", ["1970-01-01", "1970-01-01T00:00", "1970-01-01 01:00+01:00", "19691231T233000-0030"]
)
def test_constants_beside_times_are_times(text: str) -> None:
    assert compare_constant(Time(0), Relation.EQ, text)
    assert compare_constant(Time(1), Relation.GT, text)
    # Values are not converted, only constants are.
    assert compare(Time(0), Relation.EQ, text) is False
    assert compare(Time(0), Relation.LT, text) is None


def test_texts_of_values() -> None:
    values = [math.nan, -math.inf, 1e300, 2**63, Decimal("1.50"), Time(-62_135_596_800_000_001)]
    assert [as_text(value) for value in values] == [
        "nan",
        "-inf",
        "1e+300",
        "9223372036854775808",
        "1.50",
        "+0000-12-31T23:59:59.999999",
    ]
