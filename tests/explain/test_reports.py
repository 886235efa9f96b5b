"""Reports of checks as values, family by family."""

from __future__ import annotations

import pytest

import tocsin
from tocsin.errors import InputError, PatternErrors

BOTH = "subscribe A {repeat {push(x) {accumulate {a, b}}}} subscribe B {repeat {push(x) {sequential {a, b}}}}"
COR = "N correlation C (E a, E b) l:(a+b) || k:(b+a) { case l: push a; case k: push b }"


def test_subscriptions_are_examined_and_related() -> None:
    report = tocsin.check(BOTH, "ecl")
    assert [(one.what, one.name) for one in report.examined] == [("subscription", "A"), ("subscription", "B")]
    first = report.examined[0]
    assert first.vacuous is not None
    assert first.vacuous.witness == ({"type": "a"}, {"type": "b"})
    assert first.state is not None
    assert first.state.configurations == 3
    assert [(one.kind, one.left, one.right) for one in report.relations] == [("contained", "B", "A")]
    assert report.relations[0].witness == ({"type": "b"}, {"type": "a"})
    assert report.counts == {"examined": 2, "relations": 1, "not_compared": 0, "findings": 0}


def test_a_machine_is_checked_too() -> None:
    text = "machine H { states p q; initial p; trans t: {p} a clear {p} goto {q} out x; }"
    report = tocsin.check(text, "ecl")
    assert [(one.what, one.name) for one in report.examined] == [("machine", "H")]


def test_filters_are_counted_and_related() -> None:
    report = tocsin.check(COR, "ksu")
    (one,) = report.examined
    assert [branch.acceptor_states for branch in one.branches] == [4, 4]
    assert [(r.kind, r.left, r.right) for r in report.relations] == [("alike", "C, branch 1", "C, branch 2")]


def test_patterns_have_counts_and_findings() -> None:
    report = tocsin.check("[B in {B,P}];[C(k<1 AND k>2)]")
    assert report.examined[0].counts == {
        "detectors": 1,
        "states": 2,
        "transitions": 2,
        "predicates": 3,
        "events in a match": 2,
    }
    assert [one.code for one in report.findings] == [
        "never-true",
        "never-matches",
        "never-matches",
        "ends-for-good",
    ]
    assert report.findings[0].excerpt is not None
    assert "^^^" in report.findings[0].excerpt


def test_two_texts_are_compared_both_ways() -> None:
    report = tocsin.check("push(x) {a}", "ecl", compare_with="push(x) {select {a, b}}")
    assert [(one.question, one.left, one.right, one.holds) for one in report.comparisons] == [
        ("equal", "this", "the other", False),
        ("contains", "this", "the other", False),
        ("contains", "the other", "this", True),
    ]
    assert report.comparisons[1].witness == ({"type": "b"},)


def test_two_filters_are_compared() -> None:
    other = "N correlation D (E a, E b) l:(a;b) { case l: push a }"
    one = "N correlation C (E a, E b) l:(a+b) { case l: push a }"
    (comparison,) = tocsin.check(one, "ksu", compare_with=other).comparisons
    assert (comparison.holds, comparison.witness) == (False, ({"event": "b"}, {"event": "a"}))


@pytest.mark.parametrize(
    ("text", "language", "other", "says"),
    [
        ("[A]", "core", "[A]", "texts of the core language cannot be compared"),
        (BOTH, "ecl", "push(x) {a}", "this holds 2 subscriptions"),
    ],
)
def test_what_cannot_be_compared_is_refused(text: str, language: str, other: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        tocsin.check(text, language, compare_with=other)


def test_an_assembly_is_checked_against_the_library() -> None:
    with pytest.raises(PatternErrors, match="did you mean"):
        tocsin.check(COR, "ksu", options={"assembly": "connect A.x -> C.aa;"})
