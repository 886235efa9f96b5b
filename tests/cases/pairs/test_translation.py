"""The worked cases of the paper about translation, and that a wrong expectation fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from support.pairs_languages import ALGEBRA
from tocsin.cases.model import Skip
from tocsin.cases.pairs.translation import KINDS
from tocsin.cases.runner import same
from tocsin.errors import CaseError

Case = dict[str, Any]
CASES: list[Case] = [
    case | {"language": ALGEBRA}
    for case in yaml.safe_load((Path(__file__).parents[2] / "conformance" / "jung-hinze.yaml").read_text())
    if case["kind"] in KINDS
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_of_the_paper(case: Case) -> None:
    expected, got = KINDS[case["kind"]](case, "reference")
    assert same(expected, got), got


def test_no_kind_is_without_a_case() -> None:
    assert {case["kind"] for case in CASES} == set(KINDS)


WRONG = {
    "transform": {"target": "(Ey ; Ey)"},
    "param-transform": {"printed": "none, really"},
    "notification": {"type": "negative", "lost": "nothing"},
    "post-filter": {"delivered": [99]},
    "prolog": {"answer": "perhaps"},
    "samos": {"type": "negative"},
    "rule": {"order": ["SCE", "CE"], "concurrency": "none"},
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_wrong_expectation_fails(case: Case) -> None:
    wrong = {key: value for key, value in WRONG[case["kind"]].items() if key in case["expect"]}
    expected, got = KINDS[case["kind"]](case | {"expect": {**case["expect"], **wrong}}, "reference")
    assert wrong
    assert not same(expected, got)


def test_a_case_says_what_comes_out() -> None:
    case = next(case for case in CASES if case["kind"] == "transform")
    with pytest.raises(CaseError, match="expect is empty"):
        KINDS[case["kind"]](case | {"expect": {}}, "reference")
    with pytest.raises(CaseError, match="unknown key"):
        KINDS[case["kind"]](case | {"expect": {"tarjet": "x"}}, "reference")
    with pytest.raises(CaseError, match="is not a group"):
        KINDS[case["kind"]](case | {"given": {"group": "XE"}}, "reference")
    with pytest.raises(CaseError, match="no engine"):
        KINDS[case["kind"]](case, "somewhere")
    with pytest.raises(Skip):
        KINDS[case["kind"]](case, "spark")
