"""The modules of the paper, counted; and the bound on their size."""

from __future__ import annotations

import pytest

from tocsin.automata.completion import construct
from tocsin.automata.completion.construct import count_states
from tocsin.errors import LimitError
from tocsin.languages.ecl import parse

LETTERS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "states", "initial", "transitions"),
    [
        ("a", 3, 1, 1),
        ("true", 3, 1, 3),
        ("false", 3, 1, 0),
        ("!a", 3, 1, 2),
        ("accumulate {a, b, c}", 11, 3, 5),
        ("select {a, b}", 8, 2, 4),
        ("select* {a, b}", 8, 2, 4),
        ("sequential {a, b, c}", 11, 1, 9),
        ("do {a} unless {b}", 8, 2, 4),
        ("fail {a}", 5, 1, 3),
        ("push(x) {a}", 5, 1, 3),
        ("parallel {a, b}", 8, 2, 2),
        ("repeat {a}", 5, 1, 2),
        ("persist {a}", 5, 1, 3),
        ("loop {a}", 5, 1, 3),
        ("repeat(3) {a}", 11, 1, 6),
        ("persist(3) {a}", 11, 1, 9),
        ("loop(3) {a}", 11, 1, 9),
        ("in (a) do {b} in (c) do {b}", 14, 2, 6),
        ("in (a) do {accumulate {b, b}} in (c) do {b} in (true) do {a}", 25, 4, 14),
    ],
)
def test_sizes(text: str, states: int, initial: int, transitions: int) -> None:
    expression = parse(text).expression
    machine = construct(expression, letters=LETTERS)
    assert (len(machine.states), len(machine.initial), len(machine.transitions)) == (
        states,
        initial,
        transitions,
    )
    assert count_states(expression) == states


def test_without_letters_a_predicate_is_one_transition() -> None:
    assert len(construct(parse("true").expression).transitions) == 1


def test_a_machine_that_would_be_huge_is_refused_before_it_is_built() -> None:
    with pytest.raises(LimitError, match="3,002,002,002 states") as caught:
        construct(parse("repeat(1000) {repeat(1000) {repeat(1000) {a}}}").expression)
    assert caught.value.span is not None
