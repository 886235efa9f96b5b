"""The core language: what each construct is read as, and what is said about texts that are wrong."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from languages.mistakes import mistakes
from tocsin.algebra.predicate import And, Attribute, Compare, Literal, Not, Or, RoleAttribute, Variable
from tocsin.algebra.tokens.bounds import MAX_LENGTH
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
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
from tocsin.algebra.tokens.subscription import Definition, Detection, Interpretation, Subscription
from tocsin.errors import PatternErrors
from tocsin.events import Catalog, EventType
from tocsin.languages.core import parse
from tocsin.values import Relation

CATALOG = Catalog(
    [
        EventType("A", {"x": "int", "s": "string", "at": "timestamp"}),
        EventType("B"),
        EventType("Door", {"room": "int"}),
    ],
    sets={"Any": ["A", "B"]},
    closed=True,
)


def atom(name: str) -> Atom:
    return Atom((EventSpec(name),))


A, B, C, D = map(atom, "ABCD")


def weak(*parts: Pattern) -> Sequence:
    return Sequence(parts, Order.WEAK)


def strong(*parts: Pattern) -> Sequence:
    return Sequence(parts, Order.STRONG)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("[A]", A),
        ("([A])", A),
        ("[A, B]", Atom((EventSpec("A"), EventSpec("B")))),
        ("['pay-ok']", atom("pay-ok")),
        ('["it\'s"]', atom("it's")),
        ("[4624]", atom("4624")),
        ("['in']", atom("in")),
        ("['a b' in {'a b', 007}]", Atom((EventSpec("a b"),), (EventSpec("a b"), EventSpec("007")))),
        ("[A in B]", Atom((EventSpec("A"),), (EventSpec("B"),))),
        ("[A in {A, B}]", Atom((EventSpec("A"),), (EventSpec("A"), EventSpec("B")))),
        ("[!A in {A, B}]", Atom((EventSpec("A"),), (EventSpec("A"), EventSpec("B")), negated=True)),
        ("[A][B]", weak(A, B)),
        ("[A];[B]", strong(A, B)),
        ("[A]|[B]", AnyOf((A, B))),
        ("[A]||[B]", AllOf(A, B)),
        ("[A]*", Repeat(A)),
        ("[A]**", Repeat(Repeat(A))),
        # Precedence: * > juxtaposition > ; > | > ||
        ("[A][B]*", weak(A, Repeat(B))),
        ("[A][B];[C][D]", strong(weak(A, B), weak(C, D))),
        ("[A];[B]|[C];[D]", AnyOf((strong(A, B), strong(C, D)))),
        ("[A]|[B]||[C]|[D]", AllOf(AnyOf((A, B)), AnyOf((C, D)))),
        ("[A]||[B]||[C]", AllOf(AllOf(A, B), C)),
        ("[A];[B];[C]", strong(A, B, C)),
        ("[A];([B];[C])", strong(A, strong(B, C))),
        ("([A][B])*", Repeat(weak(A, B))),
        # Timing
        ("([A], [B])_{T1=5min}", Timed(A, B, Timer("T1", after=300_000_000))),
        ("([A], [B]) _ { T1 = 5 min }", Timed(A, B, Timer("T1", after=300_000_000))),
        ("([A], [B])_{T1=1.5h}*", Repeat(Timed(A, B, Timer("T1", after=5_400_000_000)))),
        ("([A], [B])_{T1@1970-01-01T00:00:01}", Timed(A, B, Timer("T1", at=1_000_000))),
        ("([A], [B])_{T1@1970-01-01T01:00:00+01:00}", Timed(A, B, Timer("T1", at=0))),
        ("([A], [B])_{T1@1970-01-02}", Timed(A, B, Timer("T1", at=86_400_000_000))),
        # Names and comments
        ("[_x1]", atom("_x1")),
        ("[Tür]", atom("Tür")),
        ("[A] // to the end of the line\n ; /* or \n longer */ [B]", strong(A, B)),
    ],
)
def test_patterns(text: str, pattern: Pattern) -> None:
    assert parse(text).pattern == pattern


def equal(name: str, value: float | str | bool) -> Compare:
    return Compare(Attribute(name), Relation.EQ, Literal(value))


@pytest.mark.parametrize(
    ("text", "filter"),
    [
        ("k = 1", equal("k", 1)),
        ("k = -1.5e3", equal("k", -1500.0)),
        ("k = 'it''s'", equal("k", "it's")),
        ('k = "a ""b"" \'c\'"', equal("k", "a \"b\" 'c'")),
        ("k = true", equal("k", True)),
        ("`unit price` = 1", equal("unit price", 1)),
        ("user.`row.no`.`a``b` = 1", equal("user.row.no.a`b", 1)),
        ("`in` = 1", equal("in", 1)),
        ("k = 1 AND s = 'p' OR f = false", Or((And((equal("k", 1), equal("s", "p"))), equal("f", False)))),
        ("k = 1 AND (s = 'p' OR f = false)", And((equal("k", 1), Or((equal("s", "p"), equal("f", False)))))),
        ("NOT k = 1 AND NOT NOT s = ''", And((Not(equal("k", 1)), Not(Not(equal("s", "")))))),
        ("k = $x", Compare(Attribute("k"), Relation.EQ, Variable("x"))),
        ("k <> 1", Compare(Attribute("k"), Relation.NE, Literal(1))),
        ("place.room.floor = 1", equal("place.room.floor", 1)),
        *((f"k {sign} 1", Compare(Attribute("k"), Relation(sign), Literal(1))) for sign in Relation),
    ],
)
def test_filters(text: str, filter: object) -> None:
    pattern = parse(f"[A({text})]").pattern
    assert isinstance(pattern, Atom)
    assert pattern.accept[0].filter == filter


def test_literals_keep_their_kind() -> None:
    # Literal(1) == Literal(1.0), as in Python, but 1 is not true.
    assert equal("k", 1) != equal("k", True)
    assert parse("[A(k = 1)]") != parse("[A(k = true)]")


def test_the_whole_text() -> None:
    text = """
        C1 := ([A];[B]);
        C2 := ([C1], [B])_{T1=1s};
        [C1] | [C2] where A.x = B.x AND A.s != 'p'
        with take = first 3, detection = probabilistic(0.95), distribution = minimum-load, matches = leftmost
    """
    named = (
        Definition("C1", strong(A, B)),
        Definition("C2", Timed(atom("C1"), B, Timer("T1", after=1_000_000))),
    )
    where = And(
        (
            Compare(RoleAttribute("A", "x"), Relation.EQ, RoleAttribute("B", "x")),
            Compare(RoleAttribute("A", "s"), Relation.NE, Literal("p")),
        )
    )
    interpretation = Interpretation(restart="always")
    assert parse(text, interpretation=interpretation, name="mine") == Subscription(
        AnyOf((atom("C1"), atom("C2"))),
        named,
        where,
        Detection("probabilistic", 0.95),
        "minimum-load",
        interpretation,
        Selection("leftmost", "first", 3),
        "mine",
    )


def test_a_text_says_which_matches_it_wants_and_otherwise_it_is_asked_elsewhere() -> None:
    elsewhere = Selection.of("any", "last")
    assert parse("[A]", selection=elsewhere).selection == elsewhere
    assert parse("[A] with take = count", selection=elsewhere).selection == Selection.of("any", "count")
    # The default counts, too, if a text says it.
    assert parse("[A] with matches = each, take = all", selection=elsewhere).selection == Selection()


def test_nodes_know_their_place() -> None:
    text = "[A];([B][C(k = $x)])"
    pattern = parse(text).pattern
    assert isinstance(pattern, Sequence)
    assert pattern.span is not None
    assert (pattern.span.start, pattern.span.end) == (0, len(text))
    last = pattern.parts[1].span
    assert last is not None
    assert text[last.start : last.end] == "[B][C(k = $x)]"


# Mistakes


def test_mistakes_of_different_kinds_are_all_reported() -> None:
    text = "[Dor];;[!B] ; [A(x = 'p' AND y = 1)]"
    assert mistakes(lambda: parse(text, CATALOG)) == [
        ("unknown-type", "Dor"),
        ("syntax", ";"),
        ("negation-without-domain", "[!B]"),
        ("type-mismatch", "'p'"),
        ("unknown-attribute", "y"),
    ]


def test_a_report_reads_like_this() -> None:
    with pytest.raises(PatternErrors) as caught:
        parse("[A]\n;[Dor(room = 5s)] | [!B]", CATALOG)
    assert str(caught.value) == (
        "syntax: expected a value, an attribute or $variable, but found '5s' (line 2, column 14)\n"
        "2 | ;[Dor(room = 5s)] | [!B]\n"
        "  |              ^^\n"
        "hint: texts and times stand in quotes: '5s'\n"
        "\n"
        "negation-without-domain: a negation needs the set it is taken from (line 2, column 21)\n"
        "2 | ;[Dor(room = 5s)] | [!B]\n"
        "  |                     ^^^^\n"
        "hint: write [!B in {B, …}]: any other event of that set then matches"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[A] -> [B]", "[A];[B] is B after A is over"),
        ("[A] followed by [B]", "[A];[B] is B after A is over"),
        ("[A] and [B]", "write || for both"),
        ("[A] or [B]", "write | for one"),
        ("[A] within 5min [B]", "`within` comes last"),
        ("within 5min [A][B]", "`within` comes last"),
        ("[A within 5min][B]", "`within` comes last"),
        ("[A][B] within 5min | [C]", "`within` comes last"),
        ("[A][B] within 5", "units: ms, s, min, h, d, w"),
        ("[A][B] within 5 moons", "units: ms, s, min, h, d, w"),
        ("[A(x == 1)]", "use a single '='"),
        ("[A(x => 1)]", "write >="),
        ("[A(x = 1 and x = 2)]", "write AND"),
        ("[A(x = 1 && x = 2)]", "write AND"),
        ("[A(not x = 1)]", "write NOT"),
        ("[A(x in (1, 2))]", "write IN"),
        ("[A(x = NULL)]", "write IS NULL"),
        ("[A(x = True)]", "write true or false"),
        ("[A(s = p)]", "texts stand in quotes: 'p'"),
        ("[A x = 1]", "conditions on an event stand in parentheses"),
        ("[A where x = 1]", "conditions on an event stand in parentheses"),
        ("[A.x = 1]", "conditions on an event stand in parentheses"),
        ("[A | B]", "write [A, B] or [A] | [B]"),
        ("[A and B]", "write [A] || [B] for both"),
        ("[A][B] WITHIN 5min", "write within"),
        ("[A]{5,2}", "write {3}, {2,5} or {2,}"),
        ("[A(s LIKE pay)]", "LIKE 'pay%'"),
    ],
)
def test_what_is_written_as_in_other_languages_gets_a_hint(text: str, hint: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text, CATALOG)
    assert hint in (caught.value.errors[0].hint or "")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("[A]{3}", "[A][A][A]"),
        ("[A]+", "[A][A]*"),
        ("[A]{2,}", "[A][A][A]*"),
        ("[A]{2,5}", "[A][A][A]?[A]?[A]?"),
        ("[A]{,2}", "[A]?[A]?"),
        ("[A]{1}", "[A]"),
        ("([A];[B]){2}", "([A];[B])([A];[B])"),
        ("[A][B] within 5 minutes", "[A][B] within 300s"),
        ("[A][B] within '2 weeks'", "[A][B] within 2w"),
        ("[A] || [B] within 5m", "([A] || [B]) within 5min"),
        ("[A(x <> 1)]", "[A(x != 1)]"),
        ("[A(x IN (1, 2))]", "[A(x = 1 OR x = 2)]"),
        ("[A(x NOT BETWEEN 1 AND 2)]", "[A(NOT (x >= 1 AND x <= 2))]"),
        ("[A(s IS NOT NULL)]", "[A(NOT s IS NULL)]"),
        ("C := ([A][B]) within 5s; [C]", "C := ([A][B] within 5s); [C]"),
    ],
)
def test_two_ways_to_say_it(text: str, same: str) -> None:
    assert parse(text, CATALOG) == parse(same, CATALOG)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("syntax", "")]),
        ("[]", [("syntax", "]")]),
        ("[A in ]", [("syntax", "]")]),
        ("[A in {A, B]", [("syntax", "]")]),
        ("[A in {A,, B}]", [("syntax", ",")]),
        ("[A]**]", [("syntax", "]")]),
        ("[A];", [("syntax", ";")]),
        ("[A] | | [Dor]", [("syntax", "|"), ("unknown-type", "Dor")]),
        ("A;[Dor]", [("syntax", "A"), ("unknown-type", "Dor")]),
        ("A(x = 1) | [Dor]", [("syntax", "A"), ("unknown-type", "Dor")]),
        ("[A", [("open-bracket", "[")]),
        ("[A ; [Dor]", [("open-bracket", "["), ("unknown-type", "Dor")]),
        ("([Dor] | [A]", [("open-bracket", "("), ("unknown-type", "Dor")]),
        ("[A])[Dor]", [("syntax", ")"), ("unknown-type", "Dor")]),
        ("([A] [B] x)", [("syntax", "x")]),
        ("[A ) ]", [("syntax", ")")]),
        ("[A(x = 'p)]", [("open-string", "'p)]")]),
        ("[A] /* never ends", [("open-comment", "/*")]),
        ("([A], [Dor])", [("syntax", ")")]),
        ("([A], [B])_T1=5min", [("syntax", "_T1")]),
        ("([A], [B])_{T1=5}", [("syntax", "5")]),
        ("([A], [B])_{T1=5parsecs}", [("bad-duration", "5parsecs")]),
        ("([A], [B])_{T1=0.0001ms}", [("bad-duration", "0.0001ms")]),
        ("([A], [B])_{T1@2004-13-01}", [("bad-time", "2004-13-01")]),
        ("([A], [B])_{T1@9999-12-31T23:59:59-14:00}", [("bad-time", "9999-12-31T23:59:59-14:00")]),
        ("[A], [B]", [("syntax", ",")]),
        ("[A(x == 1)]", [("syntax", "==")]),
        ("[A(x = 1 and s = 'p')]", [("syntax", "and")]),
        ("[A(s = p)]", [("unknown-attribute", "p")]),
        ("[A(at > 2004-01-31)]", [("syntax", "2004-01-31")]),
        ("[A(in = 1)]", [("syntax", "in")]),
        ("[where]", [("syntax", "where")]),
        ("[5min]", [("syntax", "5min")]),
        ("C1 := [A]; [C1]", [("syntax", "[")]),
        ("where := ([A]); [B]", [("syntax", "where")]),
        ("[A] where A.y = 1", [("unknown-attribute", "A.y")]),
        ("[A] where Dor.room = 1", [("unknown-role", "Dor.room")]),
        ("[A] where x = 1", [("syntax", "=")]),
        ("[A] where A.x = with detection = sure", [("syntax", "with"), ("unknown-policy", "sure")]),
        ("[A] with luck = 1", [("unknown-policy", "luck")]),
        ("[A] with detection = probabilistic(2)", [("bad-threshold", "2")]),
        ("[A] with detection = guaranteed, detection = best-effort", [("duplicate-name", "detection")]),
        ("[A] with matches = leftmst, take = last", [("bad-selection", "leftmst")]),
        ("[A] with matches = first 3", [("bad-selection", "first"), ("syntax", "3")]),
        ("[A] with take = frist 3, matches = al", [("bad-selection", "frist"), ("bad-selection", "al")]),
        ("[A] with take = first 0", [("bad-selection", "first 0")]),
        ("[A] with take = first 2.5", [("bad-selection", "first 2.5")]),
        ("[A] with take = first", [("syntax", "t")]),
        ("[A] with take = all, take = last", [("duplicate-name", "take")]),
        ("[A] || [B] with matches = adjacent", [("adjacent-composites", "[A] || [B]")]),
        ("[A]([A] || [B] || [A]) with matches = adjacent", [("adjacent-composites", "[A] || [B] || [A]")]),
        ("C := ([A] || [B]); [C] with matches = adjacent", [("adjacent-composites", "C")]),
        ("[A] where A.x = 1 with take = count", [("count-where", "A.x = 1")]),
        ("[¬A ⊆ {A, B}]", [("bad-character", "¬"), ("bad-character", "⊆")]),
        ("[A(s = “p”)]", [("bad-character", "“p”")]),
        # What could not be read may have bound the variable, so nothing is said about it.
        ("[A(x = $v, 1)];[B(x > $v)]", [("syntax", ","), ("unknown-attribute", "x")]),
    ],
)
def test_mistakes(text: str, expected: list[tuple[str, str]]) -> None:
    assert mistakes(lambda: parse(text, CATALOG)) == expected


def test_a_place_is_complained_about_once() -> None:
    assert mistakes(lambda: parse("]")) == [("syntax", "]")]


# Texts of strangers


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 51 + "[A]" + ")" * 51, "too-deep"),
        ("(" * 2_000, "too-deep"),
        ("[A(" + "NOT " * 5_000 + "x = 1)]", "too-deep"),
        ("[A]" + "*" * 2_000, "too-deep"),
        ("||".join(["[A]"] * 2_000), "too-deep"),
        ("[A(x = " + "9" * 5_000 + ")]", "bad-number"),
        ("[A(x = 1e999)]", "bad-number"),
        ("[A] with take = first " + "9" * 5_000, "bad-number"),
        ("([A], [B])_{T1=" + "9" * 5_000 + "s}", "bad-duration"),
        ("[A]" * 100_000, "too-long"),
        ("[]" * 5_000, "syntax"),
        ("[" * 5_000, "open-bracket"),
        ("]" * 5_000, "syntax"),
        ("([{" * 2_000, "open-bracket"),
        ("(;)" * 300, "syntax"),
        ("'" * 9_999, "open-string"),
        ('"' + "a" * 40_000, "open-string"),
        ('"' + "a" * 200_000, "too-long"),
        ("/*" + "*" * 40_000, "open-comment"),
        ("§" * 40_000, "bad-character"),
        ("[A\x00]", "bad-character"),
        ("[A\u202e]", "bad-character"),
        ("[e\u0301]", "bad-character"),
        ("[A]\ud800", "bad-character"),
        ("A:=" * 5_000, "syntax"),
        ("C := ([A]);" * 500 + "[A]", "duplicate-name"),
        ("[A(x = '" + "p" * 10_000 + "' y)]", "syntax"),
    ],
    ids=lambda value: value[:12] if len(value) < 20 or value.isascii() else ascii(value[:3]),
)
def test_hostile_texts_get_a_clear_answer(text: str, code: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text)
    assert code in {error.code for error in caught.value.errors}
    assert len(caught.value.errors) <= 101
    assert all(len(error.message) < 200 for error in caught.value.errors)
    caught.value.args[0].encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["[]", "[", "]", "([{", "A:=", "[A]", "[A]*", "[A];", "[A]|", "C := ([A]);", "[A(x=1)]"]
)
def test_the_longest_texts_take_seconds_at_most(piece: str) -> None:
    started = time.monotonic()
    with contextlib.suppress(PatternErrors):
        parse(piece * (MAX_LENGTH // len(piece)))
    assert time.monotonic() - started < 30


def test_fifty_levels_are_fine() -> None:
    assert parse("(" * 49 + "[A]" + ")" * 49).pattern == A


def test_very_many_mistakes_are_cut_short() -> None:
    with pytest.raises(PatternErrors) as caught:
        parse("".join(f"[X{n}]" for n in range(500)), CATALOG)
    assert len(caught.value.errors) == 101
    assert caught.value.errors[-1].code == "too-many-errors"


WORDS = [
    *(
        "[A]",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ";",
        "|",
        "||",
        "*",
        "!",
        "=",
        "<",
        "$x",
        "@",
        "_{",
        "_",
        ":=",
        ".",
    ),
    *(
        "A",
        "T1",
        "in",
        "where",
        "with",
        "AND",
        "OR",
        "NOT",
        "5min",
        "1",
        "-",
        "'p'",
        "'",
        "2004-01-31",
        "//",
        "/*",
    ),
    *(
        "([A], [B])_{T1=1s}",
        "[A(k = $x)]",
        "C1 := ([A]);",
        " ",
        "\n",
        "§",
        "“",
        "detection",
        "probabilistic(1)",
    ),
]


@pytest.mark.slow
@settings(max_examples=500)
@given(st.one_of(st.lists(st.sampled_from(WORDS), max_size=25).map("".join), st.text(max_size=40)))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse(text, CATALOG)
    except PatternErrors as errors:
        assert str(errors)  # noqa: PT017  (that it can be shown is the point, whatever it is)
