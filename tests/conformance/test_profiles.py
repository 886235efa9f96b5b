"""Every case of the event algebra and of the twenty profile languages, on the engines of this process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tocsin.cases.files import read_cases
from tocsin.cases.runner import described, run_cases

HERE = Path(__file__).parent
FILES = [HERE / "jung-hinze.yaml", *sorted((HERE / "profiles").glob("*.yaml"))]
CASES = [written for file in FILES for written in read_cases(file)]
LANGUAGES = 20
# What the kernel does not have (`compile.pairs` refuses it with a hint), and what is not asked of a trace.
SKIPPED = (
    "this is asked of the definitions",
    "is evaluated by the definitions only, not in tables and streams",
)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["reference", "local"])
def test_every_case_passes(engine: str) -> None:
    outcomes = run_cases(CASES, [engine])
    failed = [described(outcome) for outcome in outcomes if outcome.status == "failed"]
    assert not failed, "\n\n".join(failed)
    skipped = Counter(outcome.why for outcome in outcomes if outcome.status == "skipped")
    assert [why for why in skipped if engine == "reference" or not why.endswith(SKIPPED)] == []
    assert sum(skipped.values()) < len(CASES) / 4


def test_every_language_has_cases() -> None:
    assert len(FILES) == 1 + LANGUAGES
