"""Every EXML-QL case on every engine; and that a wrong expectation, or one nobody looks at, fails."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tocsin.cases.blocks.kinds import KINDS
from tocsin.cases.files import WrittenCase
from tocsin.cases.model import Skip
from tocsin.cases.runner import run_cases, same
from tocsin.errors import CaseError

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = yaml.safe_load((HERE / "exml-ql.yaml").read_text(encoding="utf-8"))
# Cases of our own, by the decision they follow; `t` counts seconds.
OWN: list[dict[str, Any]] = yaml.safe_load((HERE / "exml-ql-decisions.yaml").read_text(encoding="utf-8"))
_SLOW = pytest.mark.slow
ON_ENGINES = [
    pytest.param(case, engine, id=f"{case['id']}-{engine}", marks=[_SLOW] if case["kind"] == "bench" else [])
    for case in [*CASES, *OWN]
    for engine in ("reference", "local")
    if (case["kind"], engine) != ("bench", "reference")
]


@pytest.mark.parametrize(("case", "engine"), ON_ENGINES)
def test_case(case: dict[str, Any], engine: str) -> None:
    expected, got = KINDS[case["kind"]](case, engine)
    assert same(expected, got), got


def _wrong(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The case with each part of its expectation wrong."""
    found = []
    for key, value in case["expect"].items():
        wrong: list[object] = [[*value, value[-1] if value else "x"]] if isinstance(value, list) else []
        match value:
            case bool():
                wrong.append(not value)
            case str():
                wrong.append("something else that is not monotone" if key == "shape" else value + "x")
            case [dict(), *_]:
                wrong.append(value[1:])
                wrong += [[{**value[0], "at": 77}, *value[1:]], [{**value[0], "xml": "<no/>"}, *value[1:]]]
                wrong.append([{**value[0], "constituents": [77]}, *value[1:]])
            case [_, *_]:
                wrong.append(value[1:])
        if key == "results" and not value:
            wrong = [[{"at": 1, "xml": "<r/>", "constituents": [1]}]]
        if key != "unit":
            found += [{**case, "expect": {**case["expect"], key: one}} for one in wrong]
    return found


@pytest.mark.parametrize(
    "case", [c for c in [*CASES, *OWN] if c["kind"] != "bench"], ids=lambda case: case["id"]
)
def test_a_wrong_expectation_fails(case: dict[str, Any]) -> None:
    wrong = _wrong(deepcopy(case))
    assert wrong
    for one in wrong:
        (outcome,) = run_cases([WrittenCase("x", 1, one)], ["local"])
        assert outcome.status == "failed", one["expect"]


def _bench(**expect: object) -> dict[str, Any]:
    given = {"subscriptions": [10, 20, 40], "xml_structures": 2, "events": 10}
    return {"kind": "bench", "language": "exml-ql", "given": given, "expect": expect}


def test_work_grows_as_the_subscriptions_do() -> None:
    engine = "local"
    expected, got = KINDS["bench"](_bench(time=[1, 2, 4], shape="monotone and linear"), engine)
    assert same(expected, got)
    for wrong in ([1, 1, 1], [1, 2, 40], [1, 2]):
        expected, got = KINDS["bench"](_bench(time=wrong), engine)
        assert not same(expected, got)
    with pytest.raises(CaseError, match="shape must say"):
        KINDS["bench"](_bench(shape="fast"), engine)
    with pytest.raises(Skip, match="no index"):
        KINDS["bench"](_bench(time=[1, 2, 4]), "reference")


def test_what_nobody_looks_at_is_refused() -> None:
    case = next(case for case in CASES if case["id"] == "exml-002")
    for wrong in (
        {**case, "expect": {"reslts": []}},
        {**case, "expect": {}},
        {**case, "trace": [{"time": 1, "xml": "<a/>"}]},
        {**case, "trace": [{"t": [3, 1], "xml": "<a/>"}]},
        {**case, "trace": [{"t": 1, "xml": "<a>"}]},
    ):
        with pytest.raises(CaseError):
            KINDS["subscription"](wrong, "local")


@pytest.mark.parametrize("engine", ["reference", "local"])
def test_a_trace_need_not_be_in_the_order_of_its_times(engine: str) -> None:
    case = next(case for case in CASES if case["id"] == "exml-003")
    swapped = {**case, "trace": [{**case["trace"][0], "t": 5}, case["trace"][1]]}
    expected, got = KINDS["subscription"](swapped, engine)
    assert same(expected, got)
