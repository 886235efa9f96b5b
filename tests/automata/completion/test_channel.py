"""The event channel: consumers register, are replaced, and do not notice each other."""

from __future__ import annotations

import pytest

from tocsin.algebra.completion.machine import Machine
from tocsin.automata.completion import construct
from tocsin.automata.completion.channel import Channel
from tocsin.errors import InputError, PatternError
from tocsin.languages.ecl import parse, parse_machine


def machine(text: str) -> Machine:
    return construct(parse(text).expression)


def test_consumers_get_what_they_asked_for() -> None:
    channel = Channel(
        {"S": machine("repeat {push(x) {sequential {a, b}}}"), "T": machine("repeat {push(y) {b}}")}
    )
    delivered = [channel.push({"type": letter}) for letter in "abb"]
    assert delivered == [[], [("S", "x"), ("T", "y")], [("T", "y")]]


def test_a_machine_is_replaced_while_the_channel_runs() -> None:
    channel = Channel(
        {"S": machine("push(x) {sequential {a, b}}"), "T": machine("push(x) {sequential {a, b}}")}
    )
    channel.push({"type": "a"})
    channel.replace("S", machine("push(z) {b}"))
    channel.register("U", machine("push(u) {a}"))
    assert channel.consumers == ("S", "T", "U")
    # T has kept its progress, S has started anew.
    assert sorted(channel.push({"type": "b"})) == [("S", "z"), ("T", "x")]
    channel.remove("U")
    assert channel.push({"type": "a"}) == []
    assert channel.consumers == ("S", "T")


def test_a_machine_that_is_refused_replaces_nothing() -> None:
    channel = Channel({"S": machine("repeat {push(x) {a}}")})
    endless = parse_machine("machine M { states q; initial q; trans t: {q} eps goto {q}; }")
    with pytest.raises(PatternError, match="for ever"):
        channel.replace("S", endless)
    assert channel.push({"type": "a"}) == [("S", "x")]


def test_suppliers_can_ask_first() -> None:
    channel = Channel({"S": machine("repeat {push(x) {<alt < 500>}}")})
    assert channel.wants({"alt": 3})
    assert not channel.wants({"alt": 700})
    assert not Channel().wants({"alt": 3})


def test_unknown_and_duplicate_consumers() -> None:
    channel = Channel({"Cockpit": machine("a")})
    with pytest.raises(InputError, match="did you mean 'Cockpit'"):
        channel.remove("Cokpit")
    with pytest.raises(InputError, match="already"):
        channel.register("Cockpit", machine("b"))
