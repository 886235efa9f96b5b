"""Many operands of AND and OR mean what few of them mean."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or, evaluate
from tocsin.spark.events.boolean_columns import DEEPEST, all_of, any_of, depth
from tocsin.spark.events.predicates import filter_column
from tocsin.values import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_three_truth_values_are_kept_however_many_operands_there_are(spark: SparkSession) -> None:
    values = list(product((True, False, None), repeat=3))
    table = spark.createDataFrame(values, "a boolean, b boolean, c boolean")
    columns = [F.col(name) for name in "abc"]
    made = [join(columns, few=few) for join in (all_of, any_of) for few in (8, 2)]
    found = table.select(*(column.alias(f"c{number}") for number, column in enumerate(made))).collect()
    for row in found:
        assert (row[0], row[2]) == (row[1], row[3])
    assert {row[1] for row in found} == {row[3] for row in found} == {True, False, None}


def test_nothing_is_true_of_all_and_of_none(spark: SparkSession) -> None:
    assert spark.range(1).select(all_of([]), any_of([])).first() == (True, False)


def test_a_deeply_nested_filter_means_what_a_shallow_one_means(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        list(product((True, False, None), repeat=3)), "a boolean, b boolean, c boolean"
    )
    filter: Filter = Compare(Attribute("a"), Relation.EQ, Literal(True))
    for name in "bc" * DEEPEST:
        leaf = Compare(Attribute(name), Relation.EQ, Literal(True))
        filter = Not(And((Or((filter, leaf)), leaf)))
    assert depth(filter) > DEEPEST
    found = table.select("*", filter_column(filter, table.schema).alias("truth")).collect()
    assert [row.truth for row in found] == [evaluate(filter, row.asDict(), {}) for row in found]
    assert {row.truth for row in found} == {True, False, None}
