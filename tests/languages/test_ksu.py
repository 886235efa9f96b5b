"""Correlation libraries: reading, writing, and everything that is said about a text."""

from __future__ import annotations

import pytest

from languages.mistakes import mistakes
from tocsin.algebra.correlation.expression import (
    Accumulation,
    Assignment,
    Atom,
    Case,
    Collection,
    Field,
    Is,
    Labelled,
    Push,
    PushNew,
    Sequence,
    Switch,
)
from tocsin.algebra.predicate import Literal
from tocsin.errors import PatternErrors
from tocsin.languages.ksu import parse, parse_filter, parse_guard, parse_idl, show, show_filter, show_guard

IDL = """
eventtype Notify { attribute short SourceID; };
eventtype DataNotify : Notify { attribute float Value; attribute string unit; };
eventtype Notification { };
"""


def told(text: str, idl: str | None = None) -> list[tuple[str, str]]:
    """Codes and underlined words of the mistakes of a library."""
    return mistakes(lambda: parse(text, parse_idl(idl) if idl else None))


def warned(text: str) -> list[tuple[str, str]]:
    found = parse(text).warnings
    return [(w.code, w.span.text[w.span.start : w.span.end] if w.span else "") for w in found]


def one(filter: str, body: str, parameters: str = "E a, E b, E c") -> str:
    return f"N correlation C ({parameters}) {filter} {{ {body} }}"


# --- what a text stands for -------------------------------------------------------------------------

a, b, c = Atom("a"), Atom("b"), Atom("c")


@pytest.mark.parametrize(
    ("text", "branches"),
    [
        ("a+b|a+c", (Collection(Accumulation(a, b), Accumulation(a, c)),)),
        ("a;b+c", (Accumulation(Sequence(a, b), c),)),
        ("a;b;c", (Sequence(Sequence(a, b), c),)),
        ("a;(b;c)", (Sequence(a, Sequence(b, c)),)),
        ("b+l2:c", (Accumulation(b, Labelled("l2", c)),)),
        ("l1:l2:(a|b)", (Labelled("l1", Labelled("l2", Collection(a, b))),)),
        ("a|b||c", (Collection(a, b), c)),
        ("m1:a | m2:b || l1:c", (Collection(Labelled("m1", a), Labelled("m2", b)), Labelled("l1", c))),
    ],
)
def test_precedence(text: str, branches: object) -> None:
    assert parse_filter(text) == branches


def test_a_library_has_everything() -> None:
    text = one(
        "l1:a || l2:b",
        """abort (l1, l2); revive (l2);
        case l1: push a; push new M::T { x = a.x, y = -1, z = "it""s", u = true, v = 1.5 };
        case l2: toggle (l1)""",
    )
    (found,) = parse(text).correlations
    assert found.initial == (Switch("abort", ("l1", "l2")), Switch("revive", ("l2",)))
    values = [Field("a", "x"), Literal(-1), Literal('it"s'), Literal(True), Literal(1.5)]
    new = PushNew("M::T", tuple(Assignment(n, v) for n, v in zip("xyzuv", values, strict=True)))
    assert found.cases == (
        Case(Is("l1"), (Push("a"), new)),
        Case(Is("l2"), (Switch("toggle", ("l1",)),)),
    )


@pytest.mark.parametrize("body", ["case l:", "case l: ;", "case l: ; ;", "case l: ; case l:"])
def test_doing_nothing_is_legal(body: str) -> None:
    assert parse(one("l:a", body)).correlations[0].cases[0].body == ()


def test_comments_and_names_in_modules() -> None:
    text = "M::N correlation C (M::E a) // the head\n l:a /* the filter */ { }"
    assert parse(text).correlations[0].output == "M::N"


def test_an_empty_text_is_an_empty_library() -> None:
    assert parse(" // nothing here").correlations == ()


# --- what is written --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["a", "a;b;c", "a;(b;c)", "(a;b)+c", "a+(b;c)", "a+b | a+c", "l:(a+b) | c || l2:d", "(a | b);c"]
)
def test_a_filter_is_written_as_a_person_would(text: str) -> None:
    assert show_filter(parse_filter(text)) == text


@pytest.mark.parametrize("text", ["l1", "!l1", "l1 & l2 | l3", "l1 & (l2 | l3)", "!(l1 & l2)", "!!l1"])
def test_a_guard_is_written_as_a_person_would(text: str) -> None:
    assert show_guard(parse_guard(text)) == text


def test_a_library_is_written_as_a_person_would() -> None:
    text = """\
Notify correlation Modes (E a, E b, G g) m1:(a;b) || l1:g {
  abort (m1);
  case l1: abort (m1); revive (m1);
  case m1 & !l1: push new Notify { SourceID = a.SourceID };
  case l1: ;
}

N correlation Plain (E a) l:a { }"""
    assert show(parse(text)) == text


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (one("l:z", ""), ("unknown-event", "z")),
        (one("l:a", "case l: push z"), ("unknown-event", "push z")),
        (one("l:a", "case l: push new T { x = z.x }"), ("unknown-event", "z.x")),
        (one("l:a", "case m: push a"), ("unknown-label", "m")),
        (one("l:a", "case l & !m: push a"), ("unknown-label", "m")),
        (one("l:a", "abort (l, m);"), ("unknown-label", "m")),
        (one("l:a + l:b", ""), ("duplicate-label", "l:b")),
        (one("l:a || l:b", ""), ("duplicate-label", "l:b")),
        (one("l:a", "", "E a, F a"), ("duplicate-parameter", "F a")),
        (one("c:a", ""), ("shared-name", "c:a")),
        (one("l:a", "case l: push new T { x = 1, x = 2 }"), ("duplicate-attribute", "x = 2")),
        (one("l:a", "push a;"), ("push-at-start", "push")),
        (one("l:(a || b)", ""), ("nested-parallel", "||")),
        (one("l:a", "") + one("l:a", ""), ("duplicate-name", "N correlation C")),
        (
            one("l:a", "case l: push new T { x = 99999999999999999999 }"),
            ("bad-number", "99999999999999999999"),
        ),
        (one("l:a +", ""), ("syntax", "{")),
        (one("l:case", ""), ("syntax", "case")),
        (one("l:a", "case l push a"), ("syntax", "push")),
        (one("l:a", "case l || l: push a"), ("syntax", "||")),
        (one("l:a", "case l: push a push b"), ("syntax", "push")),
        (one("l:a", "case l: jump (l)"), ("syntax", "jump")),
        (one("l:a", "case l: abort l"), ("syntax", "l")),
        (one("l:a", "case l: push new T { x : 1 }"), ("syntax", ":")),
        (one("l:a", "case l: push new T { x = y }"), ("syntax", "}")),
        ("N correlation C (E a) l:a", ("syntax", "a")),
        ("N correlation C (E a) l:a { case l: push a", ("open-bracket", "a")),
        ("correlation C (E a) l:a { }", ("syntax", "correlation")),
        ("N correlaton C (E a) l:a { }", ("syntax", "correlaton")),
        ("N correlation C () a { }", ("syntax", ")")),
    ],
)
def test_a_mistake_is_underlined(text: str, mistake: tuple[str, str]) -> None:
    assert told(text) == [mistake]


@pytest.mark.parametrize(
    ("head", "body", "mistake"),
    [
        ("DataNotify correlation C (Notify a)", "push a", ("wrong-output", "push a")),
        (
            "Notify correlation C (DataNotify a)",
            "push new Notification {}",
            ("wrong-output", "new Notification {}"),
        ),
        ("Notify correlation C (DataNotify a)", "push new Notfy {}", ("unknown-type", "new Notfy {}")),
        ("Notfy correlation C (DataNotify a)", "", ("unknown-type", "Notfy correlation C")),
        ("Notify correlation C (Data a)", "push a", ("unknown-type", "Data a")),
        (
            "Notify correlation C (DataNotify a)",
            "push new Notify { Nope = 1 }",
            ("unknown-attribute", "Nope = 1"),
        ),
        (
            "Notify correlation C (Notify a)",
            "push new Notify { SourceID = a.Value }",
            ("unknown-attribute", "a.Value"),
        ),
        (
            "Notify correlation C (DataNotify a)",
            "push new Notify { SourceID = a.Value }",
            ("wrong-type", "a.Value"),
        ),
        (
            "Notify correlation C (DataNotify a)",
            "push new Notify { SourceID = 70000 }",
            ("wrong-type", "70000"),
        ),
        ("Notify correlation C (DataNotify a)", 'push new Notify { SourceID = "x" }', ("wrong-type", '"x"')),
        (
            "Notify correlation C (DataNotify a)",
            'push new Notify { drop = "all" }',
            ("bad-delivery", '"all"'),
        ),
    ],
)
def test_types_are_checked(head: str, body: str, mistake: tuple[str, str]) -> None:
    assert told(f"{head} l:a {{ case l: {body} }}", IDL) == [mistake]


@pytest.mark.parametrize(
    "body",
    [
        "push a",
        "push new DataNotify { Value = a.SourceID, SourceID = 1 }",
        'push new DataNotify { Value = 1.5, unit = "V", priority = 3, drop = "oldest" }',
        "push new Notify { }",
    ],
)
def test_what_keeps_its_value_can_be_assigned(body: str) -> None:
    assert parse(f"Notify correlation C (DataNotify a) l:a {{ case l: {body} }}", parse_idl(IDL))


def test_without_event_types_no_type_is_checked() -> None:
    assert parse(one("l:a", "case l: push a; push new Other { x = b.y }"))


def test_all_mistakes_come_at_once() -> None:
    text = """
        N correlation One (E a) l:z + (a { case l: push q; case l: jump (l); toggle (m); push new T { x = }; push r; }
        correlation (E a) a { case l: push s }
        N correlation Two (E a) l:a { abort (m); case k | : push a; case l: push t }
    """
    assert told(text) == [
        ("syntax", "{"),
        ("unknown-event", "push q"),
        ("syntax", "jump"),
        ("syntax", "}"),
        ("unknown-event", "push r"),
        ("syntax", "correlation"),
        ("unknown-label", "m"),
        ("syntax", ":"),
        ("unknown-event", "push t"),
    ]


def test_a_module_is_asked_for() -> None:
    types = parse_idl("module Avionics { eventtype Notify { }; };")
    with pytest.raises(PatternErrors, match="did you mean 'Avionics::Notify'"):
        parse("Notify correlation C (Avionics::Notify a) l:a { }", types)


def test_a_long_row_of_operands_is_refused_at_once() -> None:
    assert told(one("+".join(["a"] * 20_000), ""))[0][0] == "too-deep"
    assert parse(one("+".join(["a"] * 199), ""))


# --- warnings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (one("l:(a;b+c)", ""), ("mixed-operators", "a;b")),
        (one("l:(c+a;b)", ""), ("mixed-operators", "a;b")),
        (one("a;b", ""), ("no-label", "a;b")),
        (one("l:a || b", ""), ("no-label", "b")),
        (one("l:a || k:b", "case !l: push new T {}"), ("foreign-negation", "l")),
        (one("l:a || k:b", "case k & !l: push new T {}"), ("foreign-negation", "l")),
        (one("l:a || k:b", "case !(l | k): push new T {}"), ("foreign-negation", "l")),
        (one("l:a || k:b", "case l & k: push new T {}"), ("never-true", "l & k")),
        (one("l1:a | l2:b", "case l1 | l2: push a"), ("absent-event", "push a")),
        (one("l1:a | l2:b", "case !l1: push a"), ("absent-event", "push a")),
        (one("l:a", "case l: push new T { x = b.y }"), ("absent-event", "new T { x = b.y }")),
        (one("ma:a+mb:b || k:c", "case k: abort (ma); case ma & mb: push a"), ("absent-event", "push a")),
        (one("l:(m:a+b) || k:c", "case k: toggle (m); case l: push a"), ("absent-event", "push a")),
    ],
)
def test_a_warning(text: str, warning: tuple[str, str]) -> None:
    assert warning in warned(text)


@pytest.mark.parametrize(
    "text",
    [
        one("l1:(a+b) | l2:(a+c)", "case l1: push b; case l2: push c; case l1 | l2: push a"),
        one("l1:(a;b) | l2:c", "case l1 & !l2: push b"),
        one("l1:(a;b) | l2:(b;a)", "case l1: push b; case l2: push a"),
        one("(a;b)+c | l:a", "case !l: push c; case l: push a"),
        one("l1:(a+b) | l2:(a+c)", "case l1: push b; case !l1: push c"),
        one("l1:(a+b) | l2:(a+c)", "case l1: push b; case l2 & !l1: push c"),
        one("m1:(a;b) | m2:(b;a) || l1:c", "abort (m1, m2); case l1: revive (m1); case m1: push b"),
        one("ma:a+mb:b || k:c", "case k: abort (ma); case ma & mb: push new T {}; case mb: push b"),
        one("l:(m:(a+b)) || k:c", "case k: abort (m); case m: push a; push b"),
    ],
)
def test_no_warning(text: str) -> None:
    assert warned(text) == []


def test_warnings_come_in_the_order_of_the_text() -> None:
    text = one("a || b;c+a", "case l: push c", "E a, E b, E c").replace("a ||", "l:a ||")
    assert [code for code, _ in warned(text)] == ["mixed-operators", "no-label", "absent-event"]
