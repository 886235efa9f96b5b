"""The questions about expressions, on examples; every answer is confirmed by properties elsewhere."""

from __future__ import annotations

import pytest

from tocsin.algebra.completion.expression import Expression
from tocsin.algebra.completion.fields import Fields
from tocsin.analysis import (
    Answer,
    Budget,
    Subject,
    compare,
    contained,
    equal,
    examine,
    findings,
    influence,
    live,
    need,
    overlapping_guards,
    show_trace,
    subjects,
    trivial,
    vacuous,
)
from tocsin.errors import LimitError
from tocsin.languages.ecl import parse, parse_machine

ABC: list[Fields] = [{"type": letter} for letter in "abc"]


def expression(text: str) -> Expression:
    return parse(text).expression


def over_abc(*texts: str) -> list[Subject]:
    return subjects(*(expression(text) for text in texts), alphabet=ABC)


def shown(answer: Answer) -> str | None:
    return None if answer.witness is None else show_trace(answer.witness)


def test_trivial() -> None:
    assert trivial(*over_abc("a \\/ b \\/ c"))
    assert shown(trivial(*over_abc("a"))) == "b"
    # Over all events there is always one more.
    assert not trivial(*subjects(expression("a \\/ b \\/ c")))
    assert trivial(*over_abc("repeat {push(x) {true}}"))


def test_vacuous() -> None:
    assert vacuous(*over_abc("accumulate {a, false}"))
    assert shown(vacuous(*over_abc("accumulate {b, a}"))) == "a b"
    # Judged by output, because it cannot complete.
    assert vacuous(*over_abc("repeat {a}"))
    assert shown(vacuous(*over_abc("parallel {push(x) {sequential {a, a}}}"))) == "a a"
    # It can complete, though only with failure; so an output is not enough.
    assert vacuous(*over_abc("do {parallel {push(x) {a}}} unless {b}"))


def test_live() -> None:
    assert live(*over_abc("persist {do {a} unless {b}}"))
    assert shown(live(*over_abc("do {a} unless {b}"))) == "b"
    assert shown(live(*over_abc("sequential {a, do {b} unless {c}}"))) == "a c"
    assert live(*over_abc("parallel {push(x) {a}}"))
    assert shown(live(*over_abc("false"))) == "no event at all"


def test_contained() -> None:
    assert contained(*over_abc("sequential {a, b}", "accumulate {a, b}"))
    assert shown(contained(*over_abc("select {a, b}", "accumulate {a, b}"))) == "a"
    assert shown(contained(*over_abc("accumulate {a, b}", "sequential {a, b}"))) == "b a"
    # A system accepts what one of its expressions does.
    one, a_first, b_first = over_abc("accumulate {a, b}", "sequential {a, b}", "sequential {b, a}")
    assert contained(one, [a_first, b_first])
    assert contained([a_first, b_first], one)


def test_equal() -> None:
    assert equal(*over_abc("loop {do {a} unless {b}}", "fail {persist {fail {do {a} unless {b}}}}"))
    assert equal(*over_abc("parallel {push(x) {a}, push(y) {a}}", "parallel {push(y) {a}, push(x) {a}}"))
    assert shown(equal(*over_abc("push(x) {a}", "a"))) == "a"
    assert shown(equal(*over_abc("select {a, b}", "accumulate {a, b}"))) == "a"
    assert shown(equal(*over_abc("push(x) {accumulate {a, a}}", "push(x) {sequential {a, a}}"))) == "a"


def test_equal_to_a_machine_written_by_hand() -> None:
    text = """machine Loop { states off on; initial off;
        trans t1: {off} a clear {off} goto {on}; trans t2: {on} b clear {on} goto {off} out x; }"""
    hand = parse_machine(text)
    once, again = (
        expression("push(x) {sequential {a, b}}"),
        expression("repeat {push(x) {sequential {a, b}}}"),
    )
    assert equal(*subjects(again, hand))
    assert shown(equal(*subjects(once, hand))) == "a b a b"
    # With final states the machine has to complete as well.
    final = parse_machine(text.replace("initial off;", "initial off; success off;"))
    assert not equal(*subjects(again, final))


def test_a_machine_can_begin_with_success() -> None:
    text = "machine M { states q r; initial q; success q; trans t: {q} true clear {q} goto {r}; }"
    (hand,) = subjects(parse_machine(text))
    assert shown(vacuous(hand)) == "no event at all"
    assert live(hand)
    # Nothing has happened yet, and already they differ.
    assert shown(equal(*subjects(parse_machine(text), expression("false")))) == "no event at all"


def test_questions_are_refused_when_the_budget_is_used_up() -> None:
    several = [f"repeat {{push(x) {{repeat({n}) {{a}}}}}}" for n in (97, 101, 103)]
    one, other, third = over_abc(*several)
    assert len(contained(one, other).witness or ()) == 97
    budget = Budget(20_000)
    assert shown(equal(one, other, budget)) is not None
    assert budget.spent < 1_000
    # Side by side the first two have 97 · 101 states, all three have 103 times as many.
    budget = Budget(20_000)
    with pytest.raises(LimitError, match="20,000 steps"):
        contained([one, other, third], [one, other, third], budget)
    assert budget.left == 0
    with pytest.raises(LimitError):
        subjects(expression("repeat(1000) {a}"), budget=Budget(10_000))


def test_examine_answers_as_much_as_it_can() -> None:
    whole = examine(expression("repeat {push(x) {accumulate {a, b}}}"))
    assert (whole.refused, whole.trivial, whole.live) == (None, Answer(False, ({},)), Answer(True))
    assert whole.need is not None
    assert (whole.need.configurations, len(whole.influence or ())) == (3, 2)
    hostile = "accumulate {" + ", ".join(f"a{i}" for i in range(30)) + "}"
    part = examine(expression(hostile))
    assert part.live is None
    assert part.refused is not None
    assert "200,000 cells" in part.refused
    assert part.need is not None
    assert "50,000 cells" in (part.need.refused or "")
    nothing = examine(expression("a"), budget=Budget(1))
    assert (nothing.need, nothing.trivial) == (None, None)


def test_compare() -> None:
    texts = [
        "sequential {a, b}",
        "accumulate {a, b}",
        "accumulate {b, a}",
        "push(x) {accumulate {a, b}}",
        "false",
    ]
    found = compare([expression(text) for text in texts])
    assert [(r.left, r.right, r.kind, show_trace(r.witness or ())) for r in found.relations] == [
        (0, 1, "contained", "b a"),
        (0, 2, "contained", "b a"),
        (0, 3, "contained", "b a"),
        (1, 2, "equal", "no event at all"),
        (1, 3, "same-traces", "a b"),
        (2, 3, "same-traces", "a b"),
    ]
    assert (found.left_out, found.refused) == (0, None)
    # With less to spend only the first of them are compared.
    short = compare([expression(text) for text in texts], budget=Budget(3_800))
    assert (len(short.relations), short.left_out) == (3, 7)
    assert all(relation in found.relations for relation in short.relations)
    assert "3,800 steps" in (short.refused or "")


def test_influence() -> None:
    (subject,) = over_abc("parallel {push(x) {sequential {a, b}}, repeat {push(y) {do {b} unless {c}}}}")
    found = {(show_trace([one.event]), one.output.value): one for one in influence(subject)}
    assert sorted(found) == [("a", "x"), ("b", "x"), ("b", "y")]
    late = found["a", "x"]
    assert (show_trace(late.before), show_trace(late.after)) == ("no event at all", "b")
    (modes,) = subjects(expression("in (m) do {repeat {push(x) {a}}} in (n) do {repeat {push(y) {a}}}"))
    reached = {(one.event.get("type"), one.output.value) for one in influence(modes)}
    assert reached == {(event, output) for event in "amn" for output in "xy"}


def test_need() -> None:
    found = need(expression("repeat {push(x) {accumulate {a, b, c}}}"))
    assert (found.configurations, found.minimal, found.bits) == (7, 7, 3)
    # One of them has been seen: three states are active, as at the start.
    assert (found.peak, found.witness) == (3, ())
    hostile = "accumulate {" + ", ".join(f"a{i}" for i in range(30)) + "}"
    large = need(expression(hostile))
    assert (large.configurations, large.bits) == (None, large.states)


def test_too_large_to_ask() -> None:
    with pytest.raises(LimitError):
        subjects(expression("repeat(100) {a}"), limit=100)


def test_guards_that_overlap() -> None:
    assert overlapping_guards(expression("in (m) do {a} in (n) do {b}")) == []
    (warning,) = overlapping_guards(expression("fail {in (<alt < 5>) do {a} in (<alt > 3>) do {b}}"))
    assert warning.message.startswith("an event with alt = 4 satisfies")
    assert warning.span is not None
    assert len(overlapping_guards(expression("in (true) do {a} in (m) do {b} in (!n) do {c}"))) == 3


def test_many_modes_are_compared_as_far_as_the_budget_goes() -> None:
    many = " ".join(f"in (g{i}) do {{a}}" for i in range(50))
    with pytest.raises(LimitError, match="1,000 steps"):
        overlapping_guards(expression(many), Budget(1_000))
    (warning,) = findings(parse(many), budget=Budget(1_000))
    assert warning.code == "not-analysed"


def test_findings() -> None:
    program = parse(
        """define stuck = do {a} unless {b};
        subscribe Never {accumulate {a, false}}
        subscribe Always {repeat {push(x) {true}}}
        subscribe Stuck {push(x) {stuck}}
        subscribe Modes {in (a) do {repeat {push(x) {b}}} in (a \\/ n) do {c}}
        subscribe Fine {repeat {push(x) {stuck}}}"""
    )
    found = findings(program)
    assert [warning.code for warning in found] == [
        "never-fires",
        "always-fires",
        "gets-stuck",
        "overlapping-guards",
    ]
    assert found[2].message == "'Stuck' gets stuck: after b it can accept nothing any more"
    assert all(warning.span is not None for warning in found)


@pytest.mark.slow
def test_findings_of_what_is_too_large() -> None:
    hostile = "accumulate {" + ", ".join(f"a{i}" for i in range(30)) + "}"
    assert [warning.code for warning in findings(parse(hostile))] == ["not-analysed"]
