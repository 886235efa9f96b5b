"""Cases that share a query of Spark: each gets its own answer, and a bad one spoils no other."""

from __future__ import annotations

from typing import Any

import pytest

from tocsin.cases.files import WrittenCase
from tocsin.cases.runner import Outcome, run_cases

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def _written(number: int, **case: Any) -> WrittenCase:
    return WrittenCase("cases.yaml", number, {"id": f"case {number}", "language": "core", **case})


def _sequence(number: int, trace: str, *matches: list[int], **more: Any) -> WrittenCase:
    """A case of `[A];[B]`: the events by their letters, one a second."""
    events = [{"types": letter, "t": second} for second, letter in enumerate(trace, 1)]
    expect = {"matches": [{"events": match} for match in matches]}
    return _written(number, kind="detect", expression="[A];[B]", trace=events, expect=expect, **more)


def _ran(cases: list[WrittenCase], engine: str) -> dict[int, Outcome]:
    outcomes = list(run_cases(cases, [engine]))
    assert len(outcomes) == len(cases)
    return {outcome.written.line: outcome for outcome in outcomes}


def test_each_case_gets_the_answer_to_its_own_events(spark: object) -> None:
    """All patterns are the same, so that only the events tell the cases apart."""
    ran = _ran(
        [
            _sequence(1, "AB", [1, 2]),
            _sequence(2, "AAB", [1, 3], [2, 3]),
            _sequence(3, "BA"),
            _sequence(4, ""),
            _sequence(5, "AB"),
            _sequence(6, "BA", [1, 2]),
            _sequence(7, "AAB", [1, 2]),
        ],
        "spark",
    )
    assert {number for number, outcome in ran.items() if outcome.status == "failed"} == {5, 6, 7}
    assert ran[5].got == [{"at": 2, "events": [1, 2], "t": [1, 2]}]
    assert ran[6].got == []


def _pushing(number: int, expression: str, outputs: list[Any], **more: Any) -> WrittenCase:
    case = {
        "kind": "run",
        "language": "ecl",
        "expression": expression,
        "trace": ["a"],
        "expect": {"outputs": outputs},
    }
    return _written(number, **(case | more))


IDL = "eventtype A { public short x; };"


def _sending(number: int, x: int, outputs: list[Any]) -> WrittenCase:
    return _written(
        number,
        kind="payload",
        language="ksu-cor",
        expression="A correlation P (A a) l:a { case l: push new A { x = a.x } }",
        idl=IDL,
        trace=[{"e": "a", "type": "A", "x": x}],
        expect={"outputs": outputs},
    )


def test_a_bad_case_spoils_no_other(spark: object) -> None:
    ran = _ran(
        [
            # Neither can be sent in one table with the other: found out when the patterns are compiled.
            _pushing(1, "push(Low {by = 1}) {a}", [[1, {"type": "Low", "by": 1}]]),
            _pushing(2, "push(Low {by = 'x'}) {a}", [[1, {"type": "Low", "by": "x"}]]),
            _pushing(3, "push(Low {by = 2}) {a}", [[1, {"type": "Low", "by": 3}]]),
            # No number of two bytes: found out when the event is sent.
            _sending(4, 5, [[1, {"type": "A", "x": 5}]]),
            _sending(5, 100_000, [[1, {"type": "A", "x": 100_000}]]),
            _sending(6, 6, [[1, {"type": "A", "x": 6}]]),
            # Not even asked.
            _written(7, kind="detect", expression="[A", trace=[], expect={"matches": []}),
            _sequence(8, "AB", [1, 2]),
        ],
        "spark",
    )
    assert {number for number, outcome in ran.items() if outcome.status == "failed"} == {3, 5, 7}
    assert "by" in str(ran[3].got)
    assert "100000" in ran[5].why


def test_a_query_that_fails_in_the_middle_of_a_stream_spoils_no_other_case(spark: object) -> None:
    good, bad = _sending(1, 5, [[1, {"type": "A", "x": 5}]]), _sending(2, 100_000, [])
    ran = _ran([good, bad], "stream")
    assert [ran[1].status, ran[2].status] == ["passed", "failed"]
    assert "100000" in ran[2].why


def test_what_does_not_fit_in_one_table_is_asked_apart(spark: object) -> None:
    """A column has one type, and a query one key and one set of declared types."""
    room = {"trace": [{"types": "A", "t": 1, "attrs": {"room": 1}}], "expect": {"matches": [{"events": [1]}]}}
    text = {
        "trace": [{"types": "A", "t": 1, "attrs": {"room": "x"}}],
        "expect": {"matches": [{"events": [1]}]},
    }
    both = [
        _written(1, kind="detect", expression="[A(room=1)]", **room),
        _written(2, kind="detect", expression="[A(room='x')]", **text),
        _written(3, kind="detect", expression="[A]", key="room", **room),
        _written(4, kind="detect", expression="[A]", types={"A": {"room": "int"}}, **room),
        _written(5, kind="detect", expression="[A in S]", sets={"S": ["A"]}, **room),
    ]
    assert {outcome.status for outcome in _ran(both, "spark").values()} == {"passed"}
