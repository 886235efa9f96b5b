"""The worked cases of the survey and the classification, on the reference and event by event."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tocsin.cases.model import Compared, Skip
from tocsin.cases.pairs.survey import SURVEY_KINDS
from tocsin.errors import CaseError, PatternErrors
from tocsin.languages.profiles.description import built_in_names, description

CONFORMANCE = Path(__file__).parents[2] / "conformance"
PAPER: list[dict[str, Any]] = [
    case
    for case in yaml.safe_load((CONFORMANCE / "jung-hinze.yaml").read_text())
    if case["kind"] in SURVEY_KINDS
]
WORKED: list[dict[str, Any]] = [
    case
    for file in sorted((CONFORMANCE / "profiles").glob("*.yaml"))
    for case in yaml.safe_load(file.read_text())
]
CASES = PAPER + WORKED


def _compared(case: dict[str, Any], engine: str = "reference") -> Compared:
    found = SURVEY_KINDS[case["kind"]](case, engine)
    assert isinstance(found, tuple)
    return found


def test_none_is_left_out() -> None:
    assert Counter(case["kind"] for case in PAPER) == {"survey": 50, "classify": 14, "rule": 3}


def test_every_operator_and_context_has_a_worked_case() -> None:
    for name in built_in_names():
        own = description(name)
        worked = [case for case in WORKED if case["language"] == name]
        assert {str(one["name"]) for one in own.operators} <= {case.get("note") for case in worked}
        assert worked
        for option in own.options:
            if option.name in ("context", "consumption"):
                tried = {case.get("params", {}).get(option.name) for case in worked}
                tried |= {mode for case in worked for mode in case["expect"]}
                assert set(option.values) <= tried | {option.default}, (name, option.name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_passes(case: dict[str, Any]) -> None:
    expected, got = _compared(case)
    assert got == expected


WRONG = {
    "matches": [["e1.1", "e2.1"]],
    "at": [77],
    "cumulated": [[1]],
    "satisfied": "perhaps",
    "reactions": [99],
    "error": "nothing of the kind",
    "group": "XYZ",
    "concurrency": "none",
    "order": ["CE"],
    "keep": [],
    "delete": [],
    "delete_reapply": [],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_wrong_expectation_fails(case: dict[str, Any]) -> None:
    wrong = {key: WRONG[key] for key in case["expect"]}
    if wrong == case["expect"]:
        wrong = {"matches": [["e2.9"]]}
    expected, got = _compared({**case, "expect": wrong})
    assert expected != got


def test_mistakes_in_a_case() -> None:
    case = next(case for case in CASES if case["id"] == "jh-054")
    with pytest.raises(CaseError, match=r"unknown key 'matchs'"):
        _compared({**case, "expect": {"matchs": []}})
    with pytest.raises(CaseError, match="expect is empty"):
        _compared({**case, "expect": {}})
    with pytest.raises(PatternErrors, match="syntax"):
        _compared({**case, "expression": "E1 ;"})
    scoped = next(case for case in CASES if case["language"] == "eve" and "matches" in case["expect"])
    with pytest.raises(Skip, match="by the definitions only"):
        _compared(scoped, "spark")
    window = next(case for case in CASES if case["id"] == "jh-069")
    with pytest.raises(CaseError, match="the default of window is not 5 s"):
        _compared({**window, "params": {"window": "default 5 s"}})
