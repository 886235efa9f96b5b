"""ECL as text: what is read, how it is written, and what a person is told about a mistake."""

from __future__ import annotations

import pytest

from tocsin.algebra.completion.expression import (
    FALSE,
    TRUE,
    Accumulate,
    Interpretation,
    Named,
    Predicate,
    Push,
    Repeat,
    SelectStar,
    measure,
)
from tocsin.algebra.completion.output import Constant, FieldOf, Forward, Make
from tocsin.algebra.predicate import And, Attribute, Compare, Literal, Not, Or
from tocsin.errors import PatternErrors
from tocsin.languages.ecl import parse, show, show_program
from tocsin.values import Relation


def letter(name: str) -> Compare:
    return Compare(Attribute("type"), Relation.EQ, Literal(name))


def compared(field: str, relation: str, value: object) -> Predicate:
    return Predicate(Compare(Attribute(field), Relation(relation), Literal(value)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", Predicate(letter("a"))),
        ("<type = a>", Predicate(letter("a"))),
        ("true", Predicate(TRUE)),
        ("false", Predicate(FALSE)),
        ("<alt >= 5>", compared("alt", ">=", 5)),
        ("<alt>5>", compared("alt", ">", 5)),
        ("<data.alt=-0.5>", compared("data.alt", "=", -0.5)),
        ("<ok != true>", compared("ok", "!=", True)),
        ("<ok<>true>", compared("ok", "!=", True)),
        ('<name = "two words">', compared("name", "=", "two words")),
        ("<timestamp < 1970-01-01T00:00:01>", compared("timestamp", "<", 1_000_000)),
        ("a /\\ b && c", Predicate(And((letter("a"), letter("b"), letter("c"))))),
        ("a \\/ b /\\ c", Predicate(Or((letter("a"), And((letter("b"), letter("c"))))))),
        ("!(a || !b)", Predicate(Not(Or((letter("a"), Not(letter("b"))))))),
        ("⟨alt ≤ 5⟩ ∧ ¬a ∨ b", parse("<alt <= 5> /\\ !a \\/ b").expression),
        ("((a))", Predicate(letter("a"))),
        ("(select* {(a), (b)})", SelectStar((Predicate(letter("a")), Predicate(letter("b"))))),
        ("repeat(3) {a}", Repeat(Predicate(letter("a")), 3)),
        ('push("x y") {a}', Push(Constant("x y"), Predicate(letter("a")))),
        ("push(-7) {a}", Push(Constant(-7), Predicate(letter("a")))),
        ("push(event) {a}", Push(Constant("event"), Predicate(letter("a")))),
        ("push(*) {a}", Push(Forward(), Predicate(letter("a")))),
        ("push(E {}) {a}", Push(Make("E"), Predicate(letter("a")))),
        (
            "push(E {k = event.data.alt, on = true}) {a}",
            Push(Make("E", (("k", FieldOf("data.alt")), ("on", Literal(True)))), Predicate(letter("a"))),
        ),
    ],
)
def test_expression(text: str, expected: object) -> None:
    assert parse(text).expression == expected
    assert parse(show(expected)).expression == expected  # type: ignore[arg-type]


def test_definitions_and_subscriptions() -> None:
    text = "define both = accumulate {a, b};\nsubscribe S {both}\nsubscribe T {push(x) {both}}"
    program = parse(text)
    body = Accumulate((Predicate(letter("a")), Predicate(letter("b"))))
    assert program.subscriptions[0].expression == Named("both", body)
    assert show_program(program) == text


def test_a_defined_predicate_can_stand_in_a_predicate() -> None:
    program = parse("define low = <alt < 500>; in (low /\\ a) do {b}")
    assert show_program(program).endswith("in (<alt < 500> /\\ a) do {b}")


def test_a_type_that_is_also_defined_is_written_out() -> None:
    text = "define a = b;\nsequential {a, <type = a>}"
    assert show_program(parse(text)) == text


def test_the_reading_is_kept() -> None:
    assert parse("a", interpretation=Interpretation("failure")).interpretation.unless_tie == "failure"


def test_a_long_expression_is_written_on_several_lines() -> None:
    long = "accumulate {" + ", ".join(f"push(out{i}) {{event_number_{i}}}" for i in range(6)) + "}"
    lines = show(parse(f"repeat {{{long}}}").expression).splitlines()
    assert lines[0] == "repeat {"
    assert lines[1] == "  accumulate {"
    assert lines[2] == "    push(out0) {event_number_0},"
    assert parse("\n".join(lines)) == parse(f"repeat {{{long}}}")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["syntax"]),
        ("accumulate {}", ["syntax"]),
        ("accumulate {a,}", ["syntax"]),
        ("select {a", ["open-bracket"]),
        ("select {accumulate {a}, b", ["open-bracket"]),
        ("push() {a}", ["syntax"]),
        ("push(1.5) {a}", ["bad-token"]),
        ("push(x)", ["syntax"]),
        ("do {a}", ["syntax"]),
        ("repeat(0) {a}", ["bad-bound"]),
        ("repeat(1.5) {a}", ["bad-bound"]),
        ("repeat() {a}", ["syntax"]),
        ("in (m) {a}", ["syntax"]),
        ("in (sequential {a, b}) do {c}", ["not-a-predicate"]),
        ("select {a} \\/ b", ["not-a-predicate"]),
        ("!select {a}", ["not-a-predicate"]),
        ("selct {a}", ["unknown-operator"]),
        ("select * {a}", ["syntax"]),
        ("accumulate* {a}", ["syntax"]),
        ("a b", ["syntax"]),
        ("a & b", ["syntax"]),
        ("fail {a}}", ["syntax"]),
        ("unless", ["syntax"]),
        ("<alt >= 5", ["syntax"]),
        ("<alt ~ 5>", ["bad-character", "syntax"]),
        ("<in = 5>", ["syntax"]),
        ("<kind = select>", ["syntax"]),
        ("push(E {a = 1, a = 2}) {b}", ["duplicate-field"]),
        ("define x = a; define x = b; x", ["duplicate-name"]),
        ("define x = fail {x}; x", ["used-before-defined"]),
        ("define y = x; define x = a; y", ["used-before-defined"]),
        ("subscribe S {a} subscribe S {b}", ["duplicate-name"]),
        ("subscribe S {a} b", ["syntax"]),
        ("subscribe S {a} define x = b;", ["syntax"]),
        ("define = a; b", ["syntax"]),
        ("/* open", ["open-comment"]),
        (
            "accumulate {a,, selct {b}, <x = >, push(1.5) {c}}",
            ["syntax", "unknown-operator", "syntax", "bad-token"],
        ),
        ("define x = fail {; subscribe S {selct {a}} subscribe {b}", ["open-bracket"]),
        (
            "subscribe S {selct {a}} subscribe {b} subscribe U {c",
            ["unknown-operator", "syntax", "open-bracket"],
        ),
    ],
)
def test_mistakes(text: str, codes: list[str]) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text)
    assert [error.code for error in caught.value.errors] == codes
    assert all(error.span is not None for error in caught.value.errors)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("acumulate {a}", "did you mean 'accumulate'?"),
        ("do {a}", "write do {…} unless {…}"),
        ("a | b", "write ||"),
        ("accumulate {a & b}", "write &&"),
        ("select * {a}", "write select* without a blank"),
        ("unless", "'unless' is a word of the language; an event of this type is <type = \"unless\">"),
        ("a, b", "several expressions stand in an operator, as in accumulate {a, b}, or in subscriptions"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text)
    assert caught.value.hint == hint


def test_a_mistake_is_underlined() -> None:
    with pytest.raises(PatternErrors) as caught:
        parse("select {a,\n  selct {b}}")
    assert str(caught.value).splitlines() == [
        "unknown-operator: there is no operator 'selct' (line 2, column 3)",
        "2 |   selct {b}}",
        "  |   ^^^^^",
        "hint: did you mean 'select'?",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "a" + ")" * 5000,
        "!" * 5000 + "a",
        "fail {" * 5000 + "a" + "}" * 5000,
        "in (" * 5000,
        "".join(f"define x{i + 1} = accumulate {{x{i}, x{i}}};" for i in range(60)) + "x60",
        "define x0 = a;" + "".join(f"define x{i + 1} = fail {{x{i}}};" for i in range(150)) + "x150",
    ],
    ids=["parentheses", "negations", "braces", "guards", "doubling definitions", "a chain of definitions"],
)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    with pytest.raises(PatternErrors):
        parse(text)


def test_as_deep_as_it_may_be() -> None:
    program = parse("fail {" * 99 + "a" + "}" * 99)
    assert measure(program.expression, {}) == (100, 100)
    assert parse(show_program(program)) == program


def test_the_type_compares_with_constants_only() -> None:
    for text in ("<type = event.kind>", "<kind = event.type>"):
        with pytest.raises(PatternErrors, match="type-compared: the type compares with a constant only"):
            parse(text)
    assert show(parse("<alt<event.data.limit>").expression) == "<alt < event.data.limit>"
