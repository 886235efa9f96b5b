"""No wrong expectation can pass: every expectation of the paper's cases is made wrong in every way we can think of."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from support.wrong_expectations import COMPARED, wrong
from tocsin.cases.files import WrittenCase, read_cases
from tocsin.cases.runner import run_cases

FILES = sorted((Path(__file__).parent.parent / "conformance").glob("c*.yaml"))
KNOWN = [c for f in FILES for c in read_cases(f) if c.case["kind"] not in ("distribution", "placement")]


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize(
    "written", KNOWN, ids=lambda written: f"{Path(written.file).stem}: {written.case['id']}"
)
def test_a_wrong_expectation_fails(written: WrittenCase, engine: str) -> None:
    case = copy.deepcopy(dict(written.case))
    for what, expect in wrong(case["expect"]):
        changed = WrittenCase(written.file, written.line, {**case, "expect": expect})
        (outcome,) = run_cases([changed], [engine])
        assert outcome.status == "failed", f"{what}: {expect}"
        if what.endswith(COMPARED):
            assert not outcome.why, f"{what}: refused rather than compared: {outcome.why}"


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("part", ["trace", "options", "given"])
@pytest.mark.parametrize(
    "written", KNOWN, ids=lambda written: f"{Path(written.file).stem}: {written.case['id']}"
)
def test_a_misspelt_key_fails(written: WrittenCase, part: str, engine: str) -> None:
    """Whatever it stands in: a key nobody looks at could be the one that matters."""
    case = copy.deepcopy(dict(written.case))
    inside = case.get(part) or {}
    changed = []
    if part == "trace":
        for number, event in enumerate(inside):
            if isinstance(event, dict):
                changed += [
                    [*inside[:number], {**event, "typ": "A"}, *inside[number + 1 :]],
                    [*inside[:number], {k: v for k, v in event.items() if k != "t"}, *inside[number + 1 :]],
                ]
    else:
        changed.append({**inside, "no_such_key": 1})
    for one in changed:
        (outcome,) = run_cases([WrittenCase("x", 1, {**case, part: one})], [engine])
        assert outcome.status == "failed", one
    (outcome,) = run_cases([WrittenCase("x", 1, {**case, "expct": {}})], [engine])
    assert outcome.status == "failed"
