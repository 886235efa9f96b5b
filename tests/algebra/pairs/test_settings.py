"""The surveyed systems are settings of the algebra: their worked cases, with the expression that a language will give.

The notation of each system is not read here; the expression of a case is written down beside its id.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.pairs_strategies import ids
from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.online.evaluate import evaluate
from tocsin.algebra.pairs.operators import (
    at,
    conjunction,
    disjunction,
    every,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.algebra.pairs.parameters import FIRST, LAST, Consumption, Gather, Mode
from tocsin.algebra.pairs.semantics import instances
from tocsin.events import Event, Interval

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in yaml.safe_load((Path(__file__).parents[2] / "conformance" / "jung-hinze.yaml").read_text())
}
INF = float("inf")
CHRONICLE = {"duplicates": "first", "consumption": "delete_reapply"}
AFRESH = {"duplicates": "first", "consumption": "delete"}
GATHERED = (
    Mode(LAST, Consumption.DELETE),
    Mode(Gather.RESTRICTED, Consumption.DELETE),
    Mode(FIRST, Consumption.DELETE),
)

SETTINGS: dict[str, Expression] = {
    # Snoop: recent, continuous and cumulative contexts, chronicle, aperiodic and periodic events
    "jh-054": sequence("e1", "e2", duplicates="last", consumption="keep"),
    "jh-056": sequence("e1", "e2", duplicates="all", consumption="delete"),
    "jh-057": sequence("e1", "e2", duplicates="cumulative", consumption="delete"),
    "jh-059": conjunction("e1", "e2", **CHRONICLE),
    "jh-062": sequence("E1", "E2", duplicates="last", consumption="keep", without="E3"),
    "jh-063": sequence("E1", "E2", "E3", modes=GATHERED),
    "jh-065": sequence("E1", every(5, "E1", "E3"), "E3", modes=GATHERED),
    "jh-066": disjunction("E1", "E2"),
    # GEM: an absence between two events, the default window of 12 minutes, delete with first
    "jh-068": sequence("e1", "e2", within=720, without="e3", **AFRESH),
    "jh-069": sequence("e1", "e2", within=720, **AFRESH),
    "jh-071": sequence("e1", "e2", within=720, **AFRESH),
    "jh-072": conjunction("e1", "e2", within=720, **AFRESH),
    # Cobea: keep with all, without
    "jh-074": sequence("C1", "C2", duplicates="all", consumption="keep"),
    "jh-075": conjunction("C1", negation("C2", INF)),
    "jh-077": disjunction("C1", "C2"),
    # Samos: closure, negation in an interval, chronicle
    "jh-078": selection("E", 1),
    "jh-081": simultaneity(negation("E", 10), at(10)),
    "jh-083": sequence("E1", "E2", **CHRONICLE),
    # YEAST: `and` is simultaneity, `repeat`
    "jh-084": simultaneity("A", "B"),
    "jh-086": selection(sequence("A", "B", **AFRESH), 1),
    "jh-087": sequence("A", "B", **AFRESH),
    # Active House, PLAN, READY, CQ
    "jh-089": selection("A", 1),
    "jh-090": conjunction("A", negation("B", INF)),
    "jh-092": selection(conjunction("admission", negation("discharge", INF)), 1),
    "jh-099": conjunction("Ev1", "Ev2"),
    "jh-101": sequence("E1", "E2"),
    # Eve: 2g-precedence, negation between two events, repetition
    "jh-104": simultaneity("ET1", "ET2", tolerance=1),
    "jh-105": simultaneity("ET1", "ET2", tolerance=1),
    "jh-107": sequence("ET2", "ET3", without="ET1"),
    "jh-108": selection("ET1", 3),
    # Rebeca: the oldest or the newest instance, which is used up
    "jh-257": sequence("e1", "e2", **CHRONICLE),
    "jh-258": sequence("e1", "e2", duplicates="last", consumption="delete_reapply"),
}


def _observation(case: dict[str, Any]) -> Observation:
    seen: Counter[str] = Counter()
    events = []
    for name, time in case["trace"]:
        seen[name] += 1
        events.append(Event(f"{name}.{seen[name]}", frozenset({name}), Interval(time, time)))
    end = max(15, *(time for _, time in case["trace"]))
    return Observation.of(events, ticks=[10], end=end)


@pytest.mark.parametrize("id", SETTINGS)
def test_a_case_of_a_surveyed_system(id: str) -> None:
    case, expression = CASES[id], SETTINGS[id]
    assert check(expression) == []
    observation = _observation(case)
    found = instances(expression, observation)
    assert evaluate(expression, observation) == found
    if "matches" in case["expect"]:
        assert sorted(map(repr, ids(found))) == sorted(map(repr, case["expect"]["matches"]))
    else:
        assert [instance.time for instance in found] == case["expect"]["at"]
    if "cumulated" in case["expect"]:
        gathered = [[part.time for part in match.parts[1:-1]] for match in found]
        assert gathered == case["expect"]["cumulated"]
