"""The tree interpretation of ECL on examples of the paper, and the readings where it leaves a choice."""

from __future__ import annotations

import pytest

from tocsin.algebra.completion.expression import Interpretation, Program, filters, walk
from tocsin.algebra.completion.fields import fields_of, holds
from tocsin.algebra.completion.output import Emitted
from tocsin.algebra.completion.run import Status
from tocsin.algebra.completion.semantics import Progress, feed, matters, run, start
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.languages.ecl import parse


def ran(text: str, trace: str, **options: str) -> tuple[list[tuple[int, Emitted]], str, int | None]:
    found = run(parse(text).expression, [{"type": letter} for letter in trace], Interpretation.of(options))
    return list(found.outputs), found.status.value, found.completed_at


@pytest.mark.parametrize(
    ("text", "trace", "status", "at"),
    [
        # Every running part finishes the event before its operator decides (C.1.6, C.1.17).
        ("accumulate {a, a}", "a", "success", 1),
        ("select* {a, fail {a}}", "a", "success", 1),
        ("select {fail {a}, fail {a}}", "a", "failure", 1),
        ("do {a} unless {fail {b}}", "ba", "success", 2),
        # What comes next starts with the next event (C.1.12).
        ("sequential {a, a}", "a", "running", None),
        ("loop(2) {a}", "aa", "success", 2),
        ("persist(2) {fail {a}}", "aa", "failure", 2),
        ("repeat(2) {fail {a}}", "aa", "success", 2),
        # Once is once (C.1.18).
        ("a", "aa", "success", 1),
        ("parallel {a}", "a", "running", None),
        ("loop {fail {a}}", "a", "failure", 1),
    ],
)
def test_completion(text: str, trace: str, status: str, at: int | None) -> None:
    assert ran(text, trace)[1:] == (status, at)


def test_options() -> None:
    assert ran("do {a} unless {a}", "a", unless_tie="failure")[1] == "failure"
    assert ran("do {a} unless {b}", "a", unless_tie="failure")[1] == "success"
    assert ran("loop {fail {a}}", "a", loop_ends="success")[1] == "success"
    assert ran("loop(3) {fail {a}}", "a", loop_ends="success")[1:] == ("success", 1)
    with pytest.raises(InputError, match="unless_tie"):
        Interpretation.of({"unless_tie": "draw"})
    with pytest.raises(InputError, match="did you mean 'loop_ends'"):
        Interpretation.of({"loop_end": "success"})


def test_modes() -> None:
    two = "in (m) do {repeat {push(x) {true}}} in (n) do {repeat {push(y) {true}}}"
    # The event of a guard is not seen inside; the guard of the active mode is ordinary input.
    assert ran(two, "mnnm")[0] == [(1, "x"), (3, "y")]
    # Of two guards that accept an event, the first armed one wins; the active one is not armed.
    three = "in (m) do {push(x) {a}} in (m \\/ n) do {push(y) {a}} in (n) do {push(z) {a}}"
    assert ran(three, "na")[0] == [(2, "y")]
    assert ran(three, "nna")[0] == [(3, "z")]
    assert ran(three, "ma")[0] == [(2, "y")]
    # A mode that has completed stays idle until the next switch, which starts it afresh.
    assert ran("in (m) do {push(x) {a}} in (n) do {b}", "aanma")[0] == [(1, "x"), (5, "x")]
    # Several expressions with the same guards switch together.
    both = f"parallel {{{two}, {two}}}"
    assert ran(both, "ana")[0] == [(1, "x"), (1, "x"), (3, "y"), (3, "y")]


def test_outputs_come_from_the_inside_out_and_then_in_textual_order() -> None:
    assert ran("push(z) {accumulate {push(x) {a}, push(y) {a}}}", "a")[0] == [(1, "x"), (1, "y"), (1, "z")]
    # y needs one internal step, x two.
    assert ran("parallel {push(x) {fail {fail {a}}}, push(y) {a}}", "a")[0] == [(1, "y"), (1, "x")]


def test_forwarding() -> None:
    low = parse("repeat {push(Low {by = event.alt, who = GPS, gone = event.speed}) {<alt < 500>}}").expression
    event = {"type": "DATA", "alt": 480}
    assert run(low, [event]).outputs == ((1, {"type": "Low", "by": 480, "who": "GPS", "gone": None}),)
    assert run(parse("push(*) {DATA}").expression, [event]).outputs == ((1, event),)


def test_the_state_is_a_value() -> None:
    expression = parse("repeat(3) {sequential {a, b}}").expression
    state = start(expression)
    state, _ = feed(expression, state, {"type": "a"})
    assert state == Progress(0, (Progress(1, (Progress(),)),))
    state, _ = feed(expression, state, {"type": "b"})
    assert state == Progress(1, (Progress(0, (Progress(),)),))
    assert not matters(expression, Status.SUCCESS, {"type": "a"})


def test_absent_fields_and_other_kinds() -> None:
    def satisfies(text: str, **fields: object) -> bool:
        (filter,) = filters(parse(text).expression)
        return holds(filter, fields)  # type: ignore[arg-type]

    assert not satisfies("<alt = 5>")
    assert not satisfies("<alt != 5>")
    assert satisfies("!<alt = 5>")
    assert satisfies("<alt != 5>", alt="5")
    assert not satisfies("<alt <= 5>", alt="5")
    assert not satisfies("<alt = 1>", alt=True)
    assert satisfies("<alt >= 5>", alt=5.0)


def test_an_event_of_a_subtype_is_of_both_types() -> None:
    badge = Event(1, frozenset({"Seen", "Badge"}), Interval(3, 5), {"door": 2}, source="desk")
    fields = fields_of(badge)
    for text in ("Seen", "Badge", "<door = 2>", "<timestamp = 5>", "<source = desk>", "<type != Door>"):
        (filter,) = filters(parse(text).expression)
        assert holds(filter, fields), text
    assert not holds(filters(parse("<type != Seen>").expression)[0], fields)


def test_walk_visits_in_textual_order() -> None:
    program: Program = parse("define p = a; do {push(x) {p}} unless {in (m) do {b} in (n) do {c}}")
    names = [type(node).__name__ for node in walk(program.expression)]
    assert names == ["DoUnless", "Push", "Named", "Predicate", "Modes", "Predicate", "Predicate"]
    assert len(filters(program.expression)) == 5
