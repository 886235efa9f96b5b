"""Every case of `tests/conformance` passes on every engine that can run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.cases.files import WrittenCase, read_cases
from tocsin.cases.runner import described, run_cases

FILES = sorted((Path(__file__).parent.parent / "conformance").glob("c*.yaml"))
CASES = [written for file in FILES for written in read_cases(file)]
# These come with the distribution of detectors.
LATER = ("distribution", "placement")
# What runs on every engine alike needs no Spark, and of the rest only these kinds are run there.
ON_SPARK = ("detect", "parameterized", "policy")


def _name(written: WrittenCase) -> str:
    return f"{Path(written.file).stem}: {written.case['id']}"


def _passes(written: WrittenCase, engine: str) -> None:
    (outcome,) = run_cases([written], [engine])
    assert outcome.status == "passed", described(outcome)


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("written", [c for c in CASES if c.case["kind"] not in LATER], ids=_name)
def test_a_case_passes(written: WrittenCase, engine: str) -> None:
    _passes(written, engine)


@pytest.mark.spark
@pytest.mark.slow
def test_every_case_passes_on_spark(spark: object) -> None:
    """One test for all, because only the session of the fixture makes them cheap enough."""
    outcomes = list(run_cases([c for c in CASES if c.case["kind"] in ON_SPARK], ["spark"]))
    failed = [described(outcome) for outcome in outcomes if outcome.status == "failed"]
    assert not failed, "\n\n".join(failed)
    assert {outcome.status for outcome in outcomes} == {"passed"}
    assert {"policy"} < {outcome.written.case["kind"] for outcome in outcomes}
    assert len(outcomes) > 100


def test_kinds_that_come_later_are_not_passed_over_in_silence() -> None:
    later = [c for c in CASES if c.case["kind"] in LATER]
    assert {o.status for o in run_cases(later, ["reference"])} == {"failed"}
    assert {o.status for o in run_cases(later, ["reference"], skip_unknown=True)} == {"skipped"}
