"""Machine files: read, written, and what is said about mistakes in them."""

from __future__ import annotations

import pytest

import tocsin
from tocsin.algebra.completion.expression import Handwritten, Repeat
from tocsin.errors import PatternError, PatternErrors
from tocsin.languages.ecl import parse_machine, show, show_machine
from tocsin.languages.registry import show as show_text

EXAMPLE_3 = """machine A {
  states q1 q2 q3 q4 q5 q6;
  initial q1;
  trans t1: {q1} eps clear {q1} goto {q2, q3, q6};
  trans t2: {q2} a clear {q2} goto {q4};
  trans t3: {q3} b clear {q3} goto {q5};
  trans t4: {q4} & {q5} eps clear all goto {q1} out x;
  trans t5: {q6} c clear all goto {q1};
}"""


def test_the_papers_machine() -> None:
    machine = parse_machine(EXAMPLE_3)
    assert (len(machine.states), len(machine.transitions)) == (6, 5)
    assert machine.transitions[3].enable == (frozenset({"q4"}), frozenset({"q5"}))
    assert machine.transitions[3].clear == frozenset(machine.states)
    assert show_machine(machine) == EXAMPLE_3


def test_every_statement() -> None:
    text = """machine M {
  states q1 q2 q3;
  initial q1 q2;
  success q2;
  failure q3;
  trans t1: {q1, q2} <alt >= 5> /\\ !a clear {} goto {} out x to S, 7 to T;
  trans t2: {q1} <type = clear> clear {q1} goto {q2} out *;
  trans t3: {q1} eps clear {q1} goto {q3} out Low {by = event.alt};
  order t1 < t2;
  order t2 < t3;
}"""
    machine = parse_machine(text)
    assert show_machine(machine) == text
    assert machine == parse_machine(text.replace("order t1 < t2;\n  order t2 < t3", "order t1 < t2 < t3"))


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("states q; initial p;", ["unknown-state"]),
        ("states q q; initial q;", ["duplicate-state"]),
        ("states q; initial q; trans t: {p} a goto {r};", ["unknown-state", "unknown-state"]),
        ("states q; trans t: {q} a goto {q}; trans t: {q} b goto {q};", ["duplicate-transition"]),
        ("states q; trans t: {q} a goto {q}; order t < u;", ["unknown-transition"]),
        ("states q; trans t: {q} a goto {q}; order t < t;", ["order-cycle"]),
        ("states q; trans t: {q} a clear {q};", ["syntax"]),
        ("states q; trans t: {q} sequential {a, b} goto {q};", ["not-a-predicate"]),
        (
            "states q; stats r; trans t {q} a goto {q}; success p;",
            ["unknown-statement", "syntax", "unknown-state"],
        ),
    ],
)
def test_mistakes(body: str, codes: list[str]) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse_machine(f"machine M {{ {body} }}")
    assert [error.code for error in caught.value.errors] == codes


@pytest.mark.parametrize(
    "text", ["", "machine", "machine M", "machine M {", "a", "machine M { states q; } x"]
)
def test_no_machine(text: str) -> None:
    with pytest.raises(PatternErrors):
        parse_machine(text)


def test_a_machine_is_a_subscription() -> None:
    text = "machine Hand { states p q; initial p; trans t: {p} a clear {p} goto {q} out x; }"
    program = tocsin.parse(text, "ecl")
    assert [one.name for one in program.subscriptions] == ["Hand"]
    assert parse_machine(show_text(program)) == parse_machine(text)
    assert tocsin.parse(show_text(program), "ecl") == program


def test_an_output_for_somebody_else_is_refused() -> None:
    text = "machine Hand { states p q; initial p; trans t: {p} a clear {p} goto {q} out x to S; }"
    with pytest.raises(PatternErrors, match="foreign-output: the machine sends to S"):
        tocsin.parse(text, "ecl")


def test_a_machine_inside_an_expression_has_no_text() -> None:
    machine = parse_machine("machine M { states q; initial q; }")
    with pytest.raises(PatternError, match="the machine M cannot stand in an expression"):
        show(Repeat(Handwritten(machine)))


def test_a_missing_name_has_a_hint() -> None:
    with pytest.raises(PatternErrors) as caught:
        parse_machine("machine M { states waiting; initial waitng; }")
    assert caught.value.hint == "did you mean 'waiting'?"
