"""Predicates: three truth values, kinds that stay apart, variables."""

from __future__ import annotations

from itertools import product

import pytest

from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    Literal,
    Not,
    Or,
    RoleAttribute,
    Unify,
    Variable,
    attributes,
    comparisons,
    evaluate,
    variables,
)
from tocsin.values import Relation, Value, all_of, any_of, compare, negate

EQ, NE, LT, LE, GT, GE = Relation
TRUTHS = (True, False, None)


def asks(name: str, relation: Relation, value: float | str | bool) -> Compare:
    return Compare(Attribute(name), relation, Literal(value))


# One filter for each truth value, of an event that has only `k`.
TRUE, FALSE, UNKNOWN = asks("k", EQ, 1), asks("k", EQ, 2), asks("missing", EQ, 1)
AS_FILTER = {True: TRUE, False: FALSE, None: UNKNOWN}


def truth(filter: Filter, bound: dict[str, Value] | None = None) -> bool | None:
    return evaluate(filter, {"k": 1, "s": "p"}, {} if bound is None else bound)


@pytest.mark.parametrize(
    ("left", "relation", "right", "expected"),
    [
        (1, EQ, 1, True),
        (1, EQ, 1.0, True),
        (1, LT, 1.5, True),
        ("a", LT, "b", True),
        ("", LE, "", True),
        (False, LT, True, True),
        # Kinds stay apart: never equal, always different, never ordered.
        (1, EQ, "1", False),
        (1, NE, "1", True),
        (1, LT, "1", None),
        (1, EQ, True, False),
        (0, NE, False, True),
        (1, GE, True, None),
        # A missing value is unknown, whatever it is compared with, and also with another missing one.
        (None, EQ, 1, None),
        (None, NE, 1, None),
        (1, LT, None, None),
        (None, EQ, None, None),
    ],
)
def test_comparisons(left: Value, relation: Relation, right: Value, expected: bool | None) -> None:
    assert compare(left, relation, right) is expected


@pytest.mark.parametrize(("left", "right"), [(1, 1), (1, 2), (2, 1)])
def test_relations_are_those_of_numbers(left: int, right: int) -> None:
    found = [compare(left, relation, right) for relation in Relation]
    assert found == [left == right, left != right, left < right, left <= right, left > right, left >= right]


def test_three_valued_logic_is_that_of_sql() -> None:
    assert [negate(t) for t in TRUTHS] == [False, True, None]
    for left, right in product(TRUTHS, repeat=2):
        # As in SQL: false wins over unknown in AND, true in OR.
        both = False if False in (left, right) else None if None in (left, right) else True
        one = True if True in (left, right) else None if None in (left, right) else False
        assert all_of((left, right)) is both
        assert any_of((left, right)) is one
        assert truth(And((AS_FILTER[left], AS_FILTER[right]))) is both
        assert truth(Or((AS_FILTER[left], AS_FILTER[right]))) is one
    assert [truth(Not(AS_FILTER[t])) for t in TRUTHS] == [False, True, None]


def test_a_variable_is_bound_by_its_first_use_and_compared_afterwards() -> None:
    bound: dict[str, Value] = {}
    assert truth(Compare(Attribute("k"), EQ, Variable("x")), bound) is True
    assert bound == {"x": 1}
    assert truth(Compare(Attribute("s"), EQ, Variable("x")), bound) is False
    assert truth(Compare(Attribute("k"), GE, Variable("x")), bound) is True
    assert bound == {"x": 1}


def test_a_missing_attribute_binds_nothing() -> None:
    bound: dict[str, Value] = {}
    assert truth(Compare(Attribute("missing"), EQ, Variable("x")), bound) is None
    assert bound == {}


def test_only_equality_binds() -> None:
    bound: dict[str, Value] = {}
    assert truth(Compare(Attribute("k"), NE, Variable("x")), bound) is None
    assert bound == {}


def test_nothing_is_bound_under_or_and_not() -> None:
    binds = Compare(Attribute("k"), EQ, Variable("x"))
    bound: dict[str, Value] = {}
    assert truth(Or((binds, FALSE)), bound) is True
    assert truth(Not(binds), bound) is False
    assert bound == {}


def test_a_part_of_and_can_use_what_an_earlier_part_bound() -> None:
    bound: dict[str, Value] = {}
    binds = Compare(Attribute("k"), EQ, Variable("x"))
    assert truth(And((binds, Compare(Attribute("k"), LE, Variable("x")))), bound) is True
    # The second part is asked although the first is false: what it binds must not depend on the first.
    assert truth(And((FALSE, Compare(Attribute("s"), EQ, Variable("y")))), bound) is False
    assert bound == {"x": 1, "y": "p"}


def test_unify_asks_only_where_both_sides_know() -> None:
    bound: dict[str, Value] = {}
    assert truth(Unify("missing"), bound) is True
    assert truth(Unify("k"), bound) is True
    assert bound == {"k": 1}
    assert evaluate(Unify("k"), {"k": 2}, bound) is False


def test_a_condition_on_the_whole_cannot_be_asked_of_one_event() -> None:
    with pytest.raises(TypeError, match="asks about constituents"):
        truth(Compare(RoleAttribute("A", "k"), EQ, Literal(1)))


def test_what_a_filter_names() -> None:
    filter = And((asks("a", EQ, 1), Or((Not(asks("b", EQ, 1)), Compare(Attribute("c"), EQ, Variable("x"))))))
    assert attributes(filter) == {"a", "b", "c"}
    assert variables(filter) == {"x"}
    assert variables(Unify("y")) == {"y"}
    assert [c.left.name for c in comparisons(filter)] == ["a", "b", "c"]
    assert attributes(None) == variables(None) == frozenset()


def test_constants_are_equal_if_their_kinds_are() -> None:
    assert Literal(1) == Literal(1.0)
    assert hash(Literal(1)) == hash(Literal(1.0))
    assert Literal(1) != Literal(True)
    assert Literal("1") != Literal(1)
    assert Literal(1) != 1
