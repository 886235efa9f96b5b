"""Profiles on the kernel, in this process: when time decides, what is kept, and what is too much."""

from __future__ import annotations

import pytest

from support.pairs_strategies import observe
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.operators import after, at, conjunction, every, negation, selection, sequence
from tocsin.algebra.pairs.parameters import Delimiter, Gather, Mode
from tocsin.automata.pairs.compile import Wanted
from tocsin.automata.pairs.in_process import Match, Session, detect
from tocsin.errors import LimitError
from tocsin.events import Event
from tocsin.runtime.moments import FOREVER


def events(text: str) -> list[Event]:
    return list(observe(text).events)


def session(expression: Expression) -> Session:
    return Session(Wanted("p", expression))


def shown(matches: list[Match]) -> list[tuple[int, list[object]]]:
    return [(m.time, [part.name if part.id is None else part.id for part in m.parts]) for m in matches]


def test_a_negation_is_decided_at_the_event_plus_the_timeframe_without_a_further_event() -> None:
    running = session(sequence("a", negation("b", 5), within=5))
    assert running.feed(events("a@10"), 14) == []
    assert shown(running.feed([], 15)) == [(15, ["a.1", "tick"])]
    assert running.feed(events("a@20 b@25"), 25) == []
    assert running.feed([], 1_000) == []


def test_a_silence_is_noticed_just_after_the_timeframe_of_the_last_event() -> None:
    found = detect(Wanted("p", negation("signal", 30)), events("signal@0 signal@20 signal@90"))
    assert shown(found) == [(51, ["tick"]), (121, ["tick"])]


def test_an_action_reacts_once_while_a_negation_stays_true() -> None:
    ticks = [Event(f"t{t}", frozenset({"tick"}), e.interval) for t, e in enumerate(events("x@4 x@5 x@6 x@7"))]
    trace = [*events("a@1"), *ticks]
    every_tick = detect(Wanted("p", negation("a", 3), "tick"), trace)
    assert [match.time for match in every_tick] == [5, 6, 7]
    assert [match.time for match in detect(Wanted("p", negation("a", 3), "tick", True), trace)] == [5]


def test_time_events_come_when_time_passes() -> None:
    running = session(after("a", 4))
    assert running.feed(events("a@1"), 4) == []
    assert shown(running.feed([], 5)) == [(5, ["a.1", "after"])]
    running = session(every(5, "a", "b"))
    assert [match.time for match in running.feed(events("a@0"), 12)] == [5, 10]
    assert [match.time for match in running.feed(events("b@16"), 40)] == [15]
    assert running.kept == 0
    found = shown(detect(Wanted("p", conjunction("a", at(3))), events("a@1 a@9")))
    assert found == [(3, ["a.1", "at"]), (9, ["a.2", "at"])]


def test_what_is_last_is_known_when_everything_is_over() -> None:
    running = session(selection("a", "last"))
    assert running.feed(events("a@1 a@2"), 100) == []
    assert shown(running.feed([], FOREVER)) == [(2, ["a.2"])]


def test_a_timeframe_bounds_what_is_kept_and_time_alone_forgets_it() -> None:
    running = session(sequence("a", "b", within=10, consumption="keep"))
    most = 0
    for time in range(0, 2_000, 2):
        running.feed(events(f"a@{time}"), time)
        most = max(most, running.kept)
    assert most == 5
    running.feed([], 2_100)
    assert running.kept == 0


def test_without_a_timeframe_a_limit_holds() -> None:
    running = Session(Wanted("p", sequence("a", "b", consumption="keep")), limit=1_000)
    with pytest.raises(LimitError, match="too-many-partial-matches"):
        running.feed(events(" ".join(f"a@{time}" for time in range(20_000))), 30_000)


def test_combinations_that_are_too_many_are_refused() -> None:
    modes = (Mode(Gather.COMBINATIONS, delimiter=Delimiter(1, None)), Mode())
    wide = sequence("a", "b", modes=modes)
    running = Session(Wanted("p", wide), limit=1_000)
    trace = " ".join(f"a@{time}" for time in range(30)) + " b@40"
    with pytest.raises(LimitError, match="too-many-partial-matches"):
        running.feed(events(trace), 50)


def test_many_matches_of_one_event_make_the_arrays_larger() -> None:
    trace = " ".join(f"a@{time}" for time in range(3_000)) + " b@4000"
    found = detect(Wanted("p", sequence("a", "b", consumption="keep")), events(trace))
    assert len(found) == 3_000


def test_an_event_that_comes_late_is_used_with_its_own_time() -> None:
    running = Session(Wanted("p", sequence("a", "b", within=10, consumption="keep")), in_order=False)
    assert running.feed(events("a@10"), 10) == []
    assert shown(running.feed(events("a@4"), 10)) == []
    assert shown(running.feed(events("b@12"), 12)) == [(12, ["a.1", "b.1"]), (12, ["a.1", "b.1"])]
