"""Cases with arrivals, beyond those of the paper: patterns whose detectors read the composites of others."""

from __future__ import annotations

from typing import Any

import pytest

from tocsin.cases.files import WrittenCase
from tocsin.cases.runner import described, run_cases


def _arrival(source: str, type: str, *t: float) -> dict[str, Any]:
    return {"source": source, "type": type, "t": t[0] if len(t) == 1 else list(t)}


# At 2 ends X, which began at 1.5. Only then comes B, which completes a composite that began at 1: it is before X.
ARRIVALS = [
    _arrival("s1", "A", 1),
    _arrival("s1", "X", 1.5, 2),
    _arrival("s2", "B", 2),
    _arrival("s2", "heartbeat", 3),
    _arrival("s1", "heartbeat", 3),
]
NAMED = "C1 := ([A][B]); [C1][X]"
PARALLEL = "([A] || [B])[X]"


CASES = pytest.mark.parametrize(
    ("expression", "detection", "found"),
    [
        # Something else could still end at 2, so that X has to wait for it.
        (NAMED, "guaranteed", [{"detected_after_arrival": 5, "events": [[1, 3], 2]}]),
        (PARALLEL, "guaranteed", [{"detected_after_arrival": 5, "events": [[[1], [3]], 2]}]),
        # Best effort takes X at once and finds nothing.
        (NAMED, "best-effort", []),
        (PARALLEL, "best-effort", []),
    ],
)


@CASES
@pytest.mark.parametrize("engine", ["reference", "local"])
def test_whole_moments_are_waited_for_where_composites_are_read(
    expression: str, detection: str, found: list[object], engine: str
) -> None:
    _check(expression, detection, found, engine)


@pytest.mark.spark
@pytest.mark.slow
@CASES
def test_whole_moments_are_waited_for_on_spark(
    expression: str, detection: str, found: list[object], spark: object
) -> None:
    _check(expression, detection, found, "spark")


def _check(expression: str, detection: str, found: list[object], engine: str) -> None:
    case = {
        "id": "x",
        "kind": "policy",
        "language": "core",
        "expression": expression,
        "given": {"detection": detection, "sources": ["s1", "s2"]},
        "trace": ARRIVALS,
        "expect": {"matches": found},
    }
    (outcome,) = run_cases([WrittenCase("cases.yaml", 1, case)], [engine])
    assert outcome.status == "passed", described(outcome)
