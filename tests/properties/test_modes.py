"""A mode expression of ECL and the correlation that simulates it send the same, event by event, on every engine.

Paper: 001, section 5.4: "the mode-based approach offers no expressive power beyond our approach".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import (
    FALSE,
    Accumulate,
    DoUnless,
    Expression,
    Interpretation,
    Mode,
    Modes,
    Parallel,
    Predicate,
    Push,
    Repeat,
    Select,
    Sequential,
)
from tocsin.algebra.completion.output import Constant, Make
from tocsin.algebra.correlation import semantics as definitions
from tocsin.algebra.correlation.check import check
from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.modes import simulate
from tocsin.algebra.correlation.outcome import Arrival, Outcome
from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal, Or
from tocsin.automata import correlation as acceptor
from tocsin.automata.completion import compile as compiled
from tocsin.automata.completion.construct import construct
from tocsin.errors import PatternError
from tocsin.languages.ecl import parse
from tocsin.languages.ksu import parse as parse_library
from tocsin.languages.ksu import show as show_library
from tocsin.values import Relation

# Guards and bodies share events, so that a guard takes events away from the mode it ends; g is in no expression.
EVENTS = "abcdef"
Sent = list[Counter[str]]


def of_type(name: str) -> Filter:
    return Compare(Attribute("type"), Relation.EQ, Literal(name))


types = st.sampled_from(EVENTS).map(of_type)
one_of = st.one_of(types, types, types, st.tuples(types, types).map(Or))


def _joined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Accumulate, several),
        st.builds(Select, several),
        # Twice: an order is what can be got wrong.
        st.builds(Sequential, several),
        st.builds(Sequential, several),
    )


awaited = st.recursive(st.builds(Predicate, one_of), _joined, max_leaves=4)
outputs = st.sampled_from([Constant("x"), Constant("y"), Make("Z", (("level", Literal(3)),))])
tasks = st.one_of(
    st.builds(Repeat, st.builds(Push, outputs, awaited)),
    st.builds(Repeat, st.builds(Push, outputs, awaited)),
    st.builds(Push, outputs, awaited),
    st.builds(Repeat, st.builds(Push, outputs, st.builds(DoUnless, awaited, awaited))),
)
bodies = st.one_of(
    tasks,
    tasks,
    tasks,
    st.lists(tasks, min_size=1, max_size=2).map(lambda several: Parallel(tuple(several))),
    st.just(Predicate(FALSE)),
)
modes = st.lists(st.builds(Mode, one_of, bodies), min_size=2, max_size=4).map(
    lambda several: Modes(tuple(several))
)
readings = st.builds(Interpretation, st.sampled_from(["success", "failure"]))
traces = st.lists(st.sampled_from(EVENTS + "g"), max_size=10)


def by_event(length: int, sent: Iterable[tuple[int, str]]) -> Sent:
    """What was sent with each event, in whatever order."""
    found: Sent = [Counter() for _ in range(length)]
    for at, what in sent:
        found[at - 1][what] += 1
    return found


def by_modes(expression: Modes, trace: list[str], interpretation: Interpretation) -> list[Sent]:
    """What ECL pushes: the tree, and the compiled machine."""
    events = [{"type": event} for event in trace]
    machine = compiled.compile_machine(construct(expression, interpretation), limit=5_000)
    runs = [tree.run(expression, events, interpretation), compiled.run(machine, events)]
    return [
        by_event(len(trace), ((at, out if isinstance(out, str) else repr(out)) for at, out in run.outputs))
        for run in runs
    ]


def by_labels(correlation: Correlation, trace: list[str]) -> list[Sent]:
    """What the correlation sends: the definitions, and the compiled acceptor."""
    arrivals = [Arrival(event) for event in trace]
    program = acceptor.compile_correlation(correlation)
    runs: list[Outcome] = [definitions.run(correlation, arrivals), acceptor.run(program, arrivals)]
    return [
        by_event(
            len(trace),
            (
                (o.at, repr({"type": o.type, **o.attributes}) if o.attributes else str(o.type))
                for o in run.outputs
            ),
        )
        for run in runs
    ]


@settings(max_examples=500)
@given(modes, readings, st.lists(traces, min_size=2, max_size=2))
def test_a_correlation_sends_what_the_modes_push(
    expression: Modes, interpretation: Interpretation, several: list[list[str]]
) -> None:
    correlation = simulate(expression, interpretation)
    assert not check(correlation)
    for trace in several:
        first, *others = [*by_modes(expression, trace, interpretation), *by_labels(correlation, trace)]
        assert all(other == first for other in others)


@given(modes)
def test_the_correlation_can_be_written_down(expression: Modes) -> None:
    library = Library((simulate(expression),))
    assert parse_library(show_library(library)) == library


def both(text: str, trace: str) -> tuple[Sent, Sent]:
    """What the modes of a text push, and what their correlation sends, on the references."""
    expression = parse(text).expression
    assert isinstance(expression, Modes)
    letters = trace.split()
    return by_modes(expression, letters, Interpretation())[0], by_labels(simulate(expression), letters)[0]


TWO = "in (g1) do {repeat {push(X) {sequential {a, b}}}} in (g2) do {repeat {push(Y) {sequential {b, a}}}}"


@pytest.mark.parametrize(
    ("text", "trace", "sent"),
    [
        # The first mode runs at once, and its own guard is an event like any other.
        (TWO, "a g1 b g2 b a", {3: "X", 6: "Y"}),
        # The event of a guard is not seen inside the mode that it ends.
        ("in (p) do {repeat {push(x) {a}}} in (a) do {repeat {push(y) {a}}}", "a a p a", {2: "y"}),
        # Of two guards that accept an event, the first that is armed wins.
        (
            "in (p) do {push(x) {b}} in (a) do {push(y) {b}} in (a) do {push(z) {b}}",
            "a b a b",
            {2: "y", 4: "z"},
        ),
        # What is pushed once is pushed once again when the mode is entered again.
        ("in (p) do {push(x) {a}} in (q) do {false}", "a a q a p a a", {1: "x", 6: "x"}),
        # A name for part of a text stands for that part; here b only starts it again.
        (
            "define w = do {sequential {a, c}} unless {b}; in (p) do {repeat {push(x) {w}}} in (q) do {false}",
            "a b c a c",
            {5: "x"},
        ),
    ],
)
def test_examples(text: str, trace: str, sent: dict[int, str]) -> None:
    pushed, simulated = both(text, trace)
    assert pushed == simulated
    assert {at: what for at, found in enumerate(pushed, 1) for what in found} == sent


PAPER = """Out correlation Modes (E a, E b, G g1, G g2) m1:(a;b) | m2:(b;a) || l1:g1 | l2:g2 {
  abort (m2);
  case l1: abort (m1, m2); revive (m1);
  case l2: abort (m1, m2); revive (m2);
  case m1: push new X {}; case m2: push new Y {} }"""


@pytest.mark.parametrize(("trace", "same"), [("a b g2 b a g1 a b", True), ("a g1 b", False)])
def test_the_papers_own_simulation_starts_a_mode_again_on_its_guard(trace: str, same: bool) -> None:
    (printed,) = parse_library(PAPER).correlations
    pushed, simulated = both(TWO, trace)
    assert pushed == simulated
    assert (by_labels(printed, trace.split())[0] == pushed) == same


@pytest.mark.parametrize(
    "text",
    [
        "in (<alt < 5>) do {repeat {push(x) {a}}}",
        "in (true) do {repeat {push(x) {a}}}",
        "in (p) do {repeat {push(x) {!a}}}",
        "in (p) do {repeat {a}}",
        "in (p) do {repeat(2) {push(x) {a}}}",
        "in (p) do {persist {push(x) {a}}}",
        "in (p) do {push(x) {do {a} unless {b}}}",
        "in (p) do {repeat {push(x) {fail {a}}}}",
        "in (p) do {repeat {push(x) {push(y) {a}}}}",
        "in (p) do {repeat {push(*) {a}}}",
        "in (p) do {repeat {push(7) {a}}}",
        'in (p) do {repeat {push("low fuel") {a}}}',
        'in (p) do {repeat {push(x) {<type = "two words">}}}',
        "in (p) do {repeat {push(Low {by = event.alt}) {a}}}",
        "in (p) do {in (q) do {push(x) {a}}}",
        "in (p) do {false}",
    ],
)
def test_what_has_no_counterpart_is_refused(text: str) -> None:
    expression = parse(text).expression
    assert isinstance(expression, Modes)
    with pytest.raises(PatternError) as refused:
        simulate(expression)
    assert refused.value.code == "not-simulated"
    assert refused.value.span is not None


def test_labels_are_never_named_like_events() -> None:
    expression = parse(
        "in (m1) do {repeat {push(x) {b1}}} in (g1_2_) do {push(y) {sequential {m2, a}}}"
    ).expression
    assert isinstance(expression, Modes)
    assert not check(simulate(expression))
