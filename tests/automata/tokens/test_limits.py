"""Limits in automata: how long a match can last, which kernel runs it, and what is left when a limit runs out."""

from __future__ import annotations

import pytest

from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.span import overlap
from tocsin.errors import LimitError
from tocsin.languages.core import parse
from tocsin.runtime.kernels.registry import kernel_of

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("[A][B][C] within 60s", 60),
        ("[A];[B];[C] within 60s", 60),
        ("[A]{2,5} within 60s", 60),
        ("[A][B]* within 60s", 60),
        ("([A][B] | [C][D]) within 60s", 60),
        ("([A]([B][C] within 5s)) within 60s", 60),
        ("([A] || [B]) within 60s", 60),
        ("[A]([B][C] within 5s)", None),
        ("([A][B] within 5s)*[C]", None),
        # What lies behind a limit may come at any time.
        ("([A][B]* within 5s)[C]", None),
    ],
)
def test_how_long_a_match_can_last(text: str, seconds: int | None) -> None:
    assert overlap(compile([parse(text)])) == (None if seconds is None else seconds * SECOND)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("[A][B][C] within 60s", "groups"),
        ("[A];[B];[C] within 60s", "groups"),
        ("[A]{2,5} within 60s", "groups"),
        ("([A][B] within 60s) | ([C][D] within 60s)", "groups"),
        ("[A][B][C] within 60s with matches = leftmost", "groups"),
        ("[A][B][C] within 60s with take = count", "counting"),
        ("[A][B][C] within 60s with take = first 3", "first_last"),
        ("[A][B][C] within 60s with take = last", "first_last"),
        ("([A][B]* within 5s)[C]", "single"),
        ("[A(k=$x)][B(k=$x)] within 60s", "single"),
    ],
)
def test_a_limit_over_the_whole_pattern_is_a_window(text: str, kernel: str) -> None:
    """As with a timer from the first event on, whatever the order of the events."""
    (detector,) = compile([parse(text)], points=True).plan.detectors
    assert kernel_of(detector) == kernel


def test_what_is_left_when_a_limit_runs_out() -> None:
    (automaton,) = compile([parse("([A][B]* within 5s)[C]")]).automata
    (closed,) = set(automaton.closes.values())
    assert [move.place.atom.accept[0].name for move in automaton.states[closed].moves] == ["C"]


def test_limits_inside_each_other_stay_small() -> None:
    text = "[A]"
    for _ in range(12):
        text = f"({text}*[B] within 5s)"
    (automaton,) = compile([parse(text)]).automata
    assert len(automaton.states) < 200


def test_there_may_be_64_limits() -> None:
    with pytest.raises(LimitError, match="more than 64 timers"):
        compile([parse("".join("([A][B] within 5s)" for _ in range(65)))])
