"""Errors: where, what, and what to do next."""

from __future__ import annotations

import pickle

import pytest

from tocsin.errors import (
    InputError,
    PatternError,
    PatternErrors,
    SetupError,
    Span,
    TocsinError,
    did_you_mean,
)


@pytest.mark.parametrize(
    ("text", "start", "end", "place", "shown"),
    [
        ("[A];[B", 4, 6, (1, 5), "1 | [A];[B\n  |     ^^"),
        ("one\ntwo three\nfour", 8, 13, (2, 5), "2 | two three\n  |     ^^^^^"),
        # A span over several lines is underlined on the first.
        ("a [b\nc]", 2, 7, (1, 3), "1 | a [b\n  |   ^^"),
        # Tabs stay tabs, so that the carets stand right in any terminal.
        ("\t[x", 1, 3, (1, 2), "1 | \t[x\n  | \t^^"),
        # Nothing to underline is underlined with one caret.
        ("", 0, 0, (1, 1), "1 | \n  | ^"),
        ("\n" * 9 + "[x]", 9, 12, (10, 1), "10 | [x]\n   | ^^^"),
    ],
)
def test_a_span_knows_its_place(text: str, start: int, end: int, place: tuple[int, int], shown: str) -> None:
    span = Span(text, start, end)
    assert span.line_column == place
    assert span.underline() == shown


LONG = "".join(f"[{number:04}]" for number in range(1_000))  # 6,000 characters


@pytest.mark.parametrize(
    ("start", "end", "cut"),
    [
        (0, 6, (False, True)),
        (3_000, 3_006, (True, True)),
        (5_994, 6_000, (True, False)),
        (6_000, 6_000, (True, False)),  # behind the last character
        (3_000, 5_000, (True, True)),  # longer than what is shown
    ],
)
def test_of_a_long_line_only_what_is_around_the_span_is_shown(
    start: int, end: int, cut: tuple[bool, bool]
) -> None:
    line, carets = Span(LONG, start, end).underline().split("\n")
    shown = line.removeprefix("1 | ")
    assert (shown.startswith("…"), shown.endswith("…")) == cut
    assert len(shown) == 100 + sum(cut)
    under = line[carets.index("^") : carets.rindex("^") + 1]
    assert LONG[start:end].startswith(under)
    assert len(under) == min(end - start, 100)


def test_two_spans_make_one() -> None:
    assert Span("abcdef", 4, 5).through(Span("abcdef", 1, 2)) == Span("abcdef", 1, 5)


def test_an_error_says_what_where_and_what_next() -> None:
    error = PatternError(
        "unknown-type", "there is no event type 'Dor'", Span("[Dor]", 1, 4), "did you mean 'Door'?"
    )
    assert str(error) == (
        "unknown-type: there is no event type 'Dor' (line 1, column 2)\n"
        "1 | [Dor]\n"
        "  |  ^^^\n"
        "hint: did you mean 'Door'?"
    )
    assert str(PatternError("code", "message")) == "code: message"


def test_errors_are_also_what_they_refine() -> None:
    for error, builtin in ((PatternError, ValueError), (InputError, ValueError), (SetupError, RuntimeError)):
        assert issubclass(error, TocsinError)
        assert issubclass(error, builtin)


def test_several_errors_come_in_the_order_of_the_text() -> None:
    text = "[A];[B]"
    later, earlier = (
        PatternError(code, "m", Span(text, at, at + 1)) for code, at in (("later", 5), ("earlier", 1))
    )
    nowhere = PatternError("nowhere", "m")
    errors = PatternErrors([nowhere, later, earlier])
    assert [e.code for e in errors.errors] == ["earlier", "later", "nowhere"]
    # The whole is known by its first.
    assert (errors.code, errors.span) == ("earlier", earlier.span)
    assert str(errors) == "\n\n".join(map(str, (earlier, later, nowhere)))


def test_an_error_can_travel_between_processes() -> None:
    error = PatternError("code", "message", Span("text", 0, 4), "hint")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("tmep", ["temp", "location"], "did you mean 'temp'?"),
        ("zzz", ["temp", "location"], "known: location, temp"),
        ("zzz", [], ""),
        (
            "zzz",
            [f"n{i:02}" for i in range(20)],
            "known: " + ", ".join(f"n{i:02}" for i in range(12)) + ", …",
        ),
    ],
)
def test_hints(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known) == hint


def test_a_hint_can_say_something_else_if_nothing_is_close() -> None:
    assert did_you_mean("zzz", ["temp"], "declare it first") == "declare it first"
    assert did_you_mean("tmp", ["temp"], "declare it first") == "did you mean 'temp'?"
