"""Patterns that cost too much are refused while they are built, with the part of the text that costs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tocsin.algebra.tokens import bounds
from tocsin.automata.tokens import remove_empty
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.construct import construct
from tocsin.automata.tokens.fragment import Context, Draft
from tocsin.errors import LimitError, PatternErrors, TocsinError
from tocsin.languages.core import parse

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "core-language.md"


def _iterations(count: int) -> str:
    return "".join(f"[A{i}]*" for i in range(count))


def _forks(count: int) -> str:
    return "".join(f"(([A{i}]|[B{i}])*[C{i}])*" for i in range(count))


def _alternatives(count: int) -> str:
    return "|".join(f"[A{i}]" for i in range(count))


def _chain(count: int) -> str:
    rest = "".join(f"C{i} := ([C{i - 1}][B]); " for i in range(1, count))
    return f"C0 := ([A]); {rest}[C{count - 1}]"


def _underlined(error: TocsinError) -> str:
    span = error.span
    return span.text[span.start : span.end] if span else ""


def _states(text: str) -> int:
    (automaton,) = compile([parse(text)]).automata
    return len(automaton.states)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("(([A]|[A])*[B])*" * 12, 1),
        ("[A]*" * 300, 1),
        ("[A]*" * 9_000, 1),
        (_iterations(300), 300),
        (f"([S],({_alternatives(300)})*[Z])_{{T1=5s}}", 301),
        ("[A]" * 10_000, 10_000),
    ],
)
def test_what_can_be_built_is_built(text: str, states: int) -> None:
    assert _states(text) == states


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("(([A]|[X])*[B])*" * 12, "too-many-start-states", "(([A]|[X])*[B])*"),
        (_forks(12), "too-many-start-states", "(([A0]|[B0])*[C0])*"),
        (f"[S]{_forks(12)}", "too-many-moves", "(([A1]|[B1])*[C1])*"),
        (f"[S]{_forks(40)}", "too-much-work", re.compile(r"\(\(\[A\d+\]\|\[B\d+\]\)\*\[C\d+\]\)\*")),
        (f"({_alternatives(3000)})*[Z]", "too-many-start-states", f"({_alternatives(3000)})*"),
        (f"[S]({_alternatives(3000)})*[Z]", "too-many-moves", f"({_alternatives(3000)})*"),
        (f"[S]{_iterations(600)}", "too-many-moves", re.compile(r"\[A\d+\]\*")),
        (f"[S]{_iterations(5000)}", "too-much-work", re.compile(r"\[A\d+\]\*")),
        ("[A]" * 10_001, "too-many-states", "[A]" * 10_001),
        (
            "(" * 40 + "[A]" + "".join(f"|[B{i}])*" for i in range(40)),
            "too-many-states",
            re.compile(r"\(.*\)\*"),
        ),
        ("".join(f"([A],[B])_{{T{i}=1s}}" for i in range(65)), "too-many-timers", "T64=1s"),
        ("([A];[B][C])" * 65, "too-many-strong-links", "[C]"),
    ],
)
def test_what_costs_too_much_is_refused_with_its_place(
    text: str, code: str, part: str | re.Pattern[str]
) -> None:
    with pytest.raises(LimitError) as refused:
        compile([parse(text)])
    assert (refused.value.code, bool(refused.value.hint)) == (code, True)
    shown = _underlined(refused.value)
    assert shown == part if isinstance(part, str) else part.fullmatch(shown)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (_chain(500), "too-deep", "C100"),
        ("".join(f"C{i} := ([A]); " for i in range(501)) + "[C1]", "too-many-definitions", "C500"),
        (
            "C0 := ([A]); C1 := ([C0]); "
            + "".join(f"C{i} := ([C{i - 1}][C{i - 2}]); " for i in range(2, 40))
            + "[C39]",
            "too-large",
            "C19",
        ),
        ("[A]" + "*" * 40_000, "too-deep", "[A]" + "*" * 40_000),
        ("||".join(["[A]"] * 5000), "too-deep", "||".join(["[A]"] * 5000)),
        ("[A]" * 66_667, "too-long", "]"),
    ],
)
def test_large_texts_are_refused_by_the_parser(text: str, code: str, part: str) -> None:
    with pytest.raises(PatternErrors) as refused:
        parse(text)
    (error,) = refused.value.errors
    assert (error.code, _underlined(error)) == (code, part)


def test_composites_of_as_many_levels_as_there_may_be_are_compiled() -> None:
    assert len(compile([parse(_chain(bounds.MAX_COMPOSITE_DEPTH - 1))]).automata) == 100


def _work(text: str) -> int:
    draft = Draft()
    whole = construct(draft, parse(text).pattern, Context())
    remove_empty.remove_empty(draft, whole)
    return draft.spent.work


def test_each_place_is_worked_out_once() -> None:
    """The places after a row of iterations are as many as the iterations, each with what follows it: their square, no more."""
    assert _work(_iterations(200)) / _work(_iterations(100)) < 4.5
    assert _work("[A]" * 1000) == 0
    # Nothing grows with the ways through an alternation that do not wait in one place.
    assert _work("([A]|[B])" * 1000) == 0


def test_refusing_takes_no_more_work_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    merged, merge = 0, remove_empty._merge

    def counted(body: remove_empty.Waiting, past: remove_empty.Waiting) -> remove_empty.Waiting:
        nonlocal merged
        merged += len(body.moves) + len(past.moves)
        return merge(body, past)

    monkeypatch.setattr(remove_empty, "_merge", counted)
    for text in (_forks(12), _forks(40), f"[S]{_forks(1000)}", _iterations(5000)):
        merged = 0
        with pytest.raises(TocsinError):
            compile([parse(text)])
        assert 0 < merged <= bounds.MAX_WORK


def test_the_reference_lists_every_bound() -> None:
    listed = REFERENCE.read_text()
    for name, bound in vars(bounds).items():
        if name.startswith("MAX_"):
            assert f"| {bound:,} |" in listed, name
