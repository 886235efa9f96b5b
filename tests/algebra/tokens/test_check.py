"""Mistakes of patterns that can be read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from support.strategies import subscriptions
from tocsin.algebra.predicate import And, Attribute, Compare, Literal, Not, Or, RoleAttribute, Variable
from tocsin.algebra.tokens.bounds import MAX_DEPTH, MAX_ERRORS
from tocsin.algebra.tokens.check import UNREADABLE, check, wanting
from tocsin.algebra.tokens.extent import depth
from tocsin.algebra.tokens.pattern import (
    AllOf,
    Atom,
    EventSpec,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
)
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Definition, Subscription
from tocsin.errors import PatternErrors
from tocsin.events import Catalog, EventType
from tocsin.languages.core import parse
from tocsin.values import Relation

CATALOG = Catalog(
    [
        EventType("A", {"x": "int", "s": "string", "f": "bool", "at": "timestamp"}),
        EventType("B", {"x": "int", "name": "string"}),
        EventType("SubA", {"extra": "int"}, "A"),
        EventType("C"),
    ],
    sets={"AorB": ["A", "B"]},
    closed=True,
)


def codes(text: str, catalog: Catalog | None = CATALOG) -> list[tuple[str, str]]:
    """What is wrong with a text, with what is underlined; nothing if it is right."""
    try:
        parse(text, catalog)
    except PatternErrors as errors:
        return [(e.code, e.span.text[e.span.start : e.span.end] if e.span else "") for e in errors.errors]
    return []


@pytest.mark.parametrize(
    "text",
    [
        "[A];[B]",
        "[AorB(x = 1)]",
        "[SubA(extra = 1 AND x = 1)]",
        "[A(at > '2004-01-31T19:00:00')]",
        # Bound before, on every way.
        "[A(x = $v)][B(x > $v)]",
        "([A(x = $v)] | [B(x = $v)])[B(x > $v)]",
        "[A(x = $v AND x > $v)]",
        "[A(x = $v)][B(x = 1 OR x > $v)]",
        "[A(x = $v)][B(NOT x = $v)]",
        "[A(x = $v)][!A(x = $v) in {A, B}]",
        "([A(x = $v)], [B(x > $v)])_{T1=1s}",
        # The first use may be anywhere if it is `=`: it binds there.
        "[A(x = $v)]*[B(x = $v)]",
        "([A(x = $v)] || [B(x = $w)])[B(x > $v AND x > $w)]",
        # Timers where they can be seen.
        "([A], [T1 in {T1, B}])_{T1=1s}",
        "([A], ([B], [T1, T2])_{T2=1s})_{T1=1s}",
        "([A], [T1])_{T1=1s};([A], [T1])_{T1=1s}",
        # Composites.
        "C1 := ([A(x = $v)]); C2 := ([C1][B]); [C2][C1(v = 1)]",
        "[A][B] where A.x = B.x AND A.s != 'p'",
        "C1 := ([A]); [C1][B] where A.x = 1",
        "[!A in {B, C}] where B.x = 1",
    ],
)
def test_what_is_right(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Q]", [("unknown-type", "Q")]),
        ("[A in {A, Q}]", [("unknown-type", "Q")]),
        ("[A(y = 1)]", [("unknown-attribute", "y")]),
        ("[A(extra = 1)]", [("unknown-attribute", "extra")]),
        # Of a set only what all its members have.
        ("[AorB(s = 'p')]", [("unknown-attribute", "s")]),
        ("[A(x = 'p')]", [("type-mismatch", "'p'")]),
        ("[A(s = 1)]", [("type-mismatch", "1")]),
        ("[A(f = 1)]", [("type-mismatch", "1")]),
        ("[A(at = 'yesterday')]", [("type-mismatch", "'yesterday'")]),
        ("[A(x = $v)][B(name = $v)]", [("type-mismatch", "$v")]),
        # Variables without a value on some way.
        ("[A(x > $v)]", [("unbound-variable", "$v")]),
        ("[A(x = 1 OR x = $v)]", [("unbound-variable", "$v")]),
        ("[A(NOT x = $v)]", [("unbound-variable", "$v")]),
        ("[!A(x = $v) in {A, B}]", [("unbound-variable", "$v")]),
        ("([A(x = $v)] | [B])[B(x > $v)]", [("unbound-variable", "$v")]),
        ("[A(x = $v), B][B(x > $v)]", [("unbound-variable", "$v")]),
        ("[A(x = $v)]*[B(x > $v)]", [("unbound-variable", "$v")]),
        ("[A in {A, B(x = $v)}][B(x > $v)]", [("unbound-variable", "$v")]),
        # No variable reaches into ||.
        ("[A(x = $v)]([B(x > $v)] || [A])", [("unbound-variable", "$v")]),
        # Timers.
        ("['#1'];[B]", [("bad-name", "'#1'")]),
        ("[T1]([A], [B])_{T1=1s}", [("timer-out-of-reach", "T1")]),
        ("([T1], [B])_{T1=1s}", [("timer-out-of-reach", "T1")]),
        ("([A], [T1] || [B])_{T1=1s}", [("timer-out-of-reach", "T1")]),
        ("([A], [T1(x = 1)])_{T1=1s}", [("timer-filter", "T1(x = 1)")]),
        ("([A], [B])_{C=1s}", [("duplicate-name", "C=1s")]),
        ("C1 := ([A]); ([A], [B])_{C1=1s}", [("duplicate-name", "C1=1s")]),
        ("([A]*, [B])_{T1=1s}", [("empty-first-part", "[A]*")]),
        ("([A]* | [B], [B])_{T1=1s}", [("empty-first-part", "[A]* | [B]")]),
        # Composites.
        ("C1 := ([A]); C1 := ([B]); [C1]", [("duplicate-name", "C1")]),
        ("A := ([B]); [C]", [("duplicate-name", "A")]),
        ("C1 := ([C1]); [C1]", [("undefined-composite", "C1")]),
        ("C1 := ([C2]); C2 := ([A]); [C1]", [("undefined-composite", "C2")]),
        ("C1 := ([A]); [C1(x = 1)]", [("unknown-attribute", "x")]),
        # Where.
        ("[A] where B.x = 1", [("unknown-role", "B.x")]),
        ("[A] where A.y = 1", [("unknown-attribute", "A.y")]),
        ("[A] where A.x = 'p'", [("type-mismatch", "'p'")]),
        # An event that only ends a match is not taken, a timer is no event, a composite has no attributes here.
        ("[A in {A, B}] where B.x = 1", [("unknown-role", "B.x")]),
        ("[!A in {A, B}] where T1.x = 1", [("unknown-role", "T1.x")]),
        ("([A], [T1])_{T1=1s} where T1.x = 1", [("unknown-role", "T1.x")]),
        ("C1 := ([A]); [C1] where C1.x = 1", [("unknown-role", "C1.x")]),
    ],
)
def test_what_is_wrong(text: str, expected: list[tuple[str, str]]) -> None:
    assert codes(text) == expected


def test_all_mistakes_are_found_in_textual_order() -> None:
    assert codes("[Q];[A(y = 1 AND s = 2)] where Z.x = 1") == [
        ("unknown-type", "Q"),
        ("unknown-attribute", "y"),
        ("type-mismatch", "2"),
        ("unknown-role", "Z.x"),
    ]


def test_an_open_catalog_takes_any_name() -> None:
    assert codes("[Q(z = 1)]", None) == []
    assert codes("[Q(z = 1)]", Catalog([EventType("A", {"x": "int"})])) == []
    assert codes("[A(z = 1)]", Catalog([EventType("A", {"x": "int"})])) == [("unknown-attribute", "z")]


def test_hints_name_what_was_meant() -> None:
    for text, hint in {
        "[SubB]": "did you mean 'SubA'?",
        "[A(xs = 1)]": "did you mean 'x'?",
        "[Q]": "known: A, AorB, B, C, SubA",
        "C1 := ([A]); [C1(x = 1)]": "it has the variables of its pattern",
    }.items():
        with pytest.raises(PatternErrors) as caught:
            parse(text, CATALOG)
        assert caught.value.hint == hint


# Without a text


def atom(name: str, *filters: Compare | Or | Not) -> Atom:
    return Atom((EventSpec(name, And(filters) if filters else None),))


def nested(levels: int) -> Pattern:
    pattern: Pattern = atom("A")
    for _ in range(levels - 1):
        pattern = Repeat(pattern)
    return pattern


def test_depth_has_a_bound_and_is_found_without_recursion() -> None:
    assert check(Subscription(nested(MAX_DEPTH))) == []
    assert [error.code for error in check(Subscription(nested(MAX_DEPTH + 1)))] == ["too-deep"]
    assert depth(nested(50_000)) == 50_000
    deep = Definition("C1", nested(50_000))
    assert [error.code for error in check(Subscription(atom("A"), (deep,)))] == ["too-deep"]


def test_the_mistakes_are_not_endless() -> None:
    many = Sequence(tuple(atom(f"Q{n}") for n in range(5_000)), Order.WEAK)
    errors = check(Subscription(many), CATALOG)
    assert len(errors) == MAX_ERRORS + 1
    assert errors[-1].code == "too-many-errors"


def test_what_could_not_be_read_is_not_held_against_the_rest() -> None:
    variable = Compare(Attribute("x"), Relation.GT, Variable("v"))
    where = Compare(RoleAttribute("Z", "x"), Relation.EQ, Literal(1))
    composite = Definition("C1", UNREADABLE)
    rest = Sequence((UNREADABLE, atom("A", variable), atom("C1", variable)), Order.WEAK)
    assert check(Subscription(rest, (composite,), where)) == []


def test_a_pattern_without_a_text_has_mistakes_without_a_place() -> None:
    timed = Timed(Repeat(atom("A")), AllOf(atom("T1"), atom("B")), Timer("T1", after=1))
    errors = check(Subscription(timed))
    assert [(error.code, error.span) for error in errors] == [
        ("empty-first-part", None),
        ("timer-out-of-reach", None),
    ]


@pytest.mark.slow
@settings(max_examples=200)
@given(subscriptions(depth=4))
def test_random_subscriptions_are_right(subscription: Subscription) -> None:
    assert check(subscription) == []


# Which matches are wanted


def test_a_subscription_keeps_the_selection_it_has() -> None:
    asked = Selection.of("any", "first 2")
    assert wanting(parse("[A]"), asked).selection == asked
    assert wanting(parse("[A] with take = last"), asked).selection == Selection.of("any", "last")
    assert wanting(parse("[A] with matches = next"), asked).selection == Selection.of("next", "first 2")
    assert wanting(parse("[A] with matches = next"), None).selection == Selection.of("next")


@pytest.mark.parametrize(
    ("text", "asked", "code"),
    [
        ("[A] || [B]", Selection.of("adjacent"), "adjacent-composites"),
        ("C := ([A]); [B]", Selection.of("adjacent"), "adjacent-composites"),
        ("[A] where A.k = 1", Selection.of(take="count"), "count-where"),
    ],
)
def test_a_selection_is_refused_that_the_pattern_cannot_have(text: str, asked: Selection, code: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        wanting(parse(text), asked)
    assert [error.code for error in caught.value.errors] == [code]
    assert wanting(parse(text), Selection.of("leftmost", "last")).selection.matches == "leftmost"
