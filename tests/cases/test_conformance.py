"""Every case of the Cambridge languages passes on every engine of this process; Spark's are in `tests/conformance`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.cases.files import WrittenCase, read_cases
from tocsin.cases.runner import described, run_cases

FILES = sorted((Path(__file__).parent.parent / "conformance").glob("c*.yaml"))
CASES = [written for file in FILES for written in read_cases(file)]
# These come with the distribution of detectors.
LATER = ("distribution", "placement")


def _name(written: WrittenCase) -> str:
    return f"{Path(written.file).stem}: {written.case['id']}"


def _passes(written: WrittenCase, engine: str) -> None:
    (outcome,) = run_cases([written], [engine])
    assert outcome.status == "passed", described(outcome)


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("written", [c for c in CASES if c.case["kind"] not in LATER], ids=_name)
def test_a_case_passes(written: WrittenCase, engine: str) -> None:
    _passes(written, engine)


def test_kinds_that_come_later_are_not_passed_over_in_silence() -> None:
    later = [c for c in CASES if c.case["kind"] in LATER]
    assert {o.status for o in run_cases(later, ["reference"])} == {"failed"}
    assert {o.status for o in run_cases(later, ["reference"], skip_unknown=True)} == {"skipped"}
