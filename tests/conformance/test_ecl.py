"""Every ECL case on every engine; and that a wrong expectation, or one nobody looks at, fails."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.wrong_expectations import wrong_answer
from tocsin.cases.completion.kinds import KINDS
from tocsin.cases.model import Skip
from tocsin.cases.runner import same
from tocsin.errors import CaseError, TocsinError

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "ecl.yaml").read_text())
# A module is states and transitions, which a tree does not have.
NEVER = {("reference", "module")}


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any], engine: str) -> None:
    if (engine, case["kind"]) in NEVER:
        with pytest.raises(Skip):
            KINDS[case["kind"]](case, engine)
        return
    expected, got = KINDS[case["kind"]](case, engine)
    assert same(expected, got)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_wrong_expectation_fails(case: dict[str, Any]) -> None:
    for key in case["expect"]:
        wrong = deepcopy(case)
        wrong["expect"][key] = wrong_answer(key, case["expect"][key])
        expected, got = KINDS[case["kind"]](wrong, "local")
        assert not same(expected, got), key


def test_a_key_nobody_looks_at_fails() -> None:
    case = {
        "id": "x",
        "kind": "run",
        "language": "ecl",
        "expression": "a",
        "trace": ["a"],
        "expect": {"outptus": []},
    }
    with pytest.raises(CaseError, match="outptus"):
        KINDS["run"](case, "local")


def test_an_empty_expectation_fails() -> None:
    case = {"id": "x", "kind": "run", "language": "ecl", "expression": "a", "trace": ["a"], "expect": {}}
    with pytest.raises(CaseError, match="empty"):
        KINDS["run"](case, "local")


# Cases of our own, in the same form: kinds of errors and warnings, machines as text, order of nested pushes.

OURS: list[dict[str, Any]] = [
    {"kind": "parse", "language": "ecl", "expression": "repeat(0) {a}", "expect": {"error": "bad-bound"}},
    {
        "kind": "parse",
        "language": "ecl",
        "expression": "define x = fail {x}; x",
        "expect": {"error": ["used-before-defined"]},
    },
    {
        "kind": "parse",
        "language": "ecl",
        "expression": "subscribe S {a} subscribe T {b}",
        "expect": {"error": False},
    },
    {
        "kind": "parse",
        "language": "ecl",
        "expression": "in (m) do {a} in (!a) do {b}",
        "expect": {"warning": True, "error": False},
    },
    {
        "kind": "parse",
        "language": "ecl",
        "expression": "in (m) do {a} in (n) do {b}",
        "expect": {"warning": False},
    },
    {
        "kind": "parse",
        "language": "ecl",
        "expression": "machine M { states q; initial q; trans t: {q} eps clear {} goto {q}; }",
        "expect": {"error": "endless-internal-steps"},
    },
    {
        "kind": "machine",
        "language": "ecl",
        "expression": "machine M { states q r; initial q; trans t: {q} a clear {q} goto {r} out x; }",
        "trace": ["b", "a"],
        "expect": {
            "initial_state_after_closure": ["q"],
            "outputs": [[2, "x"]],
            "steps": [
                {"event": "b", "fired": [[]], "state": ["q"]},
                {"event": "a", "fired": [["t"]], "state": ["r"]},
            ],
        },
    },
    {
        "kind": "machine",
        "language": "ecl",
        "machine": {
            "states": ["q"],
            "initial": ["q"],
            "transitions": [
                {"id": "t", "enable": ["q"], "input": "a", "clear": "all", "target": ["q"], "output": None},
                {"id": "u", "enable": [["q"]], "input": "a", "clear": [], "target": [], "output": "x"},
            ],
            "order": [["t", "u"], ["u", "t"]],
        },
        "trace": [],
        "expect": {"error": "order-cycle"},
    },
    {
        "kind": "analysis",
        "language": "ecl",
        "expression": "repeat {push(x) {do {accumulate {a, b}} unless {c}}}",
        "machine": next(case["machine"] for case in CASES if case["id"] == "ecl-004"),
        "alphabet": ["a", "b", "c"],
        "expect": {"equivalent": True, "contained": True},
    },
    {
        "kind": "analysis",
        "language": "ecl",
        "expression": "push(x) {sequential {a, b}}",
        "alphabet": ["a", "b", "c"],
        "expect": {"influence": {"x": ["a", "b"]}, "live": True},
    },
    {"kind": "determinize", "language": "ecl", "expression": "fail {fail {a}}", "expect": {"minimal": 2}},
    {
        "kind": "run",
        "language": "ecl",
        "expression": "<timestamp >= 5> /\\ <data.alt < 500>",
        "trace": [{"timestamp": 4, "data": {"alt": 1}}, {"timestamp": 5, "data": {"alt": 499.5}}],
        "expect": {"completed_at": 2, "outputs": [], "status": "success"},
    },
    {
        "kind": "run",
        "language": "ecl",
        "expression": "repeat {push(Low {by = event.alt}) {<alt < 500>}}",
        "trace": [{"alt": 1}, {"alt": "1"}, {"type": "a"}],
        "expect": {"outputs": [[1, {"type": "Low", "by": 1}]], "completed_at": None},
    },
    {
        "kind": "run",
        "language": "ecl",
        "expression": "a",
        "options": {"unless_tie": "nobody"},
        "expect": {"error": "bad-option"},
    },
]


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("case", OURS, ids=lambda case: str(case.get("expression", case["kind"]))[:40])
def test_our_case(case: dict[str, Any], engine: str) -> None:
    expected, got = KINDS[case["kind"]](case, engine)
    assert same(expected, got)


def test_nested_pushes_come_from_the_inside_out() -> None:
    case = {
        "kind": "run",
        "language": "ecl",
        "expression": "push(y) {push(x) {a}}",
        "trace": ["a"],
        "expect": {"outputs": [[1, "x"], [1, "y"]]},
    }
    assert same(*KINDS["run"](case, "local"))
    case["expect"] = {"outputs": [[1, "y"], [1, "x"]]}
    assert not same(*KINDS["run"](case, "local"))


def test_an_error_nobody_expects_is_raised() -> None:
    case = {
        "kind": "run",
        "language": "ecl",
        "expression": "select {",
        "trace": [],
        "expect": {"outputs": []},
    }
    with pytest.raises(TocsinError):
        KINDS["run"](case, "reference")
