"""The ECL and KSU cases that a table of events can answer, on Spark; the others are questions about a text."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tocsin.cases import ecl, ksu
from tocsin.cases.model import Skip
from tocsin.cases.runner import same

HANDLERS = {"ecl": ecl.HANDLERS, "ksu": ksu.HANDLERS}
ASKED = {("ecl", "run"), ("ksu", "triggers"), ("ksu", "correlation"), ("ksu", "payload")}
CASES: list[tuple[str, dict[str, Any]]] = [
    (language, case)
    for language in HANDLERS
    for case in yaml.safe_load((Path(__file__).parent / f"{language}.yaml").read_text())
]
ON_SPARK = [(language, case) for language, case in CASES if (language, case["kind"]) in ASKED]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(("language", "case"), ON_SPARK, ids=[case["id"] for _, case in ON_SPARK])
def test_case(language: str, case: dict[str, Any], spark: object) -> None:
    expected, got = HANDLERS[language][case["kind"]](case, "spark")
    assert same(expected, got)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("language", HANDLERS)
def test_a_wrong_expectation_fails(language: str, spark: object) -> None:
    case = next(case for own, case in ON_SPARK if own == language)
    for key in case["expect"].keys() - {"aborted_at_end"}:
        wrong = deepcopy(case)
        wrong["expect"][key] = []
        expected, got = HANDLERS[language][case["kind"]](wrong, "spark")
        assert same(expected, got) is (case["expect"][key] == []), key


def test_spark_is_not_asked_about_texts() -> None:
    for language, case in CASES:
        if (language, case["kind"]) not in ASKED:
            with pytest.raises(Skip, match="not of a table"):
                HANDLERS[language][case["kind"]](case, "spark")
