"""The words that all languages share, and going on after a mistake."""

from __future__ import annotations

import pytest

from tocsin.errors import PatternError, PatternErrors, Span
from tocsin.languages import registry
from tocsin.languages.lexis import MAX_INTEGER, Reader, duration, is_name, tokens

SYMBOLS = (":=", "||", *"[](){}|_.-")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("A_1 ü", ["name", "name"]),
        ("5min 5minutes 2w 5m 5mins3 1.5h 3", [*["duration"] * 4, "number", "name", "duration", "number"]),
        ("2004-01-31 2004-01-31T19:00 2004-01-31 19:00:00.5Z", ["time"] * 3),
        ("1 1.5 1e5 1.5e-3", ["number"] * 4),
        ("'a' \"b\" 'it''s'", ["string"] * 3),
        ("|| | :=", ["||", "|", ":="]),
        ("_{ _a _ {", ["_", "{", "name", "_", "{"]),
        ("// x\n/* y */", []),
    ],
)
def test_kinds_of_words(text: str, kinds: list[str]) -> None:
    errors: list[PatternError] = []
    assert [token.kind for token in tokens(text, SYMBOLS, errors)] == [*kinds, "end"]
    assert errors == []


def test_not_equal_has_two_spellings_where_it_is_a_sign_at_all() -> None:
    signs = ("!=", "<=", *"<>")
    assert [t.kind for t in tokens("a<>1 b < > 2", signs, [])] == [
        "name",
        "!=",
        "number",
        "name",
        "<",
        ">",
        "number",
        "end",
    ]
    assert [t.text for t in tokens("a <> 1", signs, [])][1] == "<>"
    assert [t.kind for t in tokens("<>", "<>", [])] == ["<", ">", "end"]


def test_numbers_are_whole_or_not() -> None:
    values = [token.value for token in tokens(f"1 1.0 {MAX_INTEGER}", (), [])][:-1]
    assert values == [1, 1.0, MAX_INTEGER]
    assert [type(value) for value in values] == [int, float, int]


@pytest.mark.parametrize("text", [str(MAX_INTEGER + 1), "1e309", "9" * 10_000])
def test_numbers_have_a_bound(text: str) -> None:
    errors: list[PatternError] = []
    tokens(text, (), errors)
    assert [error.code for error in errors] == ["bad-number"]


@pytest.mark.parametrize(
    ("text", "microseconds"), [("1ms", 1_000), ("0.001ms", 1), ("2 min", 120_000_000), ("1d", 86_400_000_000)]
)
def test_durations(text: str, microseconds: int) -> None:
    errors: list[PatternError] = []
    assert duration(text, Span(text, 0, len(text)), errors) == microseconds
    assert errors == []


@pytest.mark.parametrize("text", ["", "1", "1 fortnight", "0.0001ms", "-1s", "9" * 40 + "s", "99999999999d"])
def test_what_is_no_duration(text: str) -> None:
    errors: list[PatternError] = []
    duration(text, Span(text, 0, len(text)), errors)
    assert [error.code for error in errors] == ["bad-duration"]


@pytest.mark.parametrize("text", ["A", "_", "Tür", "日本", "x1"])
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["", "1x", "a b", "a-b", "a.b", "a\n", "€"])
def test_what_is_no_name(text: str) -> None:
    assert not is_name(text)


def test_leaving_a_bracket_goes_behind_it() -> None:
    reader = Reader("( [ ( ] ) A", SYMBOLS)
    reader.index = 3
    reader.leave(0)
    assert reader.here.text == "A"
    assert reader.errors == []


def test_leaving_a_bracket_that_is_never_closed_says_so_and_stays() -> None:
    reader = Reader("( [ A ]", SYMBOLS)
    reader.index = 2
    reader.unexpected("something else")
    reader.leave(0)
    assert reader.here.text == "A"
    assert [error.code for error in reader.errors] == ["open-bracket"]


def test_nesting_is_counted_down_again_after_a_mistake() -> None:
    reader = Reader("A", SYMBOLS)
    for _ in range(1_000):
        with pytest.raises(RuntimeError), reader.nested():
            raise RuntimeError


def test_nesting_has_a_bound() -> None:
    reader = Reader("A", SYMBOLS)
    for _ in range(50):
        reader.nest(1)
    with pytest.raises(PatternErrors, match="too-deep"):
        reader.nest(1)


@pytest.mark.parametrize("language", ["core", "pretty", "binding", "ecl", "ksu"])
@pytest.mark.parametrize("sign", ["a", "\ud800", "9"])
def test_a_text_that_is_too_long_is_refused_with_the_place_where_it_gets_so(language: str, sign: str) -> None:
    longest = 50_000 if language in ("ecl", "ksu") else 200_000
    with pytest.raises(PatternErrors) as wrong:
        registry.language(language).read(sign * (longest + 1))
    (error,) = wrong.value.errors
    assert error.code == "too-long"
    assert error.span is not None
    assert (error.span.start, error.span.end) == (longest, longest + 1)
    str(error).encode()
