"""The event tree: what it remembers, what it forgets, and what it costs."""

from __future__ import annotations

import pytest

from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.automata.blocks import event_tree
from tocsin.automata.blocks.online import Subscriptions
from tocsin.errors import InputError, LimitError
from tocsin.events import Interval
from tocsin.languages import registry
from tocsin.runtime.xml_tree import Element

TEXT = 'WHERE BLOCK $A: <a></> IN "S", BLOCK $B: <b></> IN "S", EVENT {} CONSTRUCT <r></>'


def _running(event: str) -> Subscriptions:
    running = Subscriptions()
    running.add("q", registry.parse(TEXT.format(event), "exml-ql"))
    return running


def _feed(running: Subscriptions, number: int, name: str, second: int | None = None) -> int:
    time = (number if second is None else second) * 1_000_000
    event = XmlEvent(number, "S", Interval(time, time), (Element(name, (), (), 0),))
    return len(running.feed(event))


@pytest.mark.parametrize(
    ("event", "stored"),
    [
        ("$A BEFORE $B", 1),
        ("$A BEFORE $B CONTEXT RECENT_PER_KEY", 1),
        ("$A BEFORE $B CONTEXT CHRONICLE", 50),
        ("$A BEFORE $B WITHIN 5s CONTEXT CHRONICLE", 6),
        ("$A BEFORE $B WITHIN 5s CONTEXT CONTINUOUS", 6),
        ("$A CONCURRENT $B WITHIN 5s CONTEXT CUMULATIVE", 6),
        ("$A OR $B CONTEXT CHRONICLE", 0),
    ],
)
def test_what_within_puts_out_of_reach_is_forgotten(event: str, stored: int) -> None:
    running = _running(event)
    for number in range(50):
        _feed(running, number, "a")
    assert running.stored == stored


def test_what_is_used_is_forgotten() -> None:
    running = _running("$A BEFORE $B CONTEXT CUMULATIVE")
    for number in range(5):
        _feed(running, number, "a")
    assert _feed(running, 5, "b") == 1
    assert running.stored == 0


def test_state_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_tree, "MAX_STORED", 10)
    running = _running("$A BEFORE $B CONTEXT CHRONICLE")
    for number in range(10):
        _feed(running, number, "a")
    with pytest.raises(LimitError, match=r"too-much-state[\s\S]*say WITHIN"):
        _feed(running, 10, "a")


def test_events_come_in_the_order_of_their_ends() -> None:
    running = _running("$A BEFORE $B")
    _feed(running, 1, "a", 5)
    _feed(running, 2, "b", 5)
    with pytest.raises(InputError, match="out-of-order: the event 3 ends before"):
        _feed(running, 3, "b", 4)


def test_each_event_visits_each_node_at_most_once() -> None:
    """k·N·z: with N events and k nodes of the tree there are at most k·N visits."""
    running = _running("($A BEFORE $B) BEFORE $A AND NOT $A BETWEEN $B AND $B")
    nodes = 10  # four operators, and six mentions of blocks
    events = 100
    for number in range(events):
        _feed(running, number, "ab"[number % 2])
    assert 0 < running.visits <= nodes * events
