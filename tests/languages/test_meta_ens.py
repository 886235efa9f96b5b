"""The notation of the Meta-ENS: what is read, how it is written, and where mistakes are."""

from __future__ import annotations

import doctest
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from languages.tables import FOLDER
from support.pairs_strategies import expressions, nested_profile
from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import Expression, Framed, Negation, Primitive
from tocsin.algebra.pairs.operators import (
    conjunction,
    disjunction,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.algebra.pairs.parameters import FIRST, LAST, Consumption, Detection, Mode, Pick, Traversal
from tocsin.algebra.pairs.profile import Action, Profile
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.errors import InputError, PatternErrors
from tocsin.languages.registry import parse, show

SECOND = 1_000_000


def read(text: str, **options: object) -> Expression:
    found: Profile = parse(text, "meta-ens", options=options or None)
    return found.expression


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("(a | b)", disjunction("a", "b")),
        ("(a, b)_5", conjunction("a", "b", within=5 * SECOND)),
        (
            "(a ; b)_2min{z=first, w=last, P: x=y}",
            sequence("a", "b", within=120 * SECOND, first="first", second="last", pairs="unique"),
        ),
        ("(a : b){tolerance=2s}", simultaneity("a", "b", tolerance=2 * SECOND)),
        ("(a ; b){without=c}", sequence("a", "b", without="c")),
        ("!(a)_inf", negation("a", float("inf"))),
        ("!a_5", negation("a", 5 * SECOND)),
        ("!(a , b)_5", negation(conjunction("a", "b"), 5 * SECOND)),
        ("a[2..length]", selection("a", Pick(2, None))),
        ("(a | !(b))_5", disjunction("a", negation("b"), within=5 * SECOND)),
        ("a_5", Framed(Primitive("a"), 5 * SECOND)),
        ("t := 30 sec, (a ; b)_t", sequence("a", "b", within=30 * SECOND)),
        ("E5 := (a ; b), (E5 , c)", conjunction(sequence("a", "b"), "c")),
        ("`a_1`", Primitive("a_1")),
        (
            "(a ; b){consume=delete_reapply, traverse=rl}",
            sequence("a", "b", consumption="delete_reapply", traversal="rl"),
        ),
    ],
)
def test_what_is_written_is_what_is_meant(text: str, meant: Expression) -> None:
    assert read(text) == meant


def test_in_prefix_notation_each_operand_has_its_mode() -> None:
    modes = (Mode(LAST, Consumption.KEEP), Mode(FIRST, Consumption.REAPPLY), Mode())
    found = read(";(last: shared(E1), first: exclusive_parameter(E2), E3){traverse=rl}")
    assert found == sequence("E1", "E2", "E3", modes=modes, traversal=Traversal.RIGHT_TO_LEFT)


def test_a_bare_number_is_of_the_unit_that_is_given() -> None:
    assert read("!(a)_5", unit="us") == Negation(Primitive("a"), 5)
    with pytest.raises(InputError, match="bad-option: the option unit"):
        read("!(a)_5", unit="parsec")
    with pytest.raises(InputError, match="bad-option: the option ticks"):
        read("!(a)_5", ticks=5)


def test_actions_follow_the_profile() -> None:
    found: Profile = parse("(a ; b)_5 : change(L1, 'to red') AND close(W2)", "meta-ens")
    assert found.actions == (Action("change", ("L1", "to red")), Action("close", ("W2",)))
    assert parse(show(found, "meta-ens"), "meta-ens") == found


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("(a ; ", "syntax", 4),
        ("(a ; b", "open-bracket", 1),
        ("(a ; b : c)", "syntax", 8),
        ("a b", "syntax", 3),
        ("(a ; b){q=1}", "syntax", 9),
        ("(a ; b)_5parsec", "bad-duration", 8),
        ("(a ; b)_t", "unknown-name", 8),
        (";(a)", "operand-missing", 1),
        ("a(x<)", "syntax", 5),
        ("a[0]", "bad-choice", 1),
        ("(a ; b){z=1.5}", "syntax", 11),
        ("(a , b){tolerance=3}", "bad-parameter", 1),
        ("(a , b){without=c}", "bad-parameter", 1),
        ("(a ; b){unique, consume=keep}", "two-evaluations", 8),
        (";(a, b){z=first}", "two-evaluations", 1),
        ("t := 5, t := 6, a_t", "duplicate-name", 9),
        ("E := (a ; b), E(x=1)", "not-an-event", 15),
        ("t := 5", "syntax", 6),
        ("(a ; b)_0", "never-matches", 1),
    ],
)
def test_a_mistake_has_a_code_and_a_place(text: str, code: str, column: int) -> None:
    with pytest.raises(PatternErrors) as caught:
        read(text)
    first = caught.value.errors[0]
    assert first.code == code
    assert first.span is not None
    assert first.span.line_column == (1, column)


@given(expressions(depth=3))
def test_what_is_written_is_read_again(expression: Expression) -> None:
    reads_back(expression)


@given(st.integers(0, 2**40))
def test_nested_profiles_are_read_again(seed: int) -> None:
    reads_back(nested_profile(Random(seed), 3))


def reads_back(expression: Expression) -> None:
    if check(expression):
        return
    profile = Profile("pattern", expression)
    text = show(profile, "meta-ens")
    assert parse(text, "meta-ens") == profile, text
    assert parse(text, "meta-ens", options={"unit": "h"}) == profile, text


def test_modes_that_differ_are_written_in_prefix_notation() -> None:
    modes = (Mode(FIRST, Consumption.KEEP), Mode(Pick(2, 3), Consumption.DELETE))
    profile = Profile("pattern", sequence("a", "b", modes=modes))
    assert show(profile, "meta-ens") == ";(first: shared(a), 2..3: exclusive(b))"
    assert isinstance(profile.expression, type(read("(a ; b)")))
    assert isinstance(profile.expression.how, Detection)


def test_the_readme_says_what_is_so() -> None:
    assert doctest.testfile(str(FOLDER / "meta_ens" / "README.md"), module_relative=False).failed == 0


def test_a_negation_may_find_its_timeframe_later_but_not_too_late() -> None:
    profile = parse("!(a)", "meta-ens")
    assert profile.expression == negation("a")
    with pytest.raises(PatternErrors, match="timeframe-missing"):
        plan_texts(named_texts("(b, !(a))", "meta-ens"), KnownEvents())
