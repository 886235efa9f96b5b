"""How far partial matches got: for every family, as data, text and HTML."""

from __future__ import annotations

import json

import pytest

from tocsin.algebra.tokens.semantics import detect
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.languages.registry import parse
from tocsin.why_not import WhyNot, account_of

SECOND = 1_000_000


def event(number: int, type: str, at: float, source: str | None = None, **attributes: object) -> Event:
    moment = round(at * SECOND)
    return Event(number, frozenset({type}), Interval(moment, moment), attributes, None, source)  # type: ignore[arg-type]


def shown(account: WhyNot) -> list[tuple[object, ...]]:
    return [
        (
            one.outcome,
            [taken.event.id for taken in one.taken],
            one.waits_for if one.outcome != "matched" else (),
            None if one.ended_by is None else one.ended_by.type,
        )
        for one in account.attempts
    ]


def test_a_partial_match_that_ended_and_one_that_waits() -> None:
    events = [event(1, "Open", 0), event(2, "Close", 60), event(3, "Open", 100)]
    account = account_of("([Open], [T1 in {T1, Close}])_{T1=5min}", events)
    assert shown(account) == [
        ("waiting", [3], ("T1",), None),
        ("ended", [1], ("T1",), "Close"),
    ]
    assert account.attempts[0].due == {"T1": 400 * SECOND}
    assert account.attempts[1].at == 60 * SECOND
    text = str(account)
    assert "3 events from 00:00:00 to 00:01:40; 0 matches, 1 partial match that ended, 1 waiting" in text
    assert "ended by    Close 00:01:00" in text
    assert "T1 runs out  00:06:40" in text


def test_a_moment_in_the_past() -> None:
    events = [event(1, "Open", 0), event(2, "Close", 60), event(3, "Open", 100)]
    pattern = "([Open], [T1 in {T1, Close}])_{T1=5min}"
    assert shown(account_of(pattern, events, at=30 * SECOND)) == [("waiting", [1], ("T1",), None)]
    later = account_of(pattern, events, at=500 * SECOND)
    assert ("matched", [3, None], (), None) in shown(later)


def test_events_that_nearly_fit_are_named() -> None:
    events = [event(1, "Door", 0), event(2, "Temp", 10, temp=20), event(3, "Tick", 20)]
    (attempt,) = account_of("[Door];[Temp(temp < 15)]", events).attempts
    assert [(one.event.id, one.why) for one in attempt.passed_over] == [(2, "its attributes do not fit")]
    assert attempt.waits_for == ("Temp(temp < 15)",)


def test_a_timer_that_ran_out_and_a_condition_that_does_not_hold() -> None:
    events = [event(1, "A", 0, n=1), event(2, "Tick", 20), event(3, "A", 30, n=2), event(4, "B", 31, n=1)]
    account = account_of("([A], [B])_{T1=10s}", events)
    assert ("ended", [1], ("B",), "T1") in shown(account)
    where = account_of("[A];[B] where A.n = B.n", events)
    ended = [one for one in where.attempts if one.outcome == "ended"]
    assert [[taken.event.id for taken in one.taken] for one in ended] == [[3, 4]]
    assert "the condition does not hold" in ended[0].reason


def test_a_limit_that_is_over() -> None:
    events = [event(1, "A", 0), event(2, "B", 3), event(3, "Tick", 20), event(4, "C", 21)]
    account = account_of("[A][B][C] within 10s", events)
    assert ("ended", [1, 2], ("C",), "within 10s") in shown(account)
    # What lies behind a limit is still waited for.
    assert ("matched", [1, 2, 4], (), None) in shown(account_of("([A][B]* within 10s)[C]", events))


def test_a_start_that_failed_for_good_is_said() -> None:
    account = account_of("[A in {A, C}];[B]", [event(1, "C", 0), event(2, "A", 1), event(3, "B", 2)])
    assert account.attempts == ()
    assert account.answer.waits_for == ()
    assert "no match can begin with A any more, since C 00:00:00" in account.answer.notes[0]


def test_named_composites_and_parallel_parts_are_followed() -> None:
    events = [event(1, "A", 0), event(2, "B", 1), event(3, "C", 2)]
    named = account_of("Both := ([A];[B]);\n[Both];[D]", events)
    assert {one.of for one in named.attempts} == {"Both", "pattern"}
    parallel = account_of("([A] || [D]);[E]", events)
    assert any(one.waits_for == ("a part of ||",) for one in parallel.attempts)


@pytest.mark.parametrize(
    "pattern", ["[A];[B]", "([A];[B]) || [C]", "[A];[B] with matches = leftmost", "[A] [B]* [C]"]
)
def test_what_is_watched_finds_the_same(pattern: str) -> None:
    events = [event(n, type, n) for n, type in enumerate("ABACBBCA")]
    subscription = parse(pattern)
    found = detect(subscription, events, until=7 * SECOND)
    account = account_of(pattern, events)
    matched = {
        tuple(t.event.id for t in one.taken) for one in account.having("matched") if one.of == "pattern"
    }
    assert {tuple(c.ids) for c in found if not any(isinstance(i, list) for i in c.ids)} <= matched | {()}


def test_an_expression_that_sends() -> None:
    text = "repeat {push(alarm) {do {sequential {low, lower}} unless {climb}}}"
    events = [event(n, type, n) for n, type in enumerate(["low", "climb", "low", "lower", "low"], 1)]
    account = account_of(text, events, "ecl")
    assert shown(account) == [
        ("matched", [3, 4], (), None),
        ("waiting", [5], ("lower",), None),
        ("ended", [1], ("lower",), "climb"),
    ]
    assert account.answer.waits_for == ("low",)


def test_a_correlation() -> None:
    text = "Best correlation Latest (Fix a, Pos b) l:(a;b) { case l: push new Best { }; }"
    events = [event(1, "Fix", 0), event(2, "Pos", 1), event(3, "Fix", 2)]
    account = account_of(text, events, "ksu")
    assert shown(account) == [("matched", [1, 2], (), None), ("waiting", [3], ("b",), None)]


def test_as_data_and_as_a_timeline() -> None:
    account = account_of("[A(x = '<b>')];[B]", [event(1, "A", 0, x="<b>"), event(2, "C", 5)], key={"room": 1})
    data = json.loads(json.dumps(account.to_dict()))
    assert data["attempts"][0]["taken"][0]["event"]["start"] == "1970-01-01T00:00:00"
    html = account._repr_html_()
    assert "<svg" in html
    assert "<b>" not in html
    assert "room=1: 2 events" in str(account)


def test_too_many_events_are_refused() -> None:
    with pytest.raises(InputError, match="too-many-events"):
        account_of("[A];[B]", [event(n, "A", n) for n in range(20_001)])
