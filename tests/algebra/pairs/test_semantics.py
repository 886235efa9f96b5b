"""What profiles mean, by hand: the examples of the paper and every mode that it names."""

from __future__ import annotations

import pytest

from support.pairs_notation import read_prefix
from support.pairs_strategies import ids, observe, uniform
from tocsin.algebra.pairs.expression import INFINITE, Disjunction, Expression, Primitive, Sequence
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.observation import Observation, event_groups, initiator, interiors, terminator
from tocsin.algebra.pairs.operators import (
    after,
    at,
    conjunction,
    disjunction,
    event,
    every,
    framed,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    Concurrency,
    Consumption,
    Delimiter,
    Detection,
    Gather,
    Mode,
    Pick,
    nth,
)
from tocsin.algebra.pairs.semantics import instances, reactions, true_at
from tocsin.algebra.predicate import Attribute, Compare, Literal
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.values import Relation

FIGURE = "a@1 a@2 b@3 b@4 a@5 b@6 b@7"  # the trace of Figs. 8 to 13
SERIES = "a@1 a@2 a@3 b@4 a@5 b@6 c@7"  # EIS^1


def found(expression: Expression, trace: str, ticks: tuple[int, ...] = (), end: int | None = None) -> list:
    return ids(instances(expression, observe(trace, ticks, end)))


# --- trace views ----------------------------------------------------------------------------------------


def test_figure_11_pairs_of_a_conjunction_in_both_orders() -> None:
    pairs = found(conjunction("a", "b", first=Pick(1, 2), second=Pick(1, 2)), FIGURE)
    assert ["a.3", "b.2"] in pairs
    assert len(pairs) == 12


def test_a_leading_view_of_the_second_operand_is_dropped() -> None:
    assert found(sequence("a", "b", pairs="unique", first="first", second="first"), "b@0 a@1 b@2") == [
        ["a.1", "b.2"]
    ]


def test_one_class_twice() -> None:
    assert found(conjunction("a", "a", pairs="unique"), "a@1 a@1 a@2 a@3") == [["a.1", "a.2"], ["a.3", "a.4"]]
    assert found(conjunction("a", "a"), "a@1 a@1 a@2") == [["a.1", "a.2"], ["a.1", "a.3"], ["a.2", "a.3"]]
    assert found(sequence("a", "a"), "a@1 a@1 a@2") == [["a.1", "a.3"], ["a.2", "a.3"]]


def test_strict_duplicates_end_with_another_value() -> None:
    values = [(1, 5), (2, 5), (3, 6), (4, 6)]
    trace = [Event(t, frozenset({"a"}), Interval(t, t), {"v": v}) for t, v in values]
    first = disjunction("a", "b", first="first")
    strict = disjunction("a", "b", first="first", equal=True)
    assert ids(instances(first, Observation.of(trace))) == [1]
    assert ids(instances(strict, Observation.of(trace))) == [1, 3]


def test_an_event_of_two_classes_counts_once_in_a_disjunction() -> None:
    trace = [Event(1, frozenset({"a", "b"}), Interval(1, 1)), Event(2, frozenset({"b"}), Interval(2, 2))]
    assert ids(instances(disjunction("a", "b"), Observation.of(trace))) == [1, 2]
    assert ids(instances(conjunction("a", "b"), Observation.of(trace))) == [[1, 2]]


def test_a_filter_makes_a_class() -> None:
    strong = Compare(Attribute("v"), Relation.GT, Literal(9))
    trace = [Event(t, frozenset({"a"}), Interval(t, t), {"v": v}) for t, v in ((1, 5), (2, 10))]
    assert ids(instances(event("a", strong), Observation.of(trace))) == [2]


def test_ids_nest_and_inner_matches_are_instances() -> None:
    nested = sequence(conjunction("a", "b"), "c")
    assert found(nested, "b@1 a@2 c@3") == [[["a.1", "b.1"], "c.1"]]
    assert found(disjunction(sequence("a", "b"), "c"), "a@1 b@2 c@3") == [["a.1", "b.1"], "c.1"]


# --- detection per terminator ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("duplicates", "consumption", "expected"),
    [
        ("first", "delete_reapply", [["a.1", "b.1"], ["a.2", "b.2"]]),
        ("last", "delete_reapply", [["a.3", "b.1"], ["a.4", "b.2"]]),
        ("all", "delete_reapply", [["a.1", "b.1"], ["a.2", "b.1"], ["a.3", "b.1"], ["a.4", "b.2"]]),
        (2, "keep", [["a.2", "b.1"], ["a.2", "b.2"]]),
        (2, "delete", [["a.2", "b.1"]]),
        ("cumulative", "keep", [["a.1", "a.2", "a.3", "b.1"], ["a.1", "a.2", "a.3", "a.4", "b.1", "b.2"]]),
        ("cumulative", "delete", [["a.1", "a.2", "a.3", "b.1"], ["a.4", "b.2"]]),
    ],
)
def test_consumption(duplicates: str, consumption: str, expected: list) -> None:
    assert found(sequence("a", "b", duplicates=duplicates, consumption=consumption), SERIES) == expected


def test_a_conjunction_ends_with_either_operand() -> None:
    chronicle = conjunction("a", "b", duplicates="first", consumption="delete_reapply")
    assert found(chronicle, "a@0 a@1 b@2 b@3 a@4") == [["a.1", "b.1"], ["a.2", "b.2"]]
    assert found(chronicle, "b@0 b@1 a@2 a@3") == [["a.1", "b.1"], ["a.2", "b.2"]]
    deleting = conjunction("a", "b", duplicates="first", consumption="delete")
    assert found(deleting, "b@0 b@1 a@2 a@3 b@4") == [["a.1", "b.1"], ["a.2", "b.3"]]


def test_each_operand_has_its_own_consumption() -> None:
    modes = (Mode(FIRST), Mode(FIRST, Consumption.REAPPLY), Mode())
    series = sequence("a", "b", "c", modes=modes)
    assert found(series, "a@1 b@2 b@3 c@4 c@5 c@6") == [["a.1", "b.1", "c.1"], ["a.1", "b.2", "c.2"]]


def test_restricted_cumulative_takes_what_the_pattern_needs() -> None:
    def gathered(gather: Gather) -> list:
        modes = (Mode(gather), Mode(FIRST), Mode())
        return found(sequence("a", "b", "c", modes=modes, traversal="rl"), "a@1 a@2 b@3 a@4 c@5")

    assert gathered(Gather.CUMULATIVE) == [["a.1", "a.2", "a.3", "b.1", "c.1"]]
    assert gathered(Gather.RESTRICTED) == [["a.1", "a.2", "b.1", "c.1"]]


def test_combinations_are_sets_as_large_as_the_delimiter_says() -> None:
    def gathered(gather: Gather, delimiter: Delimiter) -> list:
        return found(sequence("a", "b", modes=(Mode(gather, delimiter=delimiter), Mode())), "a@1 a@2 a@3 b@4")

    least = [["a.1", "a.2", "b.1"], ["a.1", "a.3", "b.1"], ["a.2", "a.3", "b.1"]]
    assert gathered(Gather.COMBINATIONS_MINIMUM, Delimiter(2, 3)) == least
    assert sorted(gathered(Gather.COMBINATIONS, Delimiter(2, 3))) == sorted(
        [*least, ["a.1", "a.2", "a.3", "b.1"]]
    )
    assert gathered(Gather.CUMULATIVE, Delimiter(4, None)) == []


def test_a_delimiter_takes_so_many_of_the_oldest_or_youngest() -> None:
    def taken(selection: object) -> list:
        return found(
            sequence("a", "b", modes=(Mode(selection, delimiter=Delimiter(2, 2)), Mode())), "a@1 a@2 a@3 b@4"
        )

    assert taken(FIRST) == [["a.1", "a.2", "b.1"]]
    assert taken(LAST) == [["a.2", "a.3", "b.1"]]
    ending = (Mode(), Mode(LAST, delimiter=Delimiter(2, 2)))
    assert found(sequence("a", "b", modes=ending), "b@0 a@1 b@2 b@3") == [["a.1", "b.2", "b.3"]]


@pytest.mark.parametrize("operator", [";", "^"])
def test_figure_5_what_the_inner_event_deletes_is_gone_for_the_outer_one(operator: str) -> None:
    exclusive = Detection((Mode(ALL, Consumption.DELETE),), concurrency=Concurrency.OVERLAPPING)
    text = f"E4 := {operator}(E1, E3), E5 := {operator}(E4, E2)"
    trace = observe("e1@1 e2@2 e3@3 e1@4 e3@5 e2@6")
    matches = ids(instances(read_prefix(text, exclusive), trace))
    assert matches == [[["e1.2", "e3.2"], "e2.2"]]


def test_parts_of_a_match_and_groups() -> None:
    matches = instances(sequence("a", "b", "c", duplicates="all"), observe("a@1 b@2 b@3 c@4 c@5"))
    groups = event_groups(matches)
    assert [[terminator(m).id for m in group] for group in groups] == [["c.1"] * 2, ["c.2"] * 2]
    assert (initiator(matches[0]).id, [i.id for i in interiors(matches[0])]) == ("a.1", ["b.1"])


def test_nothing_between() -> None:
    without = sequence("a", "b", duplicates="first", consumption="delete", without="c")
    assert found(without, "a@1 c@2 b@3 a@4 b@5") == [["a.2", "b.2"]]
    assert found(sequence("a", "b", without="c"), "a@1 c@2 a@3 b@4") == [["a.2", "b.1"]]


def test_simultaneity_has_a_tolerance() -> None:
    trace = "a@1 b@1 a@2 b@4"
    assert found(simultaneity("a", "b"), trace) == [["a.1", "b.1"]]
    assert found(simultaneity("a", "b", tolerance=1), trace) == [["a.1", "b.1"], ["a.2", "b.1"]]
    assert found(simultaneity("a", "b", tolerance=1, consumption="delete", duplicates="first"), trace) == [
        ["a.1", "b.1"]
    ]


def test_a_disjunction_per_terminator_has_every_instance() -> None:
    how = uniform(FIRST, Consumption.DELETE)
    assert found(Disjunction((Primitive("a"), Primitive("b")), None, how), "a@1 a@2 b@2") == [
        "a.1",
        "a.2",
        "b.1",
    ]


# --- time -------------------------------------------------------------------------------------------------


def test_time_events() -> None:
    assert found(at(5), "a@1", end=4) == []
    assert found(sequence("a", at(5)), "a@1 a@6") == [["a.1", "at.5"]]
    assert true_at(after("a", 3), observe("a@1 a@2", end=4)) == (4,)
    assert true_at(every(5, "a", "b"), observe("a@0 b@12", end=20)) == (5, 10)
    assert true_at(every(5, "a", "b"), observe("a@0 b@10", end=20)) == (5,)
    assert true_at(every(5, at(2)), observe("a@0", end=20)) == (7, 12, 17)


def test_a_negation_fires_without_a_further_event() -> None:
    quiet = negation("a", 3)
    assert true_at(quiet, observe("a@1", range(0, 10))) == (0, 5, 6, 7, 8, 9)
    assert [i.time for i in reactions(quiet, observe("a@1", range(0, 10)))] == [0, 5]
    assert [i.time for i in reactions(disjunction("b", quiet), observe("a@0 b@2", range(0, 10)))] == [2, 4]
    assert found(conjunction("b", negation("a", 3), within=2), "a@0 b@3", (2, 4, 6)) == [["b.1", "tick.2"]]


def test_never_so_far_is_asked_when_the_rest_occurs() -> None:
    unlocked = conjunction("a", negation("b"), within=float("inf"))
    assert found(unlocked, "a@1 b@2 a@3") == [["a.1"]]
    neither = conjunction("a", conjunction(negation("b", float("inf")), negation("c", float("inf"))))
    assert found(neither, "a@1 c@2 a@3") == [["a.1"]]
    either = sequence("a", disjunction(negation("b"), negation("c")), within=float("inf"))
    assert found(either, "a@1 c@2 a@3 b@4 a@5") == [["a.1"], ["a.2"]]
    pair = sequence("a", "b", consumption="delete")
    assert found(conjunction(pair, framed(negation("c"), float("inf"))), "a@1 b@2 c@3 a@4 b@5") == [
        [["a.1", "b.1"]]
    ]
    assert INFINITE.value == "inf"


def test_selection_counts_instances_of_any_kind() -> None:
    trace = "a@1 b@2 a@3 b@4 b@5"
    assert found(selection("b", 2, 3), trace) == ["b.2", "b.3"]
    assert found(selection("b", "last"), trace) == ["b.3"]
    assert found(selection(sequence("a", "b", consumption="delete", duplicates="last"), 2), trace) == [
        ["a.2", "b.2"]
    ]


def test_an_observation_does_not_end_before_its_events() -> None:
    with pytest.raises(InputError, match="early-end"):
        observe("a@5", end=4)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Sequence((Primitive("a"), selection("b", 2)), INFINITE), "(a ; b[2])_inf"),
        (conjunction("a", "b", first=2, second="last", pairs="unique"), "(a, b){z=2,w=last,unique}"),
        (negation(sequence("a", "b"), 5), "!(a ; b)_5"),
        (disjunction("a", framed("b", 3), first="all"), "(a | (b)_3)"),
        (
            sequence("a", "b", "c", duplicates=nth(2), consumption="delete"),
            "(a ; b ; c){modes=2:delete/2:delete/2:delete}",
        ),
        (
            simultaneity(after("a", 3), every(2, at(1), "b"), tolerance=1),
            "(after(a, 3) : every(2, at(1), b)){tolerance=1}",
        ),
        (event("a", Compare(Attribute("v"), Relation.GT, Literal(9))), "a(v>9)"),
    ],
)
def test_expressions_can_be_shown(expression: Expression, text: str) -> None:
    assert show(expression) == text
