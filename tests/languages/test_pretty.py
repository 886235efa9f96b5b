"""The pretty language: what its sentences mean, and what is said about those that mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from languages.mistakes import mistakes
from languages.tables import rows
from tocsin.algebra.tokens.pattern import Pattern
from tocsin.algebra.tokens.semantics import detect
from tocsin.algebra.tokens.subscription import Interpretation
from tocsin.errors import PatternError, PatternErrors
from tocsin.events import Catalog, Event, EventType, Interval
from tocsin.languages import core
from tocsin.languages.pretty import parse, show, show_subscription

CATALOG = Catalog([EventType(name) for name in ("A", "B", "C", "Event_A")], closed=True)


def meant(core_text: str) -> Pattern:
    return core.parse(core_text).pattern


@pytest.mark.parametrize(
    ("sentence", "text"), [(s, row[1][0]) for row in rows("pretty", "Phrases") for s in row[0]]
)
def test_the_phrases_of_the_readme(sentence: str, text: str) -> None:
    assert parse(sentence).pattern == meant(text)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        # How tightly words bind.
        ('"A" and "B" or "C"', "[A] || ([B] | [C])"),
        ('"A" or "B" and "C"', "([A] | [B]) || [C]"),
        ('"A" or "B" followed by "C"', "[A] | [B];[C]"),
        ('("A" or "B") followed by "C"', "([A] | [B]);[C]"),
        ('"A" then "B" followed by "C" then "D"', "(([A][B]);[C])[D]"),
        ('"A" followed by "B" followed by "C"', "[A];[B];[C]"),
        ('"A" followed by ("B" followed by "C")', "[A];([B];[C])"),
        ('"A" then ("B" then "C")', "[A][B][C]"),
        ('"A" and "B" and "C"', "([A] || [B]) || [C]"),
        # Repeated and without.
        ('"A" repeated 1 time', "[A]"),
        ('"A" then "B" repeated 2 times then "C"', "[A][B][B][C]"),
        ('"A" repeated 2 times without "B"', "[A in {A, B}][A in {A, B}]"),
        ('"A" without "B" without "C"', "[A in {A, B, C}]"),
        ('"A" without ("B" or "C")', "[A in {A, B, C}]"),
        ('"A" without "A"', "[A]"),
        ('("A" followed by "B") repeated 2 times', "([A];[B])([A];[B])"),
        # Before looks at its neighbours.
        ('"A" before "B" before "C"', "[A in {A, B}][B in {B, C}][C]"),
        ('"A" followed by "B" before "C"', "([A];[B in {B, C}])[C]"),
        ('("A" followed by "B") before "C"', "([A in {A, C}];[B in {B, C}])[C]"),
        ('"A" before ("B" or "C")', "[A in {A, B, C}]([B] | [C])"),
        # Within: from the end of the first event to the end of the last, whatever is between them.
        ('"A" then "B" within "1h"', "[A][B] within 1h"),
        ('"A" before "B" within "1h"', "[A in {A, B}][B] within 1h"),
        ('"A" followed by "B" followed by "C" within "1h"', "[A];[B];[C] within 1h"),
        ('"A" followed by ("B" followed by "C") within "1h"', "[A];([B];[C]) within 1h"),
        ('"A" followed by "B" repeated 2 times within "1h"', "[A];([B][B]) within 1h"),
        ('"A" repeated 3 times within "1h"', "[A][A][A] within 1h"),
        ('"A" followed by ("B" and "C") within "1h"', "[A];([B] || [C]) within 1h"),
        ('"A" followed by "B" or "C" within "1h"', "([A];[B] | [C]) within 1h"),
        ('"A" and "B" within "1min"', "([A] || [B]) within 1min"),
        ('"A" then "B" within 1 hour', "[A][B] within 1h"),
        ('"A" then "B" within 5m', "[A][B] within 5min"),
        # How often.
        ('"A" repeated 2 to 5 times', "[A]{2,5}"),
        ('"A" repeated at least 2 times', "[A]{2,}"),
        ('"A" repeated at most 2 times then "B"', "[A]{0,2}[B]"),
        # Conditions, as in the core language.
        ('"Temp" where "temp < 15" followed by "Door"', "[Temp(temp < 15)];[Door]"),
        (
            '"A" where "k = $x" repeated 2 times without "B" where "s = \'p\'"',
            "[A(k = $x) in {A(k = $x), B(s = 'p')}]{2}",
        ),
        # Not followed by.
        ('("A" followed by "B") not followed by "C" within "1h"', "([A];[B], [T1 in {T1, C}])_{T1=1h}"),
        ('"A" not followed by ("B" or "C") within "1h"', "([A], [T1 in {T1, B, C}])_{T1=1h}"),
        ('("A" not followed by "B" within "1h") then "C"', "([A], [T1 in {T1, B}])_{T1=1h}[C]"),
        # Nested timers have names of their own, and none that an event has.
        (
            '"A" followed by ("B" followed by "C" within "1s") within "1h"',
            "[A];([B];[C] within 1s) within 1h",
        ),
        ('"T1" not followed by "T3" within "1h"', "([T1], [T2 in {T2, T3}])_{T2=1h}"),
        # Words may stand on several lines, and durations be written with a blank.
        ('"A" // first\n followed by\n "B" within "5 min"', "[A];[B] within 5min"),
        ("'A' then 'B'", "[A][B]"),
    ],
)
def test_sentences(sentence: str, text: str) -> None:
    assert parse(sentence).pattern == meant(text)


# Names


def test_the_sentence_of_the_paper() -> None:
    names = {"Event A": "A", "Event B": "B"}
    pattern = parse('"Event A" followed by "Event B" within "1h"', names=names).pattern
    assert pattern == meant("[A];[B] within 1h")


def test_a_name_with_blanks_is_a_type_if_the_catalog_has_it() -> None:
    assert parse('"Event A"', CATALOG).pattern == meant("[Event_A]")
    both = Catalog([EventType("Event_A"), EventType("Event A")], closed=True)
    assert parse('"Event A"', both).pattern == meant("['Event A']")
    assert mistakes(lambda: parse('"Event Z"', CATALOG)) == [("unknown-name", '"Event Z"')]


def test_a_name_is_that_of_a_type_as_it_stands_in_the_table() -> None:
    sentence = '"pay-ok" followed by "add to cart" followed by "4624"'
    for open in (None, Catalog()):
        assert parse(sentence, open).pattern == meant("['pay-ok'];['add to cart'];[4624]")
    assert mistakes(lambda: parse('""')) == [("unknown-name", '""')]


def test_the_table_of_names_goes_first() -> None:
    assert parse('"A"', CATALOG, names={"A": "B"}).pattern == meant("[B]")
    assert parse('"A"', names={"A": "pay-ok"}).pattern == meant("['pay-ok']")
    assert mistakes(lambda: parse('"A"', CATALOG, names={"A": ""})) == [("unknown-name", '"A"')]


def test_timers_are_called_like_nothing_else() -> None:
    catalog = Catalog([EventType(name) for name in ("A", "B", "T1")], closed=True)
    pattern = parse('"a" not followed by "B" within "1s"', catalog, names={"a": "A", "other": "T2"}).pattern
    assert pattern == meant("([A], [T3 in {T3, B}])_{T3=1s}")


def test_name_and_reading_are_kept() -> None:
    subscription = parse('"A"', interpretation=Interpretation(restart="on-accept"), name="mine")
    assert (subscription.name, subscription.interpretation.restart) == ("mine", "on-accept")
    assert parse('"A"').interpretation.restart == "always"


# Meaning


def test_a_sentence_finds_what_it_says() -> None:
    second = 1_000_000
    trace = [
        Event(n, frozenset(t), Interval(s * second, s * second)) for n, t, s in ((1, "A", 0), (2, "B", 60))
    ]
    assert [c.ids for c in detect(parse('"A" followed by "B" within "1min"'), trace)] == [[1, 2]]
    assert detect(parse('"A" followed by "B" within "59s"'), trace) == []
    assert detect(parse('"A" not followed by "B" within "1min"'), trace) == []
    assert [c.ids for c in detect(parse('"A" not followed by "B" within "59s"'), trace)] == [[1, "T1"]]


def test_a_start_that_failed_is_tried_again() -> None:
    second = 1_000_000
    trace = [Event(n, frozenset(t), Interval(n * second, n * second)) for n, t in enumerate("CAB", 1)]
    sentence = '("A" followed by "B") without "C"'
    assert [c.ids for c in detect(parse(sentence), trace)] == [[2, 3]]
    assert detect(parse(sentence, interpretation=Interpretation()), trace) == []


# Mistakes


def test_mistakes_of_different_kinds_are_all_reported() -> None:
    text = '"Q" folowed by (A then "Z") repeated 0 times within "soon"'
    assert mistakes(lambda: parse(text, CATALOG)) == [
        ("unknown-type", '"Q"'),
        ("syntax", "folowed"),
        ("syntax", "A"),
        ("unknown-type", '"Z"'),
        ("bad-duration", '"soon"'),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("syntax", "")]),
        ('"A" within "1h"', [("within-what", '"A"')]),
        ('"A" within', [("within-what", '"A"'), ("syntax", "n")]),
        ('"A" then "B" within 1', [("syntax", "1")]),
        ('"A" then "B" within 1 fortnight', [("bad-duration", "1 fortnight")]),
        ('"A" where x', [("syntax", "x")]),
        ('"A" where "x ==" then "Q"', [("syntax", "=="), ("syntax", "="), ("unknown-type", '"Q"')]),
        ('"A" repeated at 2 times', [("syntax", "2")]),
        ('"A" repeated 3 to 2 times', [("bad-count", '"A"')]),
        ('"A" then "B" within "1h" within "2h"', [("syntax", "within")]),
        ('"A" followed "B"', [("syntax", '"B"')]),
        ('"A" "B"', [("syntax", '"B"')]),
        ('"A" then then "B"', [("syntax", "then")]),
        ('"A" THEN "B"', [("syntax", "THEN")]),
        ('"A" and', [("syntax", "d")]),
        ('and "A"', [("syntax", "and")]),
        ('"A" not followed by "B"', [("syntax", '"')]),
        ('"A" then "B" not followed by "C" within "1h"', [("syntax", "not")]),
        ('"A" not followed by ("B" then "C") within "1h"', [("not-one-event", '"B" then "C"')]),
        ('"A" without ("B" then "C")', [("not-one-event", '"B" then "C"')]),
        ('("A" and "B") without "C"', [("not-inside-and", '"A" and "B"')]),
        ('"A" repeated three times', [("syntax", "three")]),
        ('"A" repeated 0 times', [("bad-count", '"A"')]),
        ('"A" repeated 2.5 times', [("bad-count", "2.5")]),
        ('"A" repeated 3', [("syntax", "3")]),
        ('"A" repeated 100000 times', [("too-large", '"A" repeated 100000 times')]),
        ('"A" without "B" repeated 2 times', [("syntax", "repeated")]),
        ('("A" then "B"', [("open-bracket", "(")]),
        ('"A") then "Q"', [("syntax", ")"), ("unknown-type", '"Q"')]),
        ('"A" then "B', [("open-string", '"B')]),
        ("“A” then “Q”", [("bad-character", "“A”"), ("bad-character", "“Q”"), ("unknown-type", "“Q”")]),
        ('"" then "A"', [("unknown-name", '""')]),
        ('"Q" repeated 3 times', [("unknown-type", '"Q"')]),
    ],
)
def test_mistakes(text: str, expected: list[tuple[str, str]]) -> None:
    assert mistakes(lambda: parse(text, CATALOG)) == expected


def test_hints_help() -> None:
    with pytest.raises(PatternErrors, match="did you mean 'followed'"):
        parse('"A" folowed by "B"')
    with pytest.raises(PatternErrors, match='names stand in quotes: "A"'):
        parse("A")
    with pytest.raises(PatternErrors, match="say in the table of names which event type it is"):
        parse('"nothing like it"', CATALOG)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('"A" -> "B"', "write `followed by`, or `then`"),
        ('"A"; "B"', "write `followed by`, or `then`"),
        ('"A" && "B"', "write `and`"),
        ('"A" | "B"', "write `or`"),
        ('"A" unless "B"', "write `without`"),
        ('"A" where "x == 1"', "use a single '='"),
        ('"A" where x > 1', 'write "Temp" where "temp < 15"'),
        ('"A" then "B" within "1h" then "C"', "put what `within` limits in parentheses"),
    ],
)
def test_what_is_written_as_in_other_languages_gets_a_hint(text: str, hint: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text)
    assert [hint in (error.hint or "") for error in caught.value.errors] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 60 + '"A"' + ")" * 60,
        "(" * 2_000,
        " and ".join(['"A"'] * 500),
        "(" * 40 + '"A"' + (' and "A"' * 20 + ")") * 40,
        " or ".join(['"A" repeated 9000 times'] * 100),
        '"A" repeated 5000 times' + "".join(f' without "B{n}"' for n in range(200)),
        "followed " * 1_000,
        '"' * 2_001,
        "§" * 5_000,
        '"A" then \ud800',
        '"A" repeated ' + "9" * 5_000 + " times",
        '"A" then "B" within "' + "9" * 5_000 + 's"',
    ],
    ids=lambda text: ascii(text[:10]),
)
def test_hostile_texts_get_a_clear_answer(text: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse(text)
    assert len(caught.value.errors) <= 101
    assert all(len(error.message) < 200 for error in caught.value.errors)


@pytest.mark.parametrize(
    "text",
    [
        " then ".join(['"A"'] * 2_000) + ' within "1h"',
        " followed by ".join(['"A"'] * 2_000),
        " or ".join(['"A"'] * 2_000),
        " before ".join(f'"A{n}"' for n in range(500)),
        "(" * 40 + '"A"' + ' then "B" within "1h")' * 40,
    ],
    ids=lambda text: text[:12],
)
def test_long_sentences_are_fine(text: str) -> None:
    pattern = parse(text).pattern
    assert parse(show(pattern)).pattern == pattern


# Printing


@pytest.mark.parametrize(
    "sentence",
    [
        '"A" followed by "B" then "C"',
        '"A" and "B" or "C"',
        '("A" and "B") or "C"',
        '"A" repeated 3 times followed by "B"',
        '"A" repeated 2 times without "B"',
        '"A" followed by "B" repeated 2 times within "1h"',
        '("A" followed by "B" within "1h") within "2h"',
        '"A" where "x > 3 AND s = \'it\'\'s\'" followed by "B" without "C" where "x = 1"',
        '"A" repeated at most 3 times then "B" repeated at least 0 times',
        '("A" repeated at least 0 times) repeated 2 times',
        '"A" repeated 5 times within "10min"',
        '("A" or "B") not followed by ("C" or "D") within "5min"',
        '("A" followed by "B" within "1h") and "C"',
        '("A" followed by "B") repeated 2 times',
    ],
)
def test_a_sentence_as_a_person_writes_it_is_printed_as_it_is(sentence: str) -> None:
    assert show(parse(sentence).pattern) == sentence


def test_names_are_printed_as_the_table_has_them() -> None:
    names = {"Event A": "A", 'the "B"': "B"}
    text = show(meant("[A];[B];[C]"), names)
    assert text == '"Event A" followed by "the ""B""" followed by "C"'
    assert parse(text, names=names).pattern == meant("[A];[B];[C]")


@pytest.mark.parametrize(
    "text",
    [
        "[!A in {A, B}]",
        "[A, B]",
        "[A] within 5s",
        "([A], [B])_{T1=1h}",
        "([A], [B])_{T1@2004-01-31}",
        "([A], [B, T1])_{T1=1h}",
        "([A], [T1])_{T1=1h}",
        "C1 := ([A]); [C1]",
        "[A] where A.x = 1",
        "[A] with detection = guaranteed",
        "[A] with matches = any",
        "[A] with take = last",
        "[A] with distribution = minimum-load",
    ],
)
def test_what_has_no_words_is_refused(text: str) -> None:
    with pytest.raises(PatternError, match="not-expressible"):
        show_subscription(core.parse(text))


# Random sentences: the operators with operands of their own, more often right than wrong.
EVENTS = st.sampled_from(['"A"', '"B"', '"C"', '"T1"', """"A" where "x > 3 AND s LIKE 'p%'\""""])
LIMITS = st.sampled_from(["1h", "5min", "0s"])


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    links = st.sampled_from(["followed by", "then", "then immediately", "before", "or", "and"])
    return st.one_of(
        st.tuples(inner, links, inner).map(" ".join),
        st.tuples(inner, links, inner, links, inner).map(" ".join),
        st.builds("({}) repeated {} times".format, inner, st.integers(1, 3)),
        st.builds("({}) repeated {} to 3 times".format, inner, st.integers(0, 3)),
        st.builds("({}) repeated at least {} times".format, inner, st.integers(0, 2)),
        st.builds("({}) without {}".format, inner, EVENTS),
        st.builds('({} followed by {} within "{}")'.format, inner, inner, LIMITS),
        st.builds('({}) not followed by {} within "{}"'.format, inner, EVENTS, LIMITS),
        st.builds("({})".format, inner),
    )


SENTENCES = st.recursive(EVENTS, combined, max_leaves=8)


@pytest.mark.slow
@settings(max_examples=500)
@given(SENTENCES)
def test_what_is_printed_reads_back(sentence: str) -> None:
    try:
        pattern = parse(sentence).pattern
    except PatternErrors:
        return
    assert parse(show(pattern)).pattern == pattern
    assert core.parse(core.show(pattern)).pattern == pattern


WORDS = [
    '"A"',
    "(",
    ")",
    "followed",
    "by",
    "then",
    "before",
    "and",
    "or",
    "not",
    "within",
    '"1h"',
    "repeated",
    "3",
    "times",
    "where",
    '"x > 3"',
]
MORE = ["without", "to", "at", "least", "immediately", '"', "'", "1h", "§", "“", "//", "/*", "\n", "A", "-"]


@pytest.mark.slow
@settings(max_examples=500)
@given(st.one_of(st.lists(st.sampled_from(WORDS + MORE), max_size=20).map(" ".join), st.text(max_size=30)))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse(text, CATALOG)
    except PatternErrors as errors:
        assert str(errors)  # noqa: PT017  (that it can be shown is the point, whatever it is)
