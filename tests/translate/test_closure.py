"""Section 5.3 in the algebra: each rule, rules inside rules, a counterexample for the claimed ones, and mistakes."""

from __future__ import annotations

import pytest

from support.pairs_strategies import observe
from tocsin.algebra.pairs.expression import Conjunction, Primitive, Sequence
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.parameters import FIRST as TAKES_FIRST
from tocsin.algebra.pairs.parameters import Consumption, Detection, Mode
from tocsin.algebra.pairs.semantics import instances
from tocsin.errors import PatternError
from tocsin.translate.closure import CLOSED, RULES, in_algebra

CLOSED_TEXT = "{z=first,w=first,unique}"
ONLY = "(* ((* E1 IN [0,7]), (NOT (* (E1, E1) IN [0,7]) IN [0,7])) IN [0,7])"
SAME = (
    "(* ((* (A, B) IN [0,7]), (* ((NOT (* (A ; B) IN [0,7]) IN [0,7]), (NOT (* (B ; A) IN [0,7]) IN [0,7])) IN [0,7]))"
    " IN [0,7])"
)


@pytest.mark.parametrize(
    ("text", "meta", "kind", "rows"),
    [
        ("(* (A, B)) IN [3, 10]", f"(A, B)_7{CLOSED_TEXT}", "equivalent", [1]),
        ("* (A , B) IN [3, 10]", f"(A, B)_7{CLOSED_TEXT}", "equivalent", [1]),
        ("(* (A | B)) IN [0, 5]", f"(A | B){CLOSED_TEXT}", "positive", [2]),
        ("(* (A | B)) IN [∞]", f"(A | B){CLOSED_TEXT}", "equivalent", [3]),
        ("(* (A | B))", f"(A | B){CLOSED_TEXT}", "equivalent", [3]),
        ("(* (A ; B)) IN [3, inf]", f"(A ; B)_inf{CLOSED_TEXT}", "equivalent", [4]),
        ("(NOT A) IN [3, 10]", "!(A)_7", "equivalent", [5]),
        (SAME, f"(A : B)_7{CLOSED_TEXT}", "equivalent", [6]),
        (ONLY, "E1[first]", "equivalent", [7]),
        ("(NOT ((* (A | B)) IN [0, 5])) IN [0, 9]", f"!((A | B){CLOSED_TEXT})_9", "negative", [5, 2]),
        (
            "(* ((* (A | B)) IN [0, 5] ; C)) IN [0, 9]",
            f"((A | B){CLOSED_TEXT} ; C)_9{CLOSED_TEXT}",
            "positive",
            [4, 2],
        ),
    ],
)
def test_a_text_in_the_algebra(text: str, meta: str, kind: str, rows: list[int]) -> None:
    found = in_algebra(text)
    assert [rule.row for rule in found.rules] == rows
    assert found.kind.value == kind
    assert show(found.meta) == meta


def test_every_rule_has_a_row_of_its_own() -> None:
    assert sorted(rule.row for rule in RULES) == list(range(1, 8))


def test_consuming_the_first_is_not_unique_pairs_of_runs() -> None:
    trace = observe("a@1 a@2 b@3 b@4 a@5 b@6")
    modes = (Mode(TAKES_FIRST, Consumption.REAPPLY),) * 2
    for operator in (Sequence, Conjunction):
        operands = (Primitive("a"), Primitive("b"))
        chronicle = operator(operands, None, Detection(modes))
        assert set(instances(chronicle, trace)) != set(instances(operator(operands, None, CLOSED), trace))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(A",
        "(A ; )",
        "* (A ; B) IN",
        "* (A ; B) IN [5]",
        "(A ; B) IN [5, 3]",
        "A B",
        "A + B",
        "(" * 200,
        "* 5",
    ],
)
def test_a_mistake_has_a_place(text: str) -> None:
    with pytest.raises(PatternError) as caught:
        in_algebra(text)
    assert caught.value.span is not None


def test_an_absence_needs_an_interval() -> None:
    with pytest.raises(PatternError, match="NOT has no interval"):
        in_algebra("NOT A")


def test_more_and_less_at_once_is_refused() -> None:
    more = "((* (A | B)) IN [0, 5])"
    with pytest.raises(PatternError, match="more of one part and less of another"):
        in_algebra(f"(* ({more} ; ((NOT {more}) IN [0, 5]))) IN [0, 9]")
