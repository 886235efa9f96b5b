"""Patterns built in Python, and the same calls as text."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from languages.mistakes import mistakes
from languages.tables import rows
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.pattern import Pattern
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Detection, Interpretation
from tocsin.errors import PatternError, PatternErrors
from tocsin.events import Catalog, EventType
from tocsin.languages import core
from tocsin.languages.binding import Expression, attribute, event, parse, show_subscription, variable

ALWAYS = Interpretation(restart="always")
CATALOG = Catalog([EventType("A", {"x": "int"}), EventType("B"), EventType("C")], closed=True)
a, b, c, d = map(event, "ABCD")


def meant(core_text: str) -> Pattern:
    return core.parse(core_text).pattern


# In Python


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (a.followed_by(b), "[A];[B]"),
        (a.then(b), "[A][B]"),
        (a.after(b.repeated(3)), "([B][B][B]);[A]"),
        (a.or_(b), "[A] | [B]"),
        (a | b | c, "[A] | [B] | [C]"),
        (a.and_(b), "[A] || [B]"),
        (a & b & c, "([A] || [B]) || [C]"),
        # Python's own precedence: & before |.
        (a | b & c, "[A] | ([B] || [C])"),
        (a.any_number().then(b), "[A]*[B]"),
        (a.followed_by(b).followed_by(c), "[A];[B];[C]"),
        (a.followed_by(b.followed_by(c)), "[A];([B];[C])"),
        (a.then(b.repeated(2)), "[A][B][B]"),
        (a.followed_by(b).repeated(2), "([A];[B])([A];[B])"),
        (a.unless(b), "[A in {A, B}]"),
        (a.unless(b | c), "[A in {A, B, C}]"),
        (a.followed_by(b).unless(c), "[A in {A, C}];[B in {B, C}]"),
        (a.followed_by(b).within("1h"), "[A];[B] within 1h"),
        (a.followed_by("B").followed_by(c).within("1 hour"), "[A];[B];[C] within 1h"),
        (a.repeated(3).within("1h"), "[A][A][A] within 1h"),
        ((a & b).within("1min"), "([A] || [B]) within 1min"),
        (a.repeated(2, 5), "[A]{2,5}"),
        (a.at_least(2), "[A]{2,}"),
        (a.optional().then(b), "[A]?[B]"),
        (a.not_followed_by(b, within="5min"), "([A], [T1 in {T1, B}])_{T1=5min}"),
        # A timer is called like no event, also like none that is joined later.
        (a.not_followed_by(b, "1s").then(event("T1")), "([A], [T2 in {T2, B}])_{T2=1s}[T1]"),
        (
            a.then(b.then(c).within("1s")).within("1h"),
            "[A]([B][C] within 1s) within 1h",
        ),
    ],
)
def test_methods(expression: Expression, text: str) -> None:
    assert expression.pattern == meant(text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (a.where(attribute("x") < 15), "[A(x < 15)]"),
        (a.where(x=1, s="p"), "[A(x = 1 AND s = 'p')]"),
        (a.where(attribute("x") >= 1.5, f=True), "[A(x >= 1.5 AND f = true)]"),
        (a.where(x=1).where(attribute("s") != "p"), "[A(x = 1 AND s != 'p')]"),
        (a.where((attribute("x") > 1) | (attribute("s") == "p")), "[A(x > 1 OR s = 'p')]"),
        (a.where(~((attribute("x") > 1) & (attribute("x") <= 2))), "[A(NOT (x > 1 AND x <= 2))]"),
        (a.where(attribute("x") > 15), "[A(x > 15)]"),
        (a.where("x > 3", s="p"), "[A(x > 3 AND s = 'p')]"),
        (a.where(attribute("x").is_in(1, 2)), "[A(x IN (1, 2))]"),
        (a.where(attribute("x").between(1, 2)), "[A(x >= 1 AND x <= 2)]"),
        (a.where(attribute("s").like("p%") | attribute("x").is_null()), "[A(s LIKE 'p%' OR x IS NULL)]"),
        (a.where(attribute("x") < attribute("y")), "[A(x < y)]"),
        (a.where(attribute("place.room") == "FE02"), "[A(place.room = 'FE02')]"),
        (a.where(x=variable("v")).then(b.where(attribute("x") != variable("v"))), "[A(x = $v)][B(x != $v)]"),
        (a.unless(b.where(x=1)), "[A in {A, B(x = 1)}]"),
        # The condition holds for what is taken, wherever that is named.
        (a.unless(b).where(x=1), "[A(x = 1) in {A(x = 1), B}]"),
        (a.where(), "[A]"),
    ],
)
def test_conditions(expression: Expression, text: str) -> None:
    assert expression.pattern == meant(text)


def test_a_comparison_may_stand_the_other_way_round() -> None:
    assert a.where(15 > attribute("x")) == a.where(attribute("x") < 15)  # noqa: SIM300


def test_expressions_are_values() -> None:
    before = a.followed_by(b)
    before.within("1h")
    assert before == event("A").followed_by(event("B"))
    assert before.pattern == meant("[A];[B]")
    with pytest.raises(FrozenInstanceError):
        before.built = a.built  # type: ignore[misc]


def test_a_named_composite_is_used_like_an_event() -> None:
    meeting = a.followed_by(b).named("Meeting")
    alert = meeting.then(c).or_(meeting.repeated(2))
    text = "Meeting := ([A];[B]); [Meeting][C] | [Meeting][Meeting]"
    assert alert.subscription() == core.parse(text, interpretation=ALWAYS)


def test_composites_of_composites_come_in_order() -> None:
    inner = a.then(b.then(c).within("1s")).named("Inner")
    outer = inner.followed_by(c).named("Outer")
    assert str(outer | inner) == (
        "Inner := ([A]([B][C] within 1s));\nOuter := ([Inner];[C]);\n[Outer] | [Inner]"
    )


def test_one_name_for_two_patterns_is_a_mistake() -> None:
    with pytest.raises(PatternError, match="duplicate-name"):
        a.named("X").then(b.named("X"))


def test_a_subscription_has_everything() -> None:
    where = attribute("x", of="A") == attribute("x", of="B")
    found = a.then(b).subscription(
        "mine",
        where=where,
        selection=Selection.of("leftmost", "first 3"),
        detection=Detection("guaranteed"),
        distribution="minimum-load",
        interpretation=Interpretation(restart="always"),
    )
    text = "[A][B] where A.x = B.x with matches = leftmost, take = first 3, detection = guaranteed, distribution = minimum-load"
    assert found == core.parse(text, interpretation=Interpretation(restart="always"), name="mine")


def test_a_subscription_is_checked() -> None:
    with pytest.raises(PatternErrors) as caught:
        event("Q").then(a.where(x="p", y=1)).subscription(catalog=CATALOG)
    codes = [error.code for error in caught.value.errors]
    assert sorted(codes) == ["type-mismatch", "unknown-attribute", "unknown-type"]


def test_a_selection_that_the_pattern_cannot_have_is_refused() -> None:
    with pytest.raises(PatternErrors, match="adjacent-composites"):
        a.and_(b).subscription(selection=Selection.of("adjacent"))


def test_the_text_form_is_told_which_matches_are_wanted() -> None:
    wanted = Selection.of("next", "count")
    assert parse("eventA.then(eventB)", selection=wanted).selection == wanted


def test_text_and_code_of_an_expression() -> None:
    expression = a.where(x=1).followed_by(b.unless(c)).within("5min")
    assert str(expression) == "[A(x = 1)];[B in {B, C}] within 5min"
    assert repr(expression) == (
        'event("A").where(attribute("x") == 1).followed_by(event("B").unless(event("C"))).within("5min")'
    )


def test_names_of_types_and_attributes_are_those_of_the_table() -> None:
    expression = (
        event("pay-ok").where(attribute("unit price") > 3).followed_by(event(4624)).followed_by("it's")
    )
    assert str(expression) == "['pay-ok'(`unit price` > 3)];[4624];['it''s']"
    assert parse(repr(expression)).pattern == expression.pattern


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda: event(""), "bad-name"),
        (lambda: event(1.5), "bad-name"),  # type: ignore[arg-type]
        (lambda: a.named(3), "bad-name"),  # type: ignore[arg-type]
        (lambda: a.named("a b"), "bad-name"),
        (lambda: attribute(""), "bad-name"),
        (lambda: variable(""), "bad-name"),
        (lambda: a.within("1h"), "within-what"),
        (lambda: a.then(b).within("soon"), "bad-duration"),
        (lambda: a.then(b).within(5), "bad-duration"),  # type: ignore[arg-type]
        (lambda: a.then(b).within("9" * 40 + "d"), "bad-duration"),
        (lambda: a.repeated(0), "bad-count"),
        (lambda: a.repeated(2.5), "bad-count"),  # type: ignore[arg-type]
        (lambda: a.repeated(True), "bad-count"),
        (lambda: a.repeated(1_000).repeated(1_000), "too-large"),
        (lambda: a.unless(b.then(c)), "not-one-event"),
        (lambda: (a & b).unless(c), "not-inside-and"),
        (lambda: a.then(b).where(x=1), "not-one-event"),
        (lambda: a.where(attribute("x", of="A") == 1), "bad-value"),
        (lambda: attribute("x") == attribute("y", of="A"), "bad-value"),
        (lambda: attribute("x").is_in(), "bad-value"),
        (lambda: a.followed_by(3), "bad-value"),  # type: ignore[arg-type]
        (lambda: a.repeated(3, 2), "bad-count"),
        (lambda: attribute("x") == None, "bad-value"),  # noqa: E711
        (lambda: attribute("x") < [1], "bad-value"),
        (lambda: attribute("x") < float("nan"), "bad-number"),
        (lambda: attribute("x") < 2**70, "bad-number"),
        (lambda: bool(a), "no-truth"),
        (lambda: a and b, "no-truth"),
        (lambda: 1 < attribute("x") < 2, "no-truth"),
        (lambda: attribute("x") == 1 and attribute("y") == 2, "no-truth"),
    ],
)
def test_mistakes_in_python(wrong: object, code: str) -> None:
    assert callable(wrong)
    with pytest.raises(PatternError) as caught:
        wrong()
    assert caught.value.code == code
    assert caught.value.hint


def test_all_mistakes_of_a_condition_are_reported() -> None:
    with pytest.raises(PatternErrors, match="expected a value"):
        a.where("x > AND s = 'p'")


def test_an_expression_is_not_too_deep() -> None:
    expression = a
    for _ in range(99):
        expression = expression.any_number()
    with pytest.raises(PatternError, match="too-deep"):
        expression.any_number()


# As text


def table() -> list[tuple[str, str]]:
    """Every spelling of the README's table, with the events of the tests."""
    found = []
    for python, text, meaning in rows("binding", "Methods"):
        # The last row is about subscriptions, which the text form has no word for.
        if meaning:
            found += [(spelling, meaning[0]) for spelling in python]
            short = [word for word in text if "(" not in word]
            found += [(f"a.{word}({'' if word == 'anyNumber' else 'b'})", meaning[0]) for word in short]
    return found


@pytest.mark.parametrize(("text", "meaning"), [row for row in table() if "notFollowedBy" not in row[0]])
def test_the_methods_of_the_readme(text: str, meaning: str) -> None:
    assert parse(text) == core.parse(meaning, interpretation=ALWAYS)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("eventA.after(eventB.repeated(3))", "([B][B][B]);[A]"),
        ("eventA.or(eventB).and(eventC)", "([A] | [B]) || [C]"),
        ("eventA | eventB & eventC", "[A] | ([B] || [C])"),
        ("(eventA | eventB).then(eventC)", "([A] | [B])[C]"),
        ('event("A").then(event("eventA"))', "[A][eventA]"),
        ('eventA.notFollowedBy(eventB, "5min")', "([A], [T1 in {T1, B}])_{T1=5min}"),
        ('eventA.notFollowedBy(eventB | eventC, within="5min")', "([A], [T1 in {T1, B, C}])_{T1=5min}"),
        ("eventA.where(x=-1, s='it''s', f=True)", "[A(x = -1 AND s = 'it''s' AND f = true)]"),
        ('eventA.where((attribute("x") < 1) & ~(attribute("y") == 2))', "[A(x < 1 AND NOT y = 2)]"),
        ('eventA.where(attribute("x") <> 1)', "[A(x != 1)]"),
        ("eventA // first\n  .then(eventB)", "[A][B]"),
        ('"A".then("B").within("5 min")', "[A][B] within 5min"),
        ('eventA.where("x IN (1, 2)", y=3)', "[A(x IN (1, 2) AND y = 3)]"),
        ('eventA.where(attribute("x") < attribute("y"))', "[A(x < y)]"),
        ('eventA.where(attribute("s").like("p%"))', "[A(s LIKE 'p%')]"),
        ("eventA.repeated(2, 3).then(eventB.optional()).then(eventC.atLeast(1))", "[A][A][A]?[B]?[C][C]*"),
    ],
)
def test_texts(text: str, meaning: str) -> None:
    assert parse(text).pattern == meant(meaning)


@pytest.mark.parametrize(
    ("word", "catalog", "name"),
    [
        ("eventA", None, "A"),
        ("eventA", Catalog(), "A"),
        ("event_door", None, "door"),
        ("eventful", None, "eventful"),
        ("event1", None, "event1"),
        ("event", None, "event"),
        ("door", None, "door"),
        ("eventA", Catalog([EventType("A")]), "A"),
        ("eventdoor", Catalog([EventType("door")]), "door"),
        ("eventA", Catalog([EventType("A"), EventType("eventA")]), "eventA"),
        ("eventA", Catalog([EventType("B")]), "eventA"),
    ],
)
def test_what_a_bare_name_stands_for(word: str, catalog: Catalog | None, name: str) -> None:
    assert parse(word, catalog).pattern == meant(f"[{name}]")


def test_the_table_of_names_goes_first() -> None:
    assert parse("eventA.then(door)", names={"door": "Door", "eventA": "X"}).pattern == meant("[X][Door]")


def test_mistakes_of_different_kinds_are_all_reported() -> None:
    text = 'eventQ.folowedBy(eventA).or(eventA.where(x="p").repeated(0)).then(eventB.within("1h"))'
    assert mistakes(lambda: parse(text, CATALOG)) == [
        ("unknown-type", "eventQ"),
        ("unknown-method", "folowedBy"),
        ("bad-count", 'eventA.where(x="p")'),
        ("type-mismatch", '"p"'),
        ("within-what", "eventB"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("syntax", "")]),
        ("eventA..then(eventB)", [("syntax", ".")]),
        ("eventA.then", [("syntax", "n")]),
        ("eventA.then(", [("open-bracket", "(")]),
        ("eventA.then(eventB", [("open-bracket", "(")]),
        ("eventA.then(eventB))", [("syntax", ")")]),
        ("eventA.then(eventB, eventC)", [("syntax", ",")]),
        ("eventA eventB", [("syntax", "eventB")]),
        ('event("")', [("bad-name", 'event("")')]),
        ("event(A)", [("syntax", "A")]),
        ("eventA.repeated()", [("syntax", ")")]),
        ("eventA.repeated(2.5)", [("bad-count", "2.5")]),
        ("eventA.then(eventB).within(1h)", [("syntax", "1h")]),
        ('eventA.then(eventB).within("soon")', [("bad-duration", '"soon"')]),
        ("eventA.notFollowedBy(eventB)", [("syntax", ")")]),
        ("eventA.where(x=p)", [("syntax", "p")]),
        ("eventA.where(y=1)", [("unknown-attribute", "y")]),
        ('eventA.where(attribute("x") = 1)', [("syntax", "=")]),
        (
            'eventA.where(attribute("x") == 1 & attribute("x") == 2)',
            [("syntax", 'attribute("x") == 1'), ("syntax", 'attribute("x") == 2')],
        ),
        (
            'eventA.where(attribute("") == 1)',
            [("bad-name", '""')],
        ),
        ('eventA.named("B")', [("duplicate-name", 'eventA.named("B")')]),
        ("eventA.unless(eventB.then(eventC))", [("not-one-event", "eventB.then(eventC)")]),
        # It looks like code, but nothing is ever run.
        ("eventA.__class__", [("unknown-method", "__class__")]),
        ("eventA.subscription()", [("unknown-method", "subscription")]),
        ('__import__("os").system("true")', [("unknown-type", "__import__"), ("syntax", "(")]),
        ("eventA.where(lambda e: True)", [("syntax", "lambda"), ("bad-character", ":")]),
    ],
)
def test_mistakes(text: str, expected: list[tuple[str, str]]) -> None:
    assert mistakes(lambda: parse(text, CATALOG)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "(" * 60 + "a" + ")" * 60,
        "a.then(" * 60 + "a" + ")" * 60,
        "a" + ".and(a)" * 400,
        "a" + ".anyNumber()" * 400,
        "a" + ".then(a)" * 600,
        "a" + ".repeated(1000)" * 5,
        "a.repeated(4000)" + "".join(f".unless(b{n})" for n in range(50)),
        "a.where(" + "~" * 1_000 + "x=1)",
        "a.where(" + "(" * 1_000,
        "." * 5_000,
        "a.repeated(" + "9" * 5_000 + ")",
        "a\ud800",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_texts_get_a_clear_answer(text: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text)
    assert len(caught.value.errors) <= 101
    assert all(len(error.message) < 200 for error in caught.value.errors)


# Printing


@pytest.mark.parametrize(
    "text",
    [
        "[!A in {A, B}]",
        "[A, B]",
        "([A], [B])_{T1@2004-01-31}",
        "([A], [B, T1])_{T1=1h}",
        "[A] where A.x = 1",
        "[A] with detection = guaranteed",
        "[A] with matches = any",
        "[A] with take = last",
    ],
)
def test_what_has_no_words_is_refused(text: str) -> None:
    with pytest.raises(PatternError, match="not-expressible"):
        show_subscription(core.parse(text))


CONDITIONS = st.recursive(
    st.one_of(
        st.builds(lambda value: attribute("k") < value, st.integers(-3, 3)),
        st.builds(
            lambda value: attribute("s.t") == value,
            st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
        ),
        st.builds(lambda value: attribute("f") != value, st.one_of(st.booleans(), st.floats(-2, 2))),
    ),
    lambda inner: st.one_of(
        st.builds(lambda x, y: x & y, inner, inner),
        st.builds(lambda x, y: x | y, inner, inner),
        inner.map(lambda x: ~x),
    ),
    max_leaves=4,
)
EVENTS = st.one_of(
    st.sampled_from([a, b, c, event("T1")]),
    st.builds(lambda e, condition: e.where(condition), st.sampled_from([a, b]), CONDITIONS),
)


def combined(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    methods = st.sampled_from(
        [Expression.followed_by, Expression.then, Expression.after, Expression.or_, Expression.and_]
    )
    return st.one_of(
        st.builds(lambda method, x, y: method(x, y), methods, inner, inner),
        st.builds(Expression.repeated, inner, st.integers(1, 3)),
        st.builds(lambda x, n: x.repeated(n, 3), inner, st.integers(0, 3)),
        inner.map(Expression.any_number),
        st.builds(lambda x, y: x.followed_by(y).within("1h"), inner, inner),
        st.builds(lambda x, y: x.not_followed_by(y, within="5min"), inner, EVENTS),
        st.builds(lambda x: x.named(f"N{crc32(repr(x).encode())}"), inner),
        st.builds(lambda x, y: x if "and_" in repr(x) else x.unless(y), inner, EVENTS),
    )


@pytest.mark.slow
@settings(max_examples=500)
@given(st.recursive(EVENTS, combined, max_leaves=6))
def test_the_code_of_an_expression_reads_back(expression: Expression) -> None:
    subscription = expression.unchecked()
    if wrong := {error.code for error in check(subscription)}:
        # Whatever is wrong with the expression is wrong with its text, and nothing else.
        assert {code for code, _ in mistakes(lambda: parse(repr(expression)))} == wrong
        return
    assert parse(repr(expression)) == subscription
    assert parse(show_subscription(subscription)) == subscription
    assert core.parse(str(expression), interpretation=ALWAYS) == subscription


WORDS = [
    "eventA",
    "event",
    "a",
    ".",
    "(",
    ")",
    "then",
    "or",
    "within",
    "where",
    "repeated",
    "3",
    '"1h"',
    '"A"',
    "|",
    "&",
]
MORE = [
    "attribute",
    "variable",
    "==",
    "=",
    "~",
    ",",
    "x",
    "§",
    "'",
    "/*",
    "\n",
    "named",
    "unless",
    "-",
    "True",
]


@pytest.mark.slow
@settings(max_examples=500)
@given(st.one_of(st.lists(st.sampled_from(WORDS + MORE), max_size=25).map("".join), st.text(max_size=30)))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse(text, CATALOG)
    except PatternErrors as errors:
        assert str(errors)  # noqa: PT017  (that it can be shown is the point, whatever it is)
