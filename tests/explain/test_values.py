"""Explanations as values, family by family: trees, diagrams, costs, needs."""

from __future__ import annotations

import pytest

import tocsin
from tocsin.errors import InputError, PatternErrors
from tocsin.explain.contents import (
    Branches,
    Detectors,
    Kernels,
    LocalDecision,
    Matches,
    Needs,
    Placement,
    Predicate,
    Predicates,
    Route,
    Sizes,
    Transformer,
    Tree,
    Waits,
)

COR = "N correlation C (E a, E b, E c) l:(a;b) || k:c { abort (l); case k: push c }"


def _outline(tree: Tree) -> object:
    return (tree.operator, [_outline(one) for one in tree.operands]) if tree.operands else tree.operator


# Tokens


def test_the_tree_of_a_pattern_knows_where_each_node_stands() -> None:
    text = "([A],[!B in {B,C}]*)_{T1=5min} || [D];[E]"
    (tree,) = tocsin.explain(text).trees
    assert _outline(tree) == (
        "all-of",
        [("timed", ["atom", ("repeat", ["not"])]), ("strong-sequence", ["atom", "atom"])],
    )
    (start, end) = tree.operands[1].place or (0, 0)
    assert text[start:end] == "[D];[E]"


def test_an_automaton_is_nodes_and_edges() -> None:
    (diagram,) = tocsin.explain("([A],[B in {B,C}];[D])_{T1=5min}").diagrams
    assert (diagram.name, diagram.kind) == ("D0", "automaton")
    assert [(one.name, one.start, one.final, one.domain, one.fails_on) for one in diagram.nodes] == [
        ("S0", True, False, ("A",), ()),
        ("S1", False, False, ("B", "C"), ("C", "T1")),
        ("S2", False, False, ("D",), ("T1",)),
        ("match", False, True, (), ()),
    ]
    assert [(e.source, e.target, e.event, e.strong, e.starts) for e in diagram.edges] == [
        ("S0", "S1", "A", False, ("T1=5min",)),
        ("S1", "S2", "B", False, ()),
        ("S2", "match", "D", True, ()),
    ]


def test_detectors_read_each_other() -> None:
    (part,) = tocsin.explain("[A] || [B]").parts(Detectors)
    assert [(one.name, one.reads, one.read_by, one.reported) for one in part.detectors] == [
        ("D0", (), ("D2",), False),
        ("D1", (), ("D2",), False),
        ("D2", ("D0", "D1"), (), True),
    ]


@pytest.mark.parametrize(
    ("text", "kernel", "on_points", "because"),
    [
        ("[A][B]", "groups", None, ""),
        ("[A][B] with take = count", "counting", None, ""),
        ("[A][B] with take = last", "first_last", None, ""),
        ("[A];[B]", "single", "groups", "an event must lie wholly after the one before"),
        ("[A(k=$x)][B(k=$x)]", "single", None, "its events are compared by $x"),
        ("([A],[B])_{T1@2004-01-31T19:00:00}", "single", None, "a timer runs out at a fixed moment"),
        (
            "([A],([B],[C])_{T1=1min})_{T2=2min}",
            "single",
            None,
            "its timers run for different times",
        ),
    ],
)
def test_each_kernel_has_its_reason(text: str, kernel: str, on_points: str | None, because: str) -> None:
    (part,) = tocsin.explain(text).parts(Kernels)
    (one,) = part.kernels
    assert (one.of, one.kernel, one.on_points, one.because) == ("D0", kernel, on_points, because)


def test_needs_waits_and_predicates() -> None:
    found = tocsin.explain("([Door(room=$x)],[Temp(room=$x AND temp<15)][Temp]*[End])_{T1=5min}")
    (needs,), (waits,), (predicates,) = found.parts(Needs), found.parts(Waits), found.parts(Predicates)
    assert needs.types == {"Door": {"room": "any"}, "Temp": {"room": "any", "temp": "number"}, "End": {}}
    assert (needs.variables, needs.timers, needs.longest) == (("x",), ("T1=5min",), None)
    assert [(one.state, one.longest, one.timers) for one in waits.waits] == [
        ("S1", 300_000_000, ("T1",)),
        ("S2", 300_000_000, ("T1",)),
    ]
    assert Predicate("Temp", "temp < 15") in predicates.predicates


def test_a_wait_without_a_timer_is_not_bounded() -> None:
    assert not tocsin.explain("[A][B]").parts(Waits)[0].bounded
    assert tocsin.explain("([A],[B])_{T1=1h}").parts(Waits)[0].bounded


def test_the_selection_is_a_value() -> None:
    (part,) = tocsin.explain("[A]", matches="leftmost", take="first 3").parts(Matches)
    assert (part.policy, part.take, part.limit) == ("leftmost", "first", 3)


def test_a_route_stands_before_the_warnings() -> None:
    route = Route("by key", "events travel", {"already partitioned": "it is not"})
    found = tocsin.explain("[A]").with_route(route)
    assert found.parts(Route) == (route,)
    assert [section.title for section in found.sections][-2:] == ["route", "warnings"]
    assert "  taken                    by key: events travel\n" in str(found)


# Completion


def test_a_machine_is_states_and_transitions() -> None:
    found = tocsin.explain("push(x) {accumulate {a, b}}", "ecl")
    (diagram,) = found.diagrams
    assert _outline(found.trees[0]) == ("push", [("accumulate", ["predicate", "predicate"])])
    shapes = {one.name: one.shape for one in diagram.nodes}
    transitions = [one for one in diagram.nodes if one.shape == "transition"]
    assert {one.label for one in transitions} >= {"a", "b"}
    assert any(one.joins for one in transitions)
    assert any(one.final for one in diagram.nodes if one.shape == "state")
    # An edge always joins a state and a transition.
    assert all({shapes[e.source], shapes[e.target]} == {"state", "transition"} for e in diagram.edges)
    assert diagram.text is not None
    assert diagram.text.startswith("machine ")


def test_sizes_and_the_kernel_of_a_machine() -> None:
    found = tocsin.explain("repeat {push(x) {do {accumulate {a, b}} unless {c}}}", "ecl")
    (sizes,), (kernels,), (matter,) = found.parts(Sizes), found.parts(Kernels), found.parts(Predicates)
    first, last = sizes.sizes[0], sizes.sizes[-1]
    assert (first.stage, first.states, first.transitions) == ("as built", 17, 10)
    assert (last.stage, last.configurations, last.event_kinds) == ("minimised", 3, 4)
    assert [(one.kernel, one.because) for one in kernels.kernels] == [
        ("table", "3 configurations fit into a table")
    ]
    assert [one.condition for one in matter.predicates] == ["a \\/ b \\/ c"] * 2


def test_a_warning_has_its_witness_and_its_place() -> None:
    (warning,) = tocsin.explain("subscribe T {push(x) {do {b} unless {c}}}", "ecl").warnings
    assert (warning.code, warning.severity, warning.witness) == ("gets-stuck", "warning", ({"type": "c"},))
    assert (warning.line, warning.column, warning.place) == (1, 1, (0, 41))


def test_a_machine_too_large_to_show_says_so() -> None:
    (diagram,) = tocsin.explain("repeat(300) {accumulate {a, b}}", "ecl").diagrams
    assert (diagram.nodes, diagram.edges) == ((), ())
    assert diagram.left_out is not None
    assert "too many to show" in diagram.left_out


# Correlation


def test_a_filter_is_branches_acceptors_and_cases() -> None:
    found = tocsin.explain(COR, "ksu")
    (branches,), (transformer,) = found.parts(Branches), found.parts(Transformer)
    assert [(one.filter, one.labels, one.acceptor_states) for one in branches.branches] == [
        ("l:(a;b)", {"l": "a;b"}, 3),
        ("k:c", {"k": "c"}, 2),
    ]
    assert (transformer.initial, transformer.cases) == (("abort (l)",), ("k: push c",))
    assert [_outline(tree) for tree in found.trees] == [
        ("labelled", [("sequence", ["atom", "atom"])]),
        ("labelled", ["atom"]),
    ]
    first, _ = found.diagrams
    assert [(e.source, e.event, e.target) for e in first.edges] == [("S0", "a", "S1"), ("S1", "b", "S2")]
    assert [(one.start, one.final) for one in first.nodes] == [(True, False), (False, False), (False, True)]


def test_an_assembly_places_the_filter() -> None:
    text = "connect A.x -> C.a; connect A.y -> C.b; connect B.z -> C.c;"
    (placement,) = tocsin.explain(COR, "ksu", options={"assembly": text}).parts(Placement)
    assert placement.local == (LocalDecision("A", "a;b"),)
    (placement,) = tocsin.explain(COR, "ksu").parts(Placement)
    assert placement.unknown == "no assembly says which component each event comes from"


# What is refused


def test_mistakes_raise_all_at_once() -> None:
    with pytest.raises(PatternErrors) as raised:
        tocsin.explain("[Door(room=)];[Temp in ]")
    assert len(raised.value.errors) == 2


@pytest.mark.parametrize(
    ("language", "option"),
    [
        ("core", {"options": {"types": "eventtype N {};"}}),
        ("pretty", {"options": {"assembly": ""}}),
        ("ecl", {"options": {"types": "eventtype N {};"}}),
        ("ecl", {"catalog": tocsin.Catalog()}),
        ("ecl", {"take": "last"}),
        ("ksu", {"matches": "any"}),
    ],
)
def test_an_option_that_does_not_apply_is_refused(language: str, option: dict[str, object]) -> None:
    name = next(iter(option.get("options", option)))  # type: ignore[call-overload]
    with pytest.raises(InputError, match=name):
        tocsin.explain("a", language, **option)  # type: ignore[arg-type]  # of several types, on purpose


# Pairs


def test_a_profile_says_what_it_needs_and_when_its_clock_ticks() -> None:
    found = tocsin.explain("(Door ; !(Temp(temp > 3))_5min)_5min{consume=delete}", language="meta-ens")
    (tree,) = found.trees
    assert _outline(tree) == ("sequence", ["primitive", ("negation", ["primitive"])])
    assert found.parts(Needs) == (Needs({"Door": {}, "Temp": {"temp": "float"}}),)
    assert "5min after Door" in str(found)
    assert found.warnings == ()


def test_a_profile_that_forgets_nothing_is_warned_about() -> None:
    report = tocsin.check("(a ; b){consume=keep}", language="meta-ens")
    assert [one.code for one in report.findings] == ["unbounded-state"]
    assert report.examined[0].counts == {"operators": 1, "classes of events": 2, "nodes": 3}
