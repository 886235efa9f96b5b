"""Mistakes of profiles, and remarks on those that can run."""

from __future__ import annotations

import pytest

from tocsin.algebra.pairs.check import MAX_DEPTH, check
from tocsin.algebra.pairs.expression import Conjunction, Expression, Negation, Primitive, Sequence
from tocsin.algebra.pairs.operators import (
    after,
    conjunction,
    disjunction,
    event,
    every,
    framed,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.algebra.pairs.parameters import ALL, Delimiter, Detection, Gather, Mode, Pick
from tocsin.algebra.pairs.warnings import warnings
from tocsin.algebra.predicate import Attribute, Compare, Literal, Unify, Variable
from tocsin.errors import InputError, Span
from tocsin.events import Catalog, EventType
from tocsin.values import Relation

CATALOG = Catalog([EventType("Wind", {"force": "int"})], closed=True)
LEFT, RIGHT = Primitive("a"), Primitive("b")


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        (negation("a"), "timeframe-missing"),
        (sequence("a", negation("b"), within=None), "timeframe-missing"),
        (conjunction("a", "b", within=-1), "bad-timeframe"),
        (framed("a", -1), "bad-timeframe"),
        (sequence("a", "b", within=0), "never-matches"),
        (after("a", -1), "bad-delay"),
        (every(0, "a"), "bad-period"),
        (selection("a", 0), "bad-choice"),
        (selection("a", 3, 2), "bad-choice"),
        (selection("a", Pick(None, 2)), "bad-choice"),
        (disjunction("a", "b", first=Pick(0, 2)), "bad-choice"),
        (sequence("a", "b", duplicates=0), "bad-choice"),
        (sequence("a"), "operand-missing"),
        (conjunction("a", "b", "c"), "too-many-operands"),
        (simultaneity("a", "b", tolerance=-1), "bad-tolerance"),
        (Sequence((LEFT, RIGHT), None, Detection((Mode(),))), "modes-missing"),
        (sequence("a", "b", modes=(Mode(delimiter=Delimiter(0, 1)), Mode())), "bad-delimiter"),
        (
            sequence("a", "b", modes=(Mode(Gather.COMBINATIONS, delimiter=Delimiter(3, 2)), Mode())),
            "bad-delimiter",
        ),
        (sequence("a", "b", modes=(Mode(ALL, delimiter=Delimiter(2, 2)), Mode())), "bad-delimiter"),
    ],
)
def test_a_mistake_is_found_inside_and_outside(expression: Expression, code: str) -> None:
    assert [error.code for error in check(expression)] == [code]
    assert [error.code for error in check(disjunction(expression, "z"))] == [code]


@pytest.mark.parametrize(
    "expression",
    [
        disjunction("a", negation("b"), within=30),
        conjunction("a", negation("b"), within=float("inf")),
        negation(sequence("a", negation("b")), 5),
        framed(negation("a"), 5),
        disjunction("a", "b", "c"),
        sequence("a", "b", "c", duplicates="first"),
        sequence("a", "b", modes=(Mode(Gather.COMBINATIONS, delimiter=Delimiter(2, None)), Mode())),
        selection("a", 2, 4),
    ],
)
def test_what_can_run_has_no_mistakes(expression: Expression) -> None:
    assert check(expression) == []


def test_names_are_looked_up() -> None:
    calm = Compare(Attribute("forse"), Relation.LT, Literal(3))
    (unknown, attribute) = check(disjunction("Wnd", event("Wind", calm)), CATALOG)
    assert (unknown.code, unknown.hint) == ("unknown-type", "did you mean 'Wind'?")
    assert (attribute.code, attribute.hint) == ("unknown-attribute", "did you mean 'force'?")
    text = Compare(Attribute("force"), Relation.LT, Literal("3"))
    (mismatch,) = check(event("Wind", text), CATALOG)
    assert (mismatch.code, mismatch.hint) == ("type-mismatch", "compare it with a number")
    moment = Catalog([EventType("Wind", {"since": "timestamp"})])
    for value, codes in (("2024-01-30", []), ("soon", ["type-mismatch"])):
        since = Compare(Attribute("since"), Relation.LT, Literal(value))
        assert [e.code for e in check(event("Wind", since), moment)] == codes
    assert [e.code for e in check(event("Wind", Unify("force")), CATALOG)] == ["not-of-one-event"]
    bound = Compare(Attribute("force"), Relation.EQ, Variable("x"))
    assert [e.code for e in check(event("Wind", bound), CATALOG)] == ["not-of-one-event"]


def test_a_mistake_has_its_place() -> None:
    span = Span("(a ; !b)", 5, 7)
    (error,) = check(Sequence((LEFT, Negation(RIGHT, span=span))))
    assert error.span == span
    assert "line 1, column 6" in str(error)


def test_an_expression_can_be_too_deep() -> None:
    expression: Expression = LEFT
    for _ in range(MAX_DEPTH * 20):
        expression = Conjunction((expression, RIGHT), 1)
    assert [error.code for error in check(expression)] == ["too-deep"]


@pytest.mark.parametrize(
    ("expression", "codes"),
    [
        (disjunction("a", "b", within=5), ["no-effect"]),
        (disjunction("a", negation("b"), within=5), []),
        (disjunction("a", "b", second="last"), ["no-effect"]),
        (simultaneity("a", "b", first="first"), ["no-effect"]),
        (conjunction("a", "a", within=5, first="last"), ["no-effect"]),
        (
            sequence("a", "b", within=5, consumption="keep", concurrency="nonoverlapping"),
            ["modes-disagree"],
        ),
        (sequence("a", "b", consumption="keep"), ["unbounded-state"]),
        (sequence("a", "b", consumption="keep", duplicates="last"), []),
        (sequence("a", "b", consumption="delete"), []),
        (sequence("a", "b", pairs="unique"), []),
        (conjunction("a", "b", within=5), []),
        (negation(conjunction("a", "b"), 5), ["unbounded-state"]),
    ],
)
def test_remarks(expression: Expression, codes: list[str]) -> None:
    assert [warning.code for warning in warnings(expression)] == codes


@pytest.mark.parametrize(
    "given",
    [
        {"first": "last", "consumption": "keep"},
        {"duplicates": "newest"},
        {"consumption": "use up"},
        {"first": "cumulative"},
        {"modes": (Mode(), Mode()), "duplicates": "first"},
        {"pairs": "some"},
        {"within": 1.5},
    ],
)
def test_parameters_that_do_not_go_together_are_refused(given: dict) -> None:
    with pytest.raises(InputError):
        sequence("a", "b", **given)


@pytest.mark.parametrize("given", [("last", 2), ("cumulative",), ("newest",)])
def test_selections_that_mean_nothing_are_refused(given: tuple) -> None:
    with pytest.raises(InputError):
        selection("a", *given)
