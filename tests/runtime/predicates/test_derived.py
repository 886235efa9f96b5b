"""Columns of truth values beside the attributes: they are what `values` says, row by row."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from tocsin.runtime.predicates.derived import attributes_of, derived_column
from tocsin.values import Relation, Value, compare, like

WHOLE = [None, 0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOAT = [None, 0.0, -0.0, 1.0, 1.5, -1.0, 2.0**53, 2.0**63, -(2.0**63), float("inf"), float("nan")]
TEXT = [None, "", "a", "b", "ä", "ab"]
BOOL = [None, False, True]


def both(left: list[Value], relation: Relation, right: list[Value]) -> list[bool | None]:
    columns = {"a": pa.chunked_array([pa.array(left)]), "b": pa.chunked_array([pa.array(right)])}
    found = derived_column(("both", str(relation), "a", "b"), columns.__getitem__)
    assert found is not None
    truths: list[bool | None] = found.to_pylist()
    return truths


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(
    ("first", "second"),
    [(WHOLE, WHOLE), (FLOAT, FLOAT), (WHOLE, FLOAT), (FLOAT, WHOLE), (TEXT, TEXT), (BOOL, BOOL)],
)
def test_two_attributes_compare_as_values_do(
    relation: Relation, first: list[Value], second: list[Value]
) -> None:
    pairs = list(product(first, second))
    found = both([a for a, _ in pairs], relation, [b for _, b in pairs])
    assert found == [compare(a, relation, b) for a, b in pairs]


@pytest.mark.parametrize(
    "pattern", ["%", "", "a%", "_", "a\\%", "%.%", "\\_x", "a\\\\b", "%\n%", "^a$", "[ab]"]
)
def test_a_text_is_like_a_pattern_as_values_say(pattern: str) -> None:
    texts = [None, "", "a", "ab", "a%", "a.b", "_x", "xx", "a\\b", "a\nb", "a\n", "ä", "^a$", "[ab]"]
    column = pa.array(texts).dictionary_encode()
    found = derived_column(("like", "s", pattern), lambda name: column)
    assert found is not None
    assert found.to_pylist() == [like(text, pattern) for text in texts]


def test_other_operands_are_not_derived() -> None:
    assert derived_column(("attribute", "x"), lambda name: pa.array([1])) is None
    assert attributes_of(("like", "s", "%")) == ("s",)
