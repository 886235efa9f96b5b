"""The worked cases of paper 004 on the engines of this process, and wrong expectations of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tocsin.cases.files import WrittenCase, read_cases
from tocsin.cases.pairs import definitions, found_in_trace
from tocsin.cases.pairs.kinds import KINDS
from tocsin.cases.runner import described, run_cases

FILE = Path(__file__).parents[2] / "conformance" / "jung-hinze.yaml"
OWN = [
    written
    for written in read_cases(FILE)
    if written.case["kind"] in {**definitions.KINDS, **found_in_trace.KINDS}
]


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("written", OWN, ids=lambda written: written.case["id"])
def test_a_case_passes(written: WrittenCase, engine: str) -> None:
    (outcome,) = run_cases([written], [engine])
    assert outcome.status == "passed", described(outcome)


def test_every_kind_has_cases() -> None:
    kinds = {str(written.case["kind"]) for written in read_cases(FILE)}
    assert kinds == set(KINDS)


def _wrong(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case list() if value:
            return value[:-1]
        case _:
            return [["nothing"]]


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("written", OWN, ids=lambda written: written.case["id"])
def test_a_wrong_expectation_fails(written: WrittenCase, engine: str) -> None:
    for key, value in written.case["expect"].items():
        case = {**written.case, "expect": {key: _wrong(value)}}
        (outcome,) = run_cases([WrittenCase(written.file, written.line, case)], [engine])
        assert outcome.status == "failed", f"{key}: {_wrong(value)}"
        misspelt = {**written.case, "expect": {f"{key}s": value}}
        (outcome,) = run_cases([WrittenCase(written.file, written.line, misspelt)], [engine])
        assert outcome.status != "passed"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("algebra", {"params": {"zmim": 1}}),
        ("algebra", {"params": {"Pxy": "x>y"}}),
        ("algebra", {"trace": [["e1", "soon"]]}),
        ("consumption", {"params": {"selection": "first", "consumption": "eat"}}),
        (
            "consumption",
            {"params": {"selection": "first", "consumption": "keep", "unland_zimmer": "exclusive"}},
        ),
        ("traversal", {"params": {"traversal": "upwards"}}),
        ("timestamp", {"expression": "(a;b)"}),
    ],
)
def test_what_a_case_cannot_say_is_refused(kind: str, change: dict[str, Any]) -> None:
    written = next(one for one in OWN if one.case["kind"] == kind)
    (outcome,) = run_cases(
        [WrittenCase(written.file, written.line, {**written.case, **change})], ["reference"]
    )
    assert (outcome.status, outcome.why.partition(":")[0]) in [
        ("failed", "bad-case"),
        ("failed", "unknown-key"),
    ]
