"""Compiled correlations: acceptors, tables, states, guards, and the comparison of filters."""

from __future__ import annotations

import json

import pytest

from tocsin.algebra.correlation.expression import Interpretation
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.correlation import (
    compile_correlation,
    determinise,
    difference,
    feed,
    pack,
    run,
    start,
    unpack,
)
from tocsin.automata.correlation.acceptor import bits, compile_expression, is_complete, step
from tocsin.errors import InputError, LimitError
from tocsin.languages.ksu import parse, parse_filter


def marked(text: str, trace: str, dead: int = 0) -> int:
    machine = compile_expression(parse_filter(text)[0])
    marks = 0
    for event in trace:
        marks = step(machine, marks, dead, event)
    return marks


@pytest.mark.parametrize(
    ("text", "trace", "marks"),
    [
        ("a;b", "b", 0b00),
        ("a;b", "ab", 0b11),
        ("a;a", "a", 0b01),
        ("a;a", "aa", 0b11),
        ("(a|b);c", "ab", 0b011),
        ("(a+b);c", "ac", 0b001),
        ("a;(b;c)", "acbc", 0b111),
    ],
)
def test_places_take_events_when_their_turn_comes(text: str, trace: str, marks: int) -> None:
    assert marked(text, trace) == marks


def test_a_dead_place_takes_nothing_and_is_not_waited_for() -> None:
    machine = compile_expression(parse_filter("a;b")[0])
    assert marked("a;b", "ab", dead=0b01) == 0b10
    assert is_complete(machine, 0b10, 0b01)
    assert not is_complete(machine, 0b00, 0b11)


def test_bits() -> None:
    assert list(bits(0)) == []
    assert sum(bits(0b1011)) == 0b1011


def test_a_table_has_a_row_for_each_state() -> None:
    table = determinise(compile_expression(parse_filter("a+b|c")[0]))
    assert table.events == ("a", "b", "c")
    assert len(table.next) == 4
    assert table.accepts("xbxa")
    assert table.accepts("cxx")
    assert not table.accepts("")


def test_a_table_without_what_is_aborted() -> None:
    table = determinise(compile_expression(parse_filter("a+b")[0]), dead=0b10)
    assert (table.events, table.next) == (("a",), ((1,), (1,)))


def test_a_table_has_a_bound() -> None:
    wide = compile_expression(parse_filter("+".join(f"a{n}" for n in range(30)))[0])
    with pytest.raises(LimitError, match="more than 500 states"):
        determinise(wide, limit=500)
    # The acceptor itself still runs.
    assert step(wide, 0, 0, "a29") == 1 << 29


def test_the_difference_of_filters_is_the_shortest_trace() -> None:
    assert difference(parse_filter("a;b"), parse_filter("a+b")) == ("b", "a")
    assert difference(parse_filter("a+b|a+c"), parse_filter("a+(b|c)")) is None
    assert difference(parse_filter("a||b"), parse_filter("b||a")) is None
    # The windows differ: `|` starts again after either event, `||` does not.
    assert difference(parse_filter("a||b"), parse_filter("a|b")) == ("a", "b")
    wide = parse_filter("+".join(f"a{n}" for n in range(12)))
    with pytest.raises(LimitError):
        difference(wide, wide, limit=100)


MODES = """O correlation M (E a, E b, G g) m1:(a;b)||l1:g {
    abort (m1); case l1: toggle (m1); case m1: push a; push new X { at = b.x } }"""


def test_a_state_is_a_few_numbers_and_the_events_that_may_be_sent() -> None:
    program = compile_correlation(parse(MODES).correlations[0])
    state = start(program)
    for event in ("g", "a", "a"):
        state, _ = feed(program, state, Arrival(event, None, {"x": 1}))
    assert unpack(pack(state)) == state
    assert json.loads(pack(state)) == [
        1,
        3,
        0,
        [[1, 1, [1], [["a", "E", {"x": 1}, None]]], [2, 0, [0], [["a", "E", {"x": 1}, None]]]],
    ]


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(InputError, match="version 0"):
        unpack(b"[0, 0, 0, []]")


def test_only_events_that_some_statement_names_are_kept() -> None:
    program = compile_correlation(
        parse("E correlation C (E a, E b, E c) l:(a;b;c) { case l: push b }").correlations[0]
    )
    state, _ = feed(program, start(program), Arrival("a"))
    state, _ = feed(program, state, Arrival("b"))
    assert [arrival.event for arrival in state.branches[0].kept] == ["b"]


def test_what_one_event_brings() -> None:
    program = compile_correlation(parse(MODES).correlations[0], Interpretation(overwrite="earliest"))
    state = start(program)
    state, first = feed(program, state, Arrival("g"))
    assert (first.aborted, [trigger.labels for trigger in first.triggers]) == ((), [("l1",)])
    state, second = feed(program, state, Arrival("a"))
    assert second.triggers == ()
    _, third = feed(program, state, Arrival("b", None, {"x": 5}, time=9))
    assert [(o.type, dict(o.attributes), o.time) for o in third.outputs] == [
        ("E", {}, 9),
        ("X", {"at": 5}, 9),
    ]


def test_n_labels_do_the_work_of_2_to_the_n_modes() -> None:
    """Every set of sensors can be off; the compiled filter grows with n, not with 2 to the n."""
    for n in range(1, 7):
        data = " + ".join(f"m{i}:a{i}" for i in range(n))
        control = " || ".join(f"l{i}:c{i}" for i in range(n))
        cases = " ".join(f"case l{i}: toggle (m{i});" for i in range(n))
        ports = ", ".join(f"E a{i}, E c{i}" for i in range(n))
        program = compile_correlation(
            parse(f"N correlation S ({ports}) {data} || {control} {{ {cases} }}").correlations[0]
        )
        assert len(program.branches[0].machine.nodes) == 2 * n - 1
        for off in range(2**n - 1):
            alive = [i for i in range(n) if not off >> i & 1]
            trace = [f"c{i}" for i in range(n) if off >> i & 1] + [f"a{i}" for i in alive]
            last = run(program, map(Arrival, trace)).triggers[-1]
            assert (last.at, last.labels) == (len(trace), tuple(f"m{i}" for i in alive))
