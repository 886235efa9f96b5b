"""Machines as Definitions 3 and 4 have them, and the padded sequences of Definitions 1 and 2."""

from __future__ import annotations

import pytest

from tocsin.algebra.completion.expansion import Pair, places, respects
from tocsin.algebra.completion.machine import Machine, Transition, above, check
from tocsin.algebra.completion.machine_semantics import react, run, settle
from tocsin.algebra.completion.output import Constant, Emit
from tocsin.errors import PatternError
from tocsin.languages.ecl import parse_machine


def transition(name: str, **changes: object) -> Transition:
    parts = {"enable": (frozenset({"q"}),), "input": None, "clear": frozenset(), "target": frozenset()}
    return Transition(name, **{**parts, **changes})  # type: ignore[arg-type]


def test_example_3_runs_as_in_figure_2() -> None:
    machine = parse_machine(
        """machine A { states q1 q2 q3 q4 q5 q6; initial q1;
        trans t1: {q1} eps clear {q1} goto {q2, q3, q6};  trans t2: {q2} a clear {q2} goto {q4};
        trans t3: {q3} b clear {q3} goto {q5};            trans t4: {q4} & {q5} eps clear all goto {q1} out x;
        trans t5: {q6} c clear all goto {q1}; }"""
    )
    assert run(machine, [{"type": letter} for letter in "aabbcbac"]).outputs == ((3, "x"), (7, "x"))


def test_only_transitions_that_want_the_event_compete() -> None:
    machine = parse_machine(
        "machine M { states q r; initial q; trans t1: {q} a goto {q}; trans t2: {q} b clear {q} goto {r};"
        " order t1 < t2; }"
    )
    assert react(machine, frozenset({"q"}), {"type": "b"}).states == {"r"}


def test_of_those_that_compete_the_first_in_the_order_fires() -> None:
    machine = parse_machine(
        "machine M { states q r s; initial q; trans t1: {q} a clear {q} goto {r};"
        " trans t2: {q} true goto {s}; trans t3: {q} true goto {s}; order t1 < t2 < t3; }"
    )
    assert react(machine, frozenset({"q"}), {"type": "a"}).fired == (("t1",),)
    assert react(machine, frozenset({"q"}), {"type": "b"}).fired == (("t2",),)


def test_what_is_set_stays_set_although_it_is_cleared() -> None:
    machine = parse_machine(
        "machine M { states q r; initial q;"
        " trans t1: {q} a clear {} goto {r}; trans t2: {q} a clear all goto {}; }"
    )
    assert react(machine, frozenset({"q"}), {"type": "a"}).states == {"r"}


def test_outputs_of_a_step_come_in_the_order_of_the_transitions() -> None:
    outputs = [(Emit(Constant(name), place=place),) for place, name in enumerate("xyz")]
    several = [transition(f"t{i}", clear=frozenset({"q"}), outputs=o) for i, o in enumerate(outputs)]
    machine = Machine("M", ("q",), frozenset({"q"}), tuple(several))
    assert [emit.output.value for emit in settle(machine, machine.initial).outputs] == ["x", "y", "z"]


def test_endless_internal_steps_are_an_error() -> None:
    machine = Machine("M", ("q",), frozenset({"q"}), (transition("t", target=frozenset({"q"})),))
    with pytest.raises(PatternError, match="t fires for ever"):
        settle(machine, machine.initial)


def test_the_order_is_closed_and_has_no_cycle() -> None:
    several = tuple(transition(name) for name in "abcd")
    machine = Machine("M", ("q",), frozenset(), several, (("c", "a"), ("a", "b")))
    assert above(machine) == (0b100, 0b101, 0, 0)
    cyclic = Machine("M", ("q",), frozenset(), several, (("a", "b"), ("b", "c"), ("c", "a")))
    with pytest.raises(PatternError, match="before itself"):
        above(cyclic)


def test_all_mistakes_of_a_machine_at_once() -> None:
    wrong = Machine(
        "M", ("q", "q"), frozenset({"p"}), (transition("t", target=frozenset({"r"})),), (("t", "u"),)
    )
    assert [error.code for error in check(wrong)] == [
        "duplicate-state",
        "unknown-state",
        "unknown-state",
        "unknown-transition",
    ]
    assert check(Machine("M", ("q",), frozenset({"q"}), (transition("t"),))) == []


@pytest.mark.parametrize(
    ("padded", "expected"),
    [
        (["e1", None, "e2", None], [1, 3]),
        ([None, None], []),
    ],
)
def test_places(padded: list[str | None], expected: list[int]) -> None:
    assert list(places(padded)) == expected


@pytest.mark.parametrize(
    ("after", "outputs", "expected"),
    [
        ((1,), [None, "o", None], True),
        ((1,), ["o", None, None], True),
        ((1,), [None, None, "o"], False),
        ((2,), [None, None, "o"], True),
        ((2,), [None, "o", None], False),
        ((0,), ["o", None, None], False),
        ((3,), [None, None, "o"], False),
        ((1, 1), [None, "o", None], False),
        ((1,), [None, "p", None], False),
    ],
)
def test_respects(after: tuple[int, ...], outputs: list[str | None], expected: bool) -> None:
    """σ' is e1 ε e2."""
    assert respects(Pair(("e1", "e2"), ("o",), after), ["e1", None, "e2"], outputs) == expected


def test_after_the_last_event_nothing_is_too_late() -> None:
    assert respects(Pair(("e",), ("o",), (1,)), ["e", None, None], [None, None, "o"])


def test_before_the_first_event() -> None:
    assert respects(Pair(("e",), ("o",), (0,)), [None, "e"], ["o", None])
