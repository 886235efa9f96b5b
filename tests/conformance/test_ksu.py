"""Every KSU case on every engine; and that a wrong expectation, or one nobody looks at, fails."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.wrong_expectations import wrong_answer
from tocsin.cases.correlation.kinds import KINDS
from tocsin.cases.runner import same
from tocsin.errors import CaseError, TocsinError

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "ksu.yaml").read_text())


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any], engine: str) -> None:
    expected, got = KINDS[case["kind"]](case, engine)
    assert same(expected, got)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_wrong_expectation_fails(case: dict[str, Any]) -> None:
    for key in case["expect"]:
        wrong = deepcopy(case)
        wrong["expect"][key] = wrong_answer(key, case["expect"][key])
        expected, got = KINDS[case["kind"]](wrong, "local")
        assert not same(expected, got), key


@pytest.mark.parametrize(
    "wrong", ["push type Notify is not a subtype of TimeOut", "unknown-label", True, False]
)
def test_another_mistake_is_not_the_expected_one(wrong: object) -> None:
    (case,) = (case for case in CASES if case["id"] == "ksu-101")
    expected, got = KINDS["typecheck"]({**case, "expect": {"error": wrong}}, "local")
    assert same(expected, got) == (wrong is True)


def _case(kind: str, expression: str, expect: object, **more: object) -> dict[str, Any]:
    return {
        "kind": kind,
        "language": "ksu-cor",
        "expression": expression,
        "expect": expect,
        "trace": [],
        **more,
    }


def test_a_key_nobody_looks_at_fails() -> None:
    with pytest.raises(CaseError, match="matchs"):
        KINDS["match"](_case("match", "a", {"matchs": True}), "local")
    with pytest.raises(CaseError, match="lables"):
        KINDS["triggers"](_case("triggers", "a", {"triggers": [{"at": 1, "lables": []}]}), "local")


def test_an_empty_expectation_fails() -> None:
    with pytest.raises(CaseError, match="empty"):
        KINDS["match"](_case("match", "a", {}), "local")


def test_an_engine_nobody_knows_is_refused() -> None:
    with pytest.raises(CaseError, match="unknown-engine"):
        KINDS[CASES[0]["kind"]](CASES[0], "flink")


def test_an_error_nobody_expects_is_raised() -> None:
    with pytest.raises(TocsinError):
        KINDS["match"](_case("match", "a +", {"matches": True}), "reference")


# Cases of our own, by the number of the decision they follow, in the form of the file.


def _run(
    filter: str,
    cases: str,
    trace: str,
    triggers: list[list[object]],
    outputs: list[list[object]],
    **more: object,
) -> dict[str, Any]:
    events = sorted(set(trace.split()) | set("abcde"))
    text = f"N correlation Q ({', '.join(f'E {event}' for event in events)}) {filter} {{ {cases} }}"
    found = [{"at": at, "branch": branch, "labels": labels} for at, branch, labels in triggers]
    return _case("correlation", text, {"triggers": found, "outputs": outputs}, trace=trace.split(), **more)


OURS: dict[str, dict[str, Any]] = {
    "C.2.3 local: a label counts at its place only": _case(
        "triggers",
        "a;(b|l1:c)",
        {"triggers": [{"at": 3, "labels": []}]},
        trace=["c", "a", "b"],
        options={"activity": "local"},
    ),
    "C.2.3 local: what the trigger did not need took no part": _case(
        "triggers",
        "l1:(a+c)|b+l2:c",
        {"triggers": [{"at": 2, "labels": ["l1"]}]},
        trace=["c", "a"],
        options={"activity": "local"},
    ),
    "C.2.4 a control event inside the data window fires once": _run(
        "ma:a+mb:b || k:c",
        "case k: toggle (ma);",
        "a c b",
        [[2, 1, ["k"]], [3, 0, ["mb"]]],
        [],
    ),
    "C.2.5 branches that an abort completes trigger in rounds": _run(
        "k:c || l1:a+l2:b || m1:a+m2:d",
        "case k: abort (l2); case l1: abort (m2); push new X {}; case m1: push new Y {};",
        "a c",
        [[2, 0, ["k"]], [2, 1, ["l1"]], [2, 2, ["m1"]]],
        [[2, "X{}"], [2, "Y{}"]],
    ),
    "C.2.5 none triggers twice on one event": _run(
        "l1:a | l2:b || k:a",
        "case k: abort (l2); case l1: push new X {};",
        "a a",
        [[1, 0, ["l1"]], [1, 1, ["k"]], [2, 0, ["l1"]], [2, 1, ["k"]]],
        [[1, "X{}"], [2, "X{}"]],
    ),
    "C.2.6 a negated label of another branch is true": _run(
        "l1:a || k:c", "case !l1: push new X {};", "a c", [[1, 0, ["l1"]], [2, 1, ["k"]]], [[2, "X{}"]]
    ),
    "C.2.8 a label all of whose operands are aborted": _run(
        "m:(l1:a+l2:b) | n:d || k:c",
        "case k: abort (l1, l2); case m & n: push new X {};",
        "c d",
        [[1, 1, ["k"]], [2, 0, ["n"]]],
        [[2, "X{}"]],
    ),
    "C.2.9 the last stage is aborted when the first is complete": _run(
        "l1:a;l2:b || k:c",
        "case k: abort (l2); case l1: push new X {};",
        "a c",
        [[2, 1, ["k"]], [2, 0, ["l1"]]],
        [[2, "X{}"]],
    ),
    "C.2.9 what an alive part has consumed counts": _run(
        "l1:(a+l2:b);d || k:c",
        "case k: abort (l2); case l1: push new X {};",
        "a c d",
        [[2, 1, ["k"]], [3, 0, ["l1"]]],
        [[3, "X{}"]],
    ),
    "C.2.9 lazy: the branch waits for an event it can use": _run(
        "ma:a+mb:b || k:c",
        "case k: abort (ma); case mb: push new X {};",
        "b c d a b",
        [[2, 1, ["k"]], [5, 0, ["mb"]]],
        [[5, "X{}"]],
        options={"abort": "lazy"},
    ),
    "C.2.10 abort and revive in one body start a part afresh": _run(
        "m:(a;b) || k:c",
        "case k: abort (m); revive (m); case m: push new X {};",
        "a c b a b",
        [[2, 1, ["k"]], [5, 0, ["m"]]],
        [[5, "X{}"]],
    ),
    "C.2.10 reviving what is alive changes nothing": _run(
        "m:(a;b) || k:c",
        "case k: revive (m); case m: push new X {};",
        "a c b",
        [[2, 1, ["k"]], [3, 0, ["m"]]],
        [[3, "X{}"]],
    ),
    "C.2.11 a first stage revived while the next has begun stays skipped": _run(
        "l1:a;l2:(b+d) || k:c",
        "abort (l1); case k: revive (l1); case l2: push new X {};",
        "b c d",
        [[2, 1, ["k"]], [3, 0, ["l2"]]],
        [[3, "X{}"]],
    ),
    "C.2.11 a first stage revived before the next has begun is required": _run(
        "l1:a;l2:(b+d) || k:c",
        "abort (l1); case k: revive (l1); case l2: push new X {};",
        "c b d a b d",
        [[1, 1, ["k"]], [6, 0, ["l1", "l2"]]],
        [[6, "X{}"]],
    ),
    "C.2.11 what was skipped is required in the next window": _run(
        "l1:a;l2:(b+d) || k:c",
        "abort (l1); case k: revive (l1); case l2: push new X {};",
        "b c d b d a b d",
        [[2, 1, ["k"]], [3, 0, ["l2"]], [8, 0, ["l1", "l2"]]],
        [[3, "X{}"], [8, "X{}"]],
    ),
    "C.2.12 an empty part of a guard is dropped in turn": _case(
        "labelexpr",
        "!(l1 & l2) & l3",
        {"value": True},
        alphabet=["l1", "l2", "l3"],
        given={"active": ["l3"], "aborted": ["l1", "l2"]},
    ),
    "C.2.15 an event of an earlier window is not seen": _run(
        "l1:a | l2:b",
        "case l2: push a;",
        "a b",
        [[1, 0, ["l1"]], [2, 0, ["l2"]]],
        [],
    ),
    "C.2.20 an event of another type is a dead letter": _case(
        "payload",
        "A correlation P (A a) l:a { case l: push a }",
        {"outputs": [[2, "B{}"]], "dead": [1]},
        idl="eventtype A { }; eventtype B : A { }; eventtype C { };",
        trace=[{"e": "a", "type": "C"}, {"e": "a", "type": "B"}],
    ),
    "C.2.20 what is not assigned is null": _case(
        "payload",
        "A correlation P (A a) l:a { case l: push new A { x = 1 } }",
        {"outputs": [[1, {"type": "A", "x": 1, "y": None}]]},
        idl="eventtype A { public short x, y; };",
        trace=[{"e": "a", "type": "A", "x": 5, "y": 6}],
    ),
    "KSU-26 only what is complete is forwarded": _case(
        "triggers", "a+b", {"triggers": [{"at": 4, "window": [1, 4]}]}, trace=["a", "a", "a", "b", "a"]
    ),
    "typecheck: an event that is no parameter": _case(
        "typecheck", "N correlation C (E a) l:a { case l: push z }", {"error": "unknown event z"}
    ),
    "typecheck: a label named like a parameter": _case(
        "typecheck", "N correlation C (E a, E b) a:b { }", {"error": "label a is a parameter"}
    ),
    "typecheck: a warning": _case(
        "typecheck", "N correlation C (E a) a { }", {"error": False, "warning": "no-label"}
    ),
    "parse: || inside": _case("parse", "(a||b)+c", {"error": "|| only at top level"}, language="ksu-filter"),
}


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("case", OURS.values(), ids=OURS)
def test_our_case(case: dict[str, Any], engine: str) -> None:
    expected, got = KINDS[case["kind"]](case, engine)
    assert same(expected, got), (expected, got)
