"""Every case that a table or a stream of events can answer, on Spark; each engine runs them all at once.

A stream comes out of order and in pieces, and its query is started anew in the middle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.wrong_expectations import COMPARED, wrong, wrong_answer
from tocsin.cases.files import WrittenCase, read_cases
from tocsin.cases.model import ON_SPARK, Asked
from tocsin.cases.runner import Outcome, answered, described, prepared

CASES = [written for file in sorted(Path(__file__).parent.glob("*.yaml")) for written in read_cases(file)]
# What is asked of a text, which no table and no stream of events can answer.
ABOUT_TEXTS = {
    "ecl": {"module", "determinize", "machine", "quench", "analysis", "expansion", "parse"},
    "ksu": {"match", "equivalence", "labelexpr", "typecheck", "parse", "decompose"},
}


class Ran(NamedTuple):
    """What became of the cases on an engine, and the answers of those that were asked of Spark."""

    engine: str
    outcomes: list[Outcome]
    answers: list[tuple[WrittenCase, Any]]


@pytest.fixture(scope="module", params=ON_SPARK)
def ran(request: pytest.FixtureRequest, spark: object) -> Ran:
    from tocsin.cases.queries import answers

    steps = [(written, prepared(written, request.param, skip_unknown=True)) for written in CASES]
    asked = [(written, step) for written, step in steps if isinstance(step, Asked)]
    outcomes = [step for _, step in steps if isinstance(step, Outcome)]
    found = []
    for number, answer in answers([step.request for _, step in asked], request.param):
        written, step = asked[number]
        outcomes.append(answered(written, request.param, step, answer))
        found.append((written, answer))
    return Ran(request.param, outcomes, found)


@pytest.mark.spark
@pytest.mark.slow
def test_every_case_passes(ran: Ran) -> None:
    failed = [described(outcome) for outcome in ran.outcomes if outcome.status == "failed"]
    assert not failed, "\n\n".join(failed)
    assert len(ran.answers) > 250
    assert len(ran.outcomes) == len(CASES)


@pytest.mark.spark
@pytest.mark.slow
def test_only_what_makes_no_sense_is_skipped(ran: Ran) -> None:
    reasons = Counter(outcome.why for outcome in ran.outcomes if outcome.status == "skipped")
    known = (
        *("not of a table of events", "is asked of a log of arrivals", "is not known", "only at the end"),
        "Spark does not run this family yet",  # that of XML events
        # What profiles ask beside matches, and operators that the kernel does not have.
        *("asked of the definitions", "evaluated by the definitions only, not in tables and streams"),
    )
    assert [why for why in reasons if not why.endswith(known)] == []
    at_the_end = sum(count for why, count in reasons.items() if why.endswith("only at the end"))
    assert at_the_end == (3 if ran.engine == "stream" else 0)


@pytest.mark.spark
@pytest.mark.slow
def test_a_wrong_expectation_fails(ran: Ran) -> None:
    """The answers are there already, so that each case can be wrong in every way."""
    count = 0
    for written, answer in ran.answers:
        for what, expect in _made_wrong(written):
            changed = replace(written, case={**written.case, "expect": expect})
            step = prepared(changed, ran.engine)
            outcome = answered(changed, ran.engine, step, answer) if isinstance(step, Asked) else step
            assert outcome.status == "failed", f"{written.case['id']}, {what}: {expect}"
            if what.endswith(COMPARED):
                assert not outcome.why, f"{what}: refused rather than compared: {outcome.why}"
            count += 1
    assert count > 2_000


def _made_wrong(written: WrittenCase) -> Iterator[tuple[str, dict[str, Any]]]:
    expect = dict(written.case["expect"])
    if written.case["kind"] in ("detect", "parameterized"):
        yield from wrong(expect)
        return
    expect.pop("aborted_at_end", None)  # which Spark does not tell
    for key, value in expect.items():
        yield key, {**expect, key: wrong_answer(key, value)}


def test_spark_is_not_asked_about_texts() -> None:
    for written in CASES:
        family = str(written.case["language"]).partition("-")[0]
        if written.case["kind"] in ABOUT_TEXTS.get(family, ()):
            step = prepared(written, "stream")
            assert isinstance(step, Outcome)
            assert step.why.endswith("not of a table of events")
