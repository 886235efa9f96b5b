"""Strong order inside a window, in groups: what took an event at the very end of its window is not ended by it."""

from __future__ import annotations

import pytest

from tocsin.algebra.tokens import semantics
from tocsin.automata.execute import Session
from tocsin.automata.tokens.compile import compile
from tocsin.events import Event, Interval
from tocsin.languages.core import parse
from tocsin.runtime.kernels.registry import kernel_of
from tocsin.runtime.kernels.tokens.groups import memory
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.state import from_bytes, to_bytes

SECOND = 1_000_000
PATTERN = "([A], [B];[C])_{T1=5s}"


def events_of(text: str) -> list[Event]:
    """As in `A0 B5`: a type and the second."""
    return [
        Event(number, frozenset({word[0]}), Interval(int(word[1:]) * SECOND, int(word[1:]) * SECOND))
        for number, word in enumerate(text.split())
    ]


def found(pattern: str, events: list[Event], *, at_once: bool) -> list[list[object]]:
    """What groups find, in one batch or moment by moment with the state as bytes in between."""
    session = Session([parse(pattern)], points=True)
    assert kernel_of(session.compiled.plan.detectors[0]) == "groups"
    matches = []
    moments = [] if at_once else sorted({event.interval.end for event in events})
    for moment in moments:
        own = [event for event in events if event.interval.end == moment]
        matches += session.feed(own, moment)[0]
        assert session.state.detectors[0].kind == "groups"
        session.state = from_bytes(to_bytes(session.state))
    matches += session.feed(events if at_once else [], FOREVER)[0]
    return sorted(match.ids for match in matches)


@pytest.mark.slow  # kernels are compiled
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("A0 B4 C5", [[0, 1, 2]]),  # the timer comes after the events of its moment
        ("A0 B4 C6", []),
        ("A0 B5 C6", [[0, 1, 2]]),  # the timer does not lie strongly after B, so it is not heard
        ("A0 B5 C5 C6 C7", [[0, 1, 3]]),
        ("A0 B5 A9 C900", [[0, 1, 3]]),
        ("A0 A1 B5 C900", [[0, 2, 3]]),  # only of the first A is the window at its end
        ("A0 A0 A1 B5 B5 C900", [[0, 3, 5], [1, 3, 5]]),
        ("A0 B6 C7", []),
    ],
)
def test_only_a_window_that_ends_at_the_last_event_is_not_heard(
    trace: str, expected: list[list[int]], at_once: bool
) -> None:
    events = events_of(trace)
    assert found(PATTERN, events, at_once=at_once) == expected
    assert sorted(match.ids for match in semantics.detect(parse(PATTERN), events)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("matches", ["each", "any", "next", "adjacent"])
def test_what_escapes_goes_on_by_the_same_rules(matches: str) -> None:
    pattern = f"([A], [B];[B]*;[C])_{{T1=3s}} with matches = {matches}"
    events = events_of("A0 A1 B2 B3 A3 B4 B4 C6 B6 A7 B10 B11 C12 C30")
    expected = sorted(match.ids for match in semantics.detect(parse(pattern), events))
    assert expected
    for at_once in (True, False):
        assert found(pattern, events, at_once=at_once) == expected


@pytest.mark.slow
def test_the_memory_of_an_event_does_not_grow_with_the_window() -> None:
    """Nothing is at the end of its window here, so nothing has to be looked for."""
    sizes = []
    for window in (10, 100):
        session = Session([parse(f"([A], [B];[C])_{{T1={window}s}} with matches = any")], points=True)
        times = [second * SECOND + second for second in range(3000)]
        events = [Event(n, frozenset({"AB"[n % 2]}), Interval(time, time)) for n, time in enumerate(times)]
        session.feed(events, times[-1])
        (groups,) = session.state.detectors
        assert groups.kind == "groups"
        sizes.append(memory.size(groups.content) / window)
    assert sizes[1] <= 1.1 * sizes[0]


def test_leftmost_needs_to_know_what_an_escape_overlaps() -> None:
    asked = parse(f"{PATTERN} with matches = leftmost")
    (detector,) = compile([asked], points=True).plan.detectors
    assert kernel_of(detector) == "groups"  # until an event shows that starts can overtake each other
    session = Session([asked], points=True)
    events = events_of("A0 B5 A6 B7 C8")
    assert [match.ids for match in session.feed(events, FOREVER)[0]] == [[0, 1, 4]]
