"""Automata as text and as a picture, and the list of active states by which the paper explains them."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from tocsin.algebra.tokens import semantics
from tocsin.algebra.tokens.pattern import Pattern
from tocsin.algebra.tokens.subscription import Interpretation
from tocsin.automata.tokens.active_states import active_states
from tocsin.automata.tokens.automaton import Automaton, build
from tocsin.automata.tokens.show import SpecText
from tocsin.errors import LimitError
from tocsin.events import Event, Interval
from tocsin.explain.drawing import MAX_NODES, draw
from tocsin.explain.render.terminal import automaton_text, tree_text
from tocsin.explain.tokens.diagrams import automaton_diagram, syntax_tree
from tocsin.languages.core.printer import show_spec
from tocsin.languages.registry import parse

SVG = "{http://www.w3.org/2000/svg}"
MEETING = "[On][Pers in {Pers,Off}][Pers]*[Off]"


def _automaton(text: str) -> Automaton:
    return build(parse(text).pattern)


def show_automaton(automaton: Automaton, spec_text: SpecText) -> str:
    return automaton_text(automaton_diagram("D0", automaton, spec_text))


def show_tree(pattern: Pattern, spec_text: SpecText) -> str:
    return tree_text(syntax_tree(pattern, spec_text))


def show_svg(titled: list[tuple[str, Automaton]], spec_text: SpecText) -> str:
    return draw((title, automaton_diagram("D0", one, spec_text)) for title, one in titled)


def test_the_meeting_as_text() -> None:
    assert show_automaton(_automaton(MEETING), show_spec).splitlines() == [
        "S0  start",
        "    On ──▶ S1",
        "S1  fails on Off",
        "    Pers ──▶ S2",
        "S2",
        "    Pers ──▶ S2",
        "    Off ──▶ match",
    ]


def test_timers_strong_moves_and_negation_as_text() -> None:
    text = show_automaton(_automaton("([A],[!B in {B,C}];[D])_{T1=5min}"), show_spec)
    assert text.splitlines() == [
        "S0  start",
        "    A ──▶ S1, starts T1=5min",
        "S1  fails on B, T1",
        "    B, C, not B ──▶ S2",
        "S2  fails on T1",
        "    D ══▶ match",
    ]


def test_what_a_negation_leaves_out_ends_a_match_inside_its_set_only() -> None:
    text = show_automaton(_automaton("[!E in {D,F}]"), show_spec)
    assert text.splitlines() == ["S0  start, fails on E in {D, F}", "    D, F, not E ──▶ match"]


def test_an_event_outside_the_set_of_a_negation_is_passed_over() -> None:
    automaton = _automaton("[!E in {D,F}][B]")
    passed = active_states(automaton, [["E"], ["D"], ["B"]], restart_always=False)
    assert (passed.states, passed.generated) == (((0,), (0,), (0, 1), (0,)), 1)
    ended = active_states(automaton, [["E", "D"], ["D"], ["B"]], restart_always=False)
    assert ended.states == ((0,), (), (), ())


def test_every_operator_has_its_line_in_the_tree() -> None:
    pattern = parse("([A][B];[C]*,[D]|[!E in {E,F}])_{T1@2004-01-31T19:00:00} || [G]").pattern
    assert show_tree(pattern, show_spec).splitlines() == [
        "both, in any order  ||",
        "├─ the first starts T1@2004-01-31T19:00:00, the second hears it",
        "│  ├─ one strictly after the other  ;",
        "│  │  ├─ one after the other",
        "│  │  │  ├─ [A]",
        "│  │  │  └─ [B]",
        "│  │  └─ any number of times  *",
        "│  │     └─ [C]",
        "│  └─ one of  |",
        "│     ├─ [D]",
        "│     └─ [not E in {E, F}]",
        "└─ [G]",
    ]


@pytest.mark.parametrize(
    "text", [MEETING, "([A]|[B])*[C]", "([A];[B])*;[C]", "[A(s='<&>\"''')]", "[A];[B]*;[C][D]*"]
)
def test_a_picture_is_readable_xml_without_overlapping_labels(text: str) -> None:
    root = ElementTree.fromstring(show_svg([(text, _automaton(text))], show_spec))
    assert any(node.text == "match" for node in root.iter())
    boxes = [_box(node) for group in root.iter(f"{SVG}g") for node in group.iter(f"{SVG}rect")]
    assert len(boxes) > 2
    for number, one in enumerate(boxes):
        assert not any(_overlap(one, other) for other in boxes[number + 1 :]), text


def _box(node: ElementTree.Element) -> tuple[float, float, float, float]:
    x, y, width, height = (float(node.get(name, "0")) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_a_picture_has_a_bound() -> None:
    automaton = _automaton("[A]" * (MAX_NODES + 1))
    with pytest.raises(LimitError):
        show_svg([("long", automaton)], show_spec)


def test_active_states_follow_the_paper() -> None:
    activity = active_states(_automaton(MEETING), [["On"], ["Pers"], ["On"], ["Off"]], restart_always=False)
    assert activity.states == ((0,), (0, 1), (0, 2), (0, 1, 2), (0,))
    assert activity.generated == 1


def test_a_start_that_failed_is_active_no_more_unless_it_always_restarts() -> None:
    automaton = _automaton("[A in {A,X}][B]")
    events = [["X"], ["A"], ["B"]]
    assert active_states(automaton, events, restart_always=False).states == ((0,), (), (), ())
    always = active_states(automaton, events, restart_always=True)
    assert (always.states, always.generated) == (((0,), (0,), (0, 1), (0,)), 1)


@pytest.mark.parametrize("restart", ["on-accept", "always"])
@pytest.mark.parametrize(
    "text",
    [
        MEETING,
        "([A]|[B])*[C]",
        "[A]*[A][B]",
        "[A][!B in {A,B,C}][C]",
        "[A][!B in {A,C}][C]",
        "[A in {A,C}]*[B]",
        "([A];[B])*;[C]",
    ],
)
def test_as_many_composites_are_generated_as_the_meaning_finds(text: str, restart: str) -> None:
    """Where events are known by their types and instants alone, both say the same."""
    subscription = parse(text, options=Interpretation.of({"restart": restart}))
    rng = random.Random(text)
    for _ in range(20):
        names = rng.choices(["A", "B", "C", "On", "Off", "Pers"], k=8)
        events = [Event(n, frozenset({name}), Interval(n, n)) for n, name in enumerate(names)]
        activity = active_states(
            build(subscription.pattern), [[name] for name in names], restart_always=restart == "always"
        )
        assert activity.generated == len(semantics.detect(subscription, events))
