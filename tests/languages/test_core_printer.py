"""The core language, written: it reads back as the same, and looks as a person would write it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from support.strategies import patterns, selected, subscriptions
from tocsin.algebra.predicate import Unify
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern
from tocsin.algebra.tokens.subscription import Definition, Subscription
from tocsin.errors import PatternError
from tocsin.languages.core import parse, show, show_subscription


@pytest.mark.slow
@settings(max_examples=600)
@given(selected(subscriptions(depth=4, wild=True)))
def test_what_is_printed_reads_back(subscription: Subscription) -> None:
    assert check(subscription) == []
    text = show_subscription(subscription)
    assert parse(text, interpretation=subscription.interpretation) == subscription


@pytest.mark.slow
@settings(max_examples=100)
@given(patterns())
def test_a_printed_pattern_reads_back(pattern: Pattern) -> None:
    assert parse(show(pattern)).pattern == pattern


@pytest.mark.parametrize(
    "text",
    [
        "[A]",
        "[A, B]",
        "[A in B]",
        "[!A in {A, B}]",
        "[A][B];[C]* | [D]",
        "[A];([B];[C])",
        "([A] | [B])*",
        "[A]**",
        "[A] || [B] | [C]",
        "[A] || ([B] || [C])",
        "([A];[B], [T1 in {T1, C}])_{T1=5min}",
        "([A], [B])_{T1=1.5ms}",
        "([A], [B])_{T1@2004-01-31T19:00:00}",
        "([A], [B])_{T1@2004-01-31T19:00:00.000250}",
        "[A(k = -1 AND (s = 'it''s' OR NOT f = true))]",
        "[A(NOT (k = 1 AND s = 'p'))]",
        "[A(k = 1.5e+300)]",
        "[A(room.floor = $x)]",
        "C1 := ([A];[B]);\n[C1]",
        "[A] where A.x = A.y AND NOT A.x = 1",
        "[A] with detection = probabilistic(0.95), distribution = minimum-load",
        "['pay-ok'];[4624]['it''s'(`unit price` > 1 AND user.id = $x)] where 'pay-ok'.`in` = 4624.user.id",
        "[A];[B] with matches = leftmost, take = first 3, detection = guaranteed",
        "[A] with matches = any",
        "[A] with take = count",
    ],
)
def test_a_text_as_a_person_writes_it_is_printed_as_it_is(text: str) -> None:
    assert show_subscription(parse(text)) == text


def named(name: str) -> Atom:
    return Atom((EventSpec(name),))


@pytest.mark.parametrize(
    "subscription",
    [
        Subscription(named("")),
        Subscription(named("A"), (Definition("where", named("A")),)),
        Subscription(Atom((EventSpec("A", Unify("x")),))),
    ],
)
def test_what_has_no_words_is_refused(subscription: Subscription) -> None:
    with pytest.raises(PatternError, match="not-expressible"):
        show_subscription(subscription)
