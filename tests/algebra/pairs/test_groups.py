"""What puts a language into a group, and that each group can say what those above it can."""

from __future__ import annotations

from itertools import combinations

import pytest

from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import Conjunction, Disjunction, Primitive, Sequence, Simultaneity
from tocsin.algebra.pairs.groups import EVALUATIONS, NODES, Group, Operator, Traits, group_of, operator_of
from tocsin.algebra.pairs.operators import after, conjunction, negation, selection


def test_the_groups_are_in_the_order_of_expressiveness() -> None:
    assert [group.name for group in sorted(Group)] == ["CE", "SCE", "TCE", "OTCE", "STCE"]
    assert Group.CE.operators < Group.SCE.operators
    assert Group.TCE.operators < Group.OTCE.operators < Group.STCE.operators
    assert [group.timeframes for group in Group] == [False, False, True, True, True]


@pytest.mark.parametrize("group", Group)
def test_the_operators_of_a_group_put_a_language_into_it(group: Group) -> None:
    assert group_of(group.operators, group.timeframes) is group
    assert Traits.of(*group.operators, timeframe=group.timeframes).group is group


def test_without_conjunction_or_disjunction_there_is_no_group() -> None:
    for size in range(len(Operator) + 1):
        for some in combinations(Operator, size):
            grouped = {Operator.CONJUNCTION, Operator.DISJUNCTION} <= set(some)
            for timeframe in (False, True):
                assert (group_of(some, timeframe) is not None) == grouped
    assert not Traits.of().composes


def test_operators_and_their_nodes() -> None:
    assert set(NODES) == set(Operator)
    assert operator_of(negation("a", 5)) is Operator.NEGATION
    assert operator_of(selection("a", 1)) is Operator.SELECTION
    assert operator_of(after("a", 5)) is operator_of(Primitive("a")) is None
    assert operator_of(conjunction("a", "b")) is Operator.CONJUNCTION


@pytest.mark.parametrize("node", [Disjunction, Conjunction, Sequence, Simultaneity])
def test_every_evaluation_is_one_of_two_operands(node: type) -> None:
    assert len(EVALUATIONS) == len(set(EVALUATIONS))
    for how in EVALUATIONS:
        assert check(node((Primitive("a"), Primitive("b")), 5, how)) == []
