"""EXML-QL: texts to queries and back, and what is wrong with a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from support.block_strategies import patterns, queries
from tocsin.algebra.blocks.paths import Chain, Either, Name, Repeated, TagVariable
from tocsin.algebra.blocks.query import (
    Attribute,
    Bound,
    Call,
    Interpretation,
    Pattern,
    Query,
    Text,
    Variable,
    Where,
)
from tocsin.algebra.blocks.temporal import Absent, Both, Of, OneOfTwo, Related
from tocsin.errors import InputError, PatternErrors
from tocsin.languages import registry
from tocsin.languages.exml_ql import parse, parse_pattern, show, show_pattern, xml_ql

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "conformance" / "exml-ql.yaml").read_text(encoding="utf-8")
)
TEXTS = [
    case["expression"]
    for case in CASES
    if isinstance(case["expression"], str) and case["expect"].get("error") is not True
]


@settings(max_examples=300, deadline=None)
@given(queries())
def test_what_is_shown_is_read_again(query: Query) -> None:
    assert parse(show(query), query.interpretation) == query


@settings(max_examples=200, deadline=None)
@given(patterns)
def test_a_pattern_that_is_shown_is_read_again(pattern: Pattern) -> None:
    assert parse_pattern(show_pattern(pattern)) == pattern


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_cases_are_shown_and_read_again(text: str) -> None:
    query = parse(text)
    assert parse(show(query)) == query


def test_parts_of_a_pattern() -> None:
    pattern = parse_pattern(
        '<a k="1" l=$l> <b.c|d+> $x hello there </> "x < 1" </a> ELEMENT_AS $e CONTENT_AS $c'
    )
    inner = Pattern(
        Either((Chain((Name("b"), Name("c"))), Repeated(Name("d"), "+"))),
        parts=(Variable("x"), Text("hello there")),
    )
    assert pattern == Pattern(
        Name("a"),
        (Attribute("k", Text("1")), Attribute("l", Variable("l"))),
        (inner, Text("x < 1")),
        (Bound("element", Variable("e")), Bound("content", Variable("c"))),
    )
    assert parse_pattern("<$t></>").tag == TagVariable("t")


def test_relations_bind_stronger_than_and_and_or() -> None:
    text = 'WHERE BLOCK $A: <a></> IN "s" BLOCK $B: <b></> IN "s" BLOCK $C: <c></> IN "s" EVENT {} CONSTRUCT <r></>'

    def composed(event: str) -> object:
        return parse(text.format(event)).where.composition

    a, b, c = Of("A"), Of("B"), Of("C")
    assert composed("$A BEFORE $B AFTER $C") == Related("AFTER", Related("BEFORE", a, b), c)
    assert composed("$A OR $B AND $C DURING $A WITHIN 1.5s") == OneOfTwo(
        a, Both(b, Related("DURING", c, a, 1_500_000))
    )
    assert composed("NOT $A BETWEEN $B AND $C AND $A") == Both(Absent(a, b, c), a)


def test_blocks_without_a_name_are_counted() -> None:
    text = 'WHERE <a>$p</> IN "s", <i></> IN $p, BLOCK $B: <b></> IN "s", <c></> IN "s" CONSTRUCT <r></>'
    assert [block.name for block in parse(text).blocks] == ["_1", "B", "_3"]


def test_functions_are_read() -> None:
    text = (
        'FUNCTION lines($o: "order.dtd", $p): "line.dtd" WHERE <line>$l</> IN $o CONSTRUCT <l> $l </> END '
        "FUNCTION twice($o) WHERE <l>$l</> IN lines($o, $o) CONSTRUCT <m> $l </> END "
        'WHERE <m>$x</> IN twice("orders") CONSTRUCT <r> $x </>'
    )
    query = parse(text)
    assert [function.name for function in query.functions] == ["lines", "twice"]
    assert isinstance(query.blocks[0].source, Call)
    assert parse(show(query)) == query


def test_comments_and_blanks_mean_nothing_between_conditions() -> None:
    text = 'WHERE // first\n <a> $x </> IN "s" /* then */ , $x < 3 CONSTRUCT <r> $x </> // end'
    assert parse(text) == parse('WHERE <a>$x</> IN "s" $x<3 CONSTRUCT <r>$x</>')


def test_text_between_tags_stands_for_itself() -> None:
    assert parse_pattern("<a> http://x.org it's 5 o'clock </a>").parts == (
        Text("http://x.org it's 5 o'clock"),
    )


WRONG = {
    "WHERE CONSTRUCT <a></>": ("syntax", 7, "as in WHERE"),
    "WHERE <a></> CONSTRUCT <b></>": ("syntax", 14, "IN"),
    "CONSTRUCT <a></>": ("syntax", 1, "WHERE"),
    'WHERE BLOCK $A: <a></> IN "x", EVENT $B CONSTRUCT <r></>': ("unknown-block", 38, "A"),
    'WHERE BLOCK $A: <a></> IN "s", BLOCK $A: <b></> IN "s" CONSTRUCT <r></>': ("duplicate-name", 38, None),
    'WHERE BLOCK $x: <a>$x</> IN "s" CONSTRUCT <r></>': ("duplicate-name", 13, "another name"),
    'WHERE <a>$x</b> IN "s" CONSTRUCT <r></>': ("wrong-end-tag", 12, "</a>"),
    'WHERE <a>$x</> IN "s" CONSTRUCT <r> $y </>': ("unbound-variable", 37, "known: x"),
    'WHERE <a>$x</> IN "s" ORDERED-BY $y CONSTRUCT <r></>': ("unbound-variable", 34, "known: x"),
    'WHERE <a>$x</> IN "s", $y < 1 CONSTRUCT <r></>': ("unbound-variable", 24, "known: x"),
    'WHERE <a>$x</> IN "s", <b></> IN $y CONSTRUCT <r></>': ("unbound-variable", 34, "known: x"),
    'WHERE <a>$x</> IN "s", <b>$y</> IN $z, <c>$z</> IN $y CONSTRUCT <r></>': ("circular-source", 36, None),
    'WHERE <a></> IN "s", EVENT $_1 BEFORE CONSTRUCT <r></>': ("syntax", 39, "$"),
    'WHERE <a></> IN "s", EVENT $_1 CONTEXT RECNT CONSTRUCT <r></>': ("syntax", 40, "RECENT"),
    'WHERE <a/> IN "s" CONSTRUCT <r></>': ("syntax", 9, "<a></>"),
    'WHERE <n:a></> IN "s" CONSTRUCT <r></>': ("syntax", 9, "namespace"),
    "WHERE <a></> IN s CONSTRUCT <r></>": ("syntax", 19, '"s"'),
    'WHERE <a></> IN "s CONSTRUCT <r></>': ("open-string", 17, '"'),
    'WHERE <a>$x</> IN "s", $x CONSTRUCT <r></>': ("syntax", 27, "$x < 3"),
    'WHERE <a>$x</> IN f("s") CONSTRUCT <r></>': ("unknown-function", 19, "declared"),
    'WHERE <a></> IN "s" CONSTRUCT <r k="1" k="2"></>': ("duplicate-name", 31, None),
    'WHERE <a></> IN "s", EVENT $_1, EVENT $_1 CONSTRUCT <r></>': ("duplicate-event", 33, "AND"),
    'WHERE <a></> IN "s" CONSTRUCT <r> WHERE <b></> IN "t" CONSTRUCT <c></> </>': ("unknown-stream", 51, "s"),
    'WHERE <a></> IN "s" CONSTRUCT <r> WHERE BLOCK $B: <b></> IN "s" CONSTRUCT <c></> </>': (
        *("misplaced-block", 47),
        "leave out",
    ),
    'FUNCTION f($a) WHERE <b></> IN "s" CONSTRUCT <c></> END WHERE <a></> IN "s" CONSTRUCT <r></>': (
        *("unknown-stream", 32),
        "parameter",
    ),
    'WHERE <a></> IN "s", EVENT $_1 BEFORE $_1 WITHIN 5parsecs CONSTRUCT <r></>': (
        "bad-duration",
        50,
        "5min",
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_has_a_code_a_place_and_a_hint(text: str) -> None:
    code, column, hint = WRONG[text]
    with pytest.raises(PatternErrors) as raised:
        parse(text)
    (error,) = raised.value.errors
    assert error.span is not None
    assert (error.code, error.span.start + 1) == (code, column), error
    assert hint is None or hint in (error.hint or ""), error


def test_all_mistakes_are_found_at_once() -> None:
    text = (
        'WHERE <a>$x</b> IN "s", $x < , BLOCK A: <c></> IN "s", <d>$y</> IN "t" $y = "1" '
        "EVENT $A NEAR $B CONSTRUCT <r> $x </q>"
    )
    with pytest.raises(PatternErrors) as raised:
        parse(text)
    assert [e.code for e in raised.value.errors] == [
        *("wrong-end-tag", "syntax", "syntax", "syntax", "wrong-end-tag"),
    ]
    static = 'WHERE <a>$x</> IN "s", $y < 1, $z < 2, EVENT $C CONSTRUCT <r> $w </>'
    with pytest.raises(PatternErrors) as raised:
        parse(static)
    assert [e.code for e in raised.value.errors] == ["unbound-variable"] * 2 + [
        "unknown-block",
        "unbound-variable",
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("WHERE " + "<a>" * 100, "too-deep"),
        ("WHERE <" + "(" * 100, "too-deep"),
        ('WHERE <a>$x</> IN "s" ' + "(" * 100, "too-deep"),
        ('WHERE <a>$x</> IN "s" ' + "NOT " * 100, "too-deep"),
        ('WHERE <a>$x</> IN "s" EVENT ' + "(" * 100, "too-deep"),
        ('WHERE <a>$x</> IN "s" CONSTRUCT ' + "<a>" * 100, "too-deep"),
        ('WHERE <a>$x</> IN "s" CONSTRUCT ' + "<a> WHERE <b></> IN $x CONSTRUCT " * 100, "too-deep"),
        ("WHERE <a>$x</> IN " + "f(" * 100, "too-deep"),
        ("WHERE " + '<a></> IN "s" ' * 200, "too-large"),
        ("WHERE " + " " * 200_000, "too-long"),
        ("WHERE " + "\ud800", "bad-character"),
    ],
)
def test_texts_have_bounds(text: str, code: str) -> None:
    with pytest.raises(PatternErrors) as raised:
        parse(text)
    assert code in [error.code for error in raised.value.errors]


def test_the_option_of_the_language() -> None:
    text = 'WHERE <a></> IN "s" CONSTRUCT <r></>'
    own = registry.language("exml-ql")
    assert own.read(text, {"root_only": True}).interpretation == Interpretation(True)
    with pytest.raises(InputError, match="bad-option: the option root_only cannot be 'perhaps'"):
        own.read(text, {"root_only": "perhaps"})
    with pytest.raises(InputError, match="unknown-option: EXML-QL has no option 'rootonly'"):
        own.read(text, {"rootonly": True})


def test_the_rewriting_keeps_everything_else() -> None:
    text = 'WHERE BLOCK $A: <a>$x</> IN "S" /* mine */ , $x < 3, EVENT $A CONTEXT RECENT CONSTRUCT <r> $x </>'
    assert xml_ql(text) == 'WHERE <a>$x</> IN "S" /* mine */ , $x < 3 CONSTRUCT <r> $x </>'
    with pytest.raises(PatternErrors):
        xml_ql("WHERE CONSTRUCT <r></>")


def test_a_query_is_a_value_of_this_language_only() -> None:
    query = registry.parse('WHERE <a></> IN "s" CONSTRUCT <r></>', "exml-ql")
    assert isinstance(query, Query)
    assert isinstance(query.where, Where)
    assert registry.show(query) == 'WHERE <a></> IN "s" CONSTRUCT <r></>'
    with pytest.raises(InputError, match="this is an EXML-QL query"):
        registry.show(query, "core")
