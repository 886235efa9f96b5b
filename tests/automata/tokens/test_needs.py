"""What a pattern needs: how long partial matches wait is worked out by hand for each pattern."""

from __future__ import annotations

import pytest

from tocsin.algebra.tokens import semantics
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.needs import Needs, dead_ends, needs
from tocsin.events import Event, Interval
from tocsin.languages.registry import parse


def _needs(text: str) -> Needs:
    subscription = parse(text)
    compiled = compile([subscription])
    return needs(subscription, compiled.graph, compiled.automata)


def _waits(text: str) -> list[str]:
    """Each waiting state with what ends the wait: its timers, `!` if they can be missed, `-` for nothing."""
    found = []
    for wait in _needs(text).waits:
        timers = "+".join(timer.name for timer in wait.timers) + ("!" if wait.can_miss else "")
        found.append(f"{wait.detector}.{wait.state} {timers or '-'}")
    return found


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("[A]", []),
        ("[A];[B]", ["0.1 -"]),
        ("([A],[B])_{T1=5s}", ["0.1 T1"]),
        ("([A],[T1 in {T1,B}])_{T1=5s}", ["0.1 T1"]),
        ("([A],[B][C])_{T1=5s}", ["0.1 T1", "0.2 T1"]),
        # A timer that was waited for has run out, so what comes after it waits for ever.
        ("([A],[T1][B])_{T1=5s}", ["0.1 T1", "0.2 -"]),
        ("([A],[B,T1][C])_{T1=5s}", ["0.1 T1", "0.2 -"]),
        # If B comes at the very moment T1 runs out, T1 does not strongly follow it, and is ignored (C.3.9).
        ("([A],[B];[C])_{T1=5s}", ["0.1 T1", "0.2 T1!"]),
        # What follows the timed part is outside it.
        ("([A],[B])_{T1=5s}[C]", ["0.1 T1", "0.2 -"]),
        ("(([A],[B])_{T2=1s},[C])_{T1=5s}", ["0.1 T2", "0.2 T1"]),
        ("([A],([B],[C])_{T2=1s})_{T1=5s}", ["0.1 T1", "0.2 T1+T2"]),
        # Two ways lead to the same place, only one of them with a timer.
        ("(([A],[B])_{T1=5s}|[D])[C]", ["0.2 T1", "0.3 -"]),
        ("([A][A]*,[T1])_{T1=5s}", ["0.1 T1"]),
        ("([A],[B])_{T1@2004-01-31T19:00:00}", ["0.1 -"]),
        ("([A],[B])_{T1=5s} || [C]", ["0.1 T1", "2.2 -", "2.3 -"]),
    ],
)
def test_how_long_a_partial_match_waits(text: str, waits: list[str]) -> None:
    assert _waits(text) == waits


def test_the_moment_in_which_a_timer_is_missed_is_real() -> None:
    """A, then B exactly at the deadline: the meaning itself lets the match wait on, and C complete it late."""
    events = [
        Event(n, frozenset({t}), Interval(at, at))
        for n, (t, at) in enumerate([("A", 0), ("B", 5), ("C", 99)])
    ]
    found = semantics.detect(parse("([A],[B];[C])_{T1=5s}"), [_seconds(event) for event in events])
    assert [composite.ids for composite in found] == [[0, 1, 2]]


def _seconds(event: Event) -> Event:
    at = event.interval.end * 1_000_000
    return Event(event.id, event.types, Interval(at, at))


def test_events_attributes_variables_and_timers() -> None:
    found = _needs("C := ([A(k=$x AND s='t')]); ([C(x=1)],[!B(b=true) in {B,D}])_{T1=5min} where D.y > 1")
    assert found.types == {"A": {"k": "any", "s": "string"}, "B": {"b": "bool"}, "D": {"y": "number"}}
    assert found.variables == ("x",)
    assert [timer.name for timer in found.timers] == ["T1"]


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("[A]", 1),
        ("[A];[B][C]", 3),
        ("[A]|[B][C]", 2),
        ("[A][B]*", None),
        ("([A],[B])_{T1=1s}", 2),
        ("[A]||[B];[C]", 2),
    ],
)
def test_how_many_events_a_match_has(text: str, longest: int | None) -> None:
    assert _needs(text).longest == longest


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[A];[B in {B,X}]", []),
        ("[A in {A,X}];[B]", ["X"]),
        ("[!A in {A,X}]", ["A"]),
        ("[!A in {B,X}]", ["A"]),
        ("[A in {A,X}]|[B in {B,Y}]", ["X", "Y"]),
        ("[A]*[B in {B,X}]", ["X"]),
    ],
)
def test_what_ends_a_detection_for_good(text: str, names: list[str]) -> None:
    subscription = parse(text)
    found = dead_ends(subscription, compile([subscription]).automata)
    assert [finding.message.split()[0] for finding in found] == names
    if text == "[!A in {B,X}]":
        assert found[0].message.startswith("A that is also B or X in place of the first event")
    always = parse(text, options=type(subscription.interpretation)(restart="always"))
    assert dead_ends(always, compile([always]).automata) == []
