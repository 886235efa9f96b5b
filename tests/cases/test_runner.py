"""The runner: what passes, fails and is skipped, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest

from tocsin.cases.files import WrittenCase
from tocsin.cases.model import Skip
from tocsin.cases.runner import Outcome, described, reasons, run_cases, summary
from tocsin.cases.tokens.kinds import KINDS


def _case(**keys: Any) -> WrittenCase:
    whole = {
        "id": "x",
        "kind": "detect",
        "language": "core",
        "expression": "[A];[B]",
        "expect": {"matches": []},
    }
    return WrittenCase("cases.yaml", 7, {**whole, **keys})


def _run(**keys: Any) -> Outcome:
    (outcome,) = run_cases([_case(**keys)], ["reference"])
    return outcome


def test_a_failure_shows_expected_and_got_side_by_side() -> None:
    events = [{"types": name, "t": time} for name, time in (("A", 1), ("A", 2), ("B", 3))]
    wanted = {"matches": [{"events": [1, 3], "at": 3}, {"events": [2, 2], "at": 2.5}]}
    shown = described(_run(trace=events, expect=wanted)).splitlines()
    assert shown[7].startswith(
        "  3 events from 00:00:01 to 00:00:03; 2 matches"
    )  # how far partial matches got
    assert shown[:6] == [
        "FAILED x (detect, reference) cases.yaml:7",
        "    [A];[B]",
        "    expected               got",
        "  ≠ at 2.5  events [2, 2]  -",
        "    at 3  events [1, 3]    at 3  events [1, 3]",
        "  ≠ -                      at 3  events [2, 3]",
    ]


def test_a_pattern_that_cannot_be_read_is_a_failure_with_its_mistakes() -> None:
    outcome = _run(expression="[A];[B")
    assert outcome.status == "failed"
    assert "^" in described(outcome)


@pytest.mark.parametrize("keys", [{"kind": "dance"}, {"language": "klingon"}, {"language": "klingon-core"}])
def test_what_nobody_knows_fails_unless_it_is_to_be_skipped(keys: dict[str, str]) -> None:
    assert _run(**keys).status == "failed"
    (outcome,) = run_cases([_case(**keys)], ["reference"], skip_unknown=True)
    assert outcome.status == "skipped"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"expect": {"matchs": []}}, "did you mean 'matches'?"),
        ({"expect": {}}, "expect is empty"),
        ({"expect": None}, "expect must be a mapping"),
        ({"expect": {"matches": [], "error": True}}, "both matches and error"),
        ({"given": {"x": 1}}, "has no given"),
        ({"options": {"restrat": "always"}}, "did you mean 'restart'?"),
        ({"options": {"parameters": "guesswork"}}, "one of post-filter, bound-variable"),
        ({"options": {"parameters": "post-filter"}}, "the expression has none"),
        ({"trace": [{"types": "A", "t": "soon"}]}, "'soon' is not a time"),
        ({"trace": [{"types": "A", "t": 1e-9}]}, "is not a time"),
        ({"trace": [{"types": "A", "t": [2, 1]}]}, "ends before it starts"),
        ({"trace": [{"types": "A", "t": 1, "u": 1}, {"types": "A", "t": 2, "u": 1}]}, "are called 1"),
        ({"trace": [{"types": "A", "t": 1, "attrs": {"k": [1]}}]}, "cannot be [1]"),
        ({"trace": [{"t": 1}]}, "needs a type and a time"),
        ({"key": "room", "trace": [{"types": "A", "t": 1}]}, "lacks the key room"),
        ({"expression": None}, "must be a text"),
        ({"kind": "policy", "expect": {"matches": []}}, "does not say the detection"),
        ({"kind": "automaton", "expect": {"generated": 0}, "expression": "[A]||[B]"}, "needs 3 automata"),
        ({"kind": "order", "expect": {"weak": True}, "given": {"t1": 1}, "expression": None}, "t1 and t2"),
    ],
)
def test_a_case_that_makes_no_sense_fails_and_says_why(keys: dict[str, Any], says: str) -> None:
    outcome = _run(**keys)
    assert outcome.status == "failed"
    assert says in outcome.why


def test_whatever_a_handler_raises_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: object, engine: str) -> tuple[object, object]:
        raise ZeroDivisionError("division by zero")

    def skipping(case: object, engine: str) -> tuple[object, object]:
        raise Skip("not on a Sunday")

    monkeypatch.setitem(KINDS, "detect", broken)
    monkeypatch.setitem(KINDS, "parse", skipping)
    outcomes = list(run_cases([_case(), _case(kind="parse")], ["reference", "local"]))
    assert [outcome.status for outcome in outcomes] == ["failed", "skipped"] * 2
    assert outcomes[0].why == "ZeroDivisionError: division by zero"
    assert reasons(outcomes) == ["2 skipped: not on a Sunday"]
    assert summary(outcomes) == "0 passed, 2 failed, 2 skipped"


def test_text_that_looks_like_a_number_is_shown_in_quotes() -> None:
    outcome = Outcome(_case(), "reference", "failed", "", [1, "1", True, "true"], [])
    assert [line.split()[1] for line in described(outcome).splitlines()[3:]] == ["1", "'1'", "true", "'true'"]
