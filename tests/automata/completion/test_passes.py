"""The passes on machines and tables, one by one; that they keep the behaviour is tested by properties."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.automata.completion import alphabet_of, compile_machine, construct, enumerated, simplify, simulate
from tocsin.automata.completion import compile as compiled
from tocsin.automata.completion.passes.compose import compose
from tocsin.automata.completion.passes.decompose import decompose
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.passes.quench import quench, quench_always, quench_table
from tocsin.automata.completion.passes.remove_steps import remove_steps
from tocsin.automata.completion.passes.remove_unreachable import remove_unreachable
from tocsin.automata.completion.passes.share import share
from tocsin.automata.completion.table import walk
from tocsin.errors import InputError, LimitError
from tocsin.languages.ecl import parse, parse_machine, show_filter


def machine(text: str) -> Machine:
    return construct(parse(text).expression)


def letters(trace: str) -> list[Fields]:
    return [{"type": letter} for letter in trace]


def size(of: Machine) -> tuple[int, int]:
    return len(of.states), len(of.transitions)


def test_what_cannot_be_reached_is_removed() -> None:
    small = remove_unreachable(machine("do {a} unless {b}"))
    # The failures of the two predicates, which never fail.
    assert size(small) == (6, 4)
    assert remove_unreachable(machine("parallel {a}")).success is None


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("push(x) {a}", 2, 1),
        ("sequential {a, b, c}", 6, 3),
        ("repeat {push(x) {fail {fail {a}}}}", 5, 1),
        ("persist(3) {do {a} unless {b}}", 18, 12),
        ("in (m) do {a} in (n) do {b}", 6, 4),
        ("accumulate {a, b}", 3, 3),
    ],
)
def test_redundant_internal_steps_are_removed(text: str, before: int, after: int) -> None:
    small = remove_unreachable(machine(text))
    assert len(small.transitions) == before
    assert len(remove_steps(small).transitions) == after


def test_example_3_as_an_expression_gets_as_small_as_the_papers_machine() -> None:
    assert size(simplify(machine("repeat {push(x) {do {accumulate {a, b}} unless {c}}}"))) == (6, 5)


def test_determinise_and_minimise() -> None:
    full = determinise(machine("repeat {push(x) {repeat(2) {select {a, a}}}}"))
    assert full.configurations == 2
    longer = determinise(machine("repeat {push(x) {sequential {fail {b}, a}}}"))
    assert minimise(longer).configurations == 1
    # Kinds of events that no state tells apart share a column.
    small = minimise(determinise(machine("select {a, b}")))
    assert small.table.next.shape == (2, 2)
    assert len(small.alphabet.symbols) == 3


def test_a_table_pickles_small_and_is_walked_by_a_plain_loop() -> None:
    one = minimise(determinise(machine("repeat {push(x) {do {accumulate {a, b}} unless {c}}}")))
    assert len(pickle.dumps(one.table)) < 1500
    again = pickle.loads(pickle.dumps(one))
    symbols = np.array([again.alphabet.symbol(event) for event in letters("aabbcbac")], np.int32)
    state, positions, outputs = walk(again.table, 0, symbols)
    assert (state, positions.tolist(), outputs.tolist()) == (0, [2, 6], [0, 0])


HOSTILE = "repeat {push(x) {accumulate {" + ", ".join(f"a{i}" for i in range(40)) + "}}}"


@pytest.mark.slow
def test_a_hostile_expression_is_refused_within_a_second_and_still_runs() -> None:
    start = time.process_time()
    with pytest.raises(LimitError, match="the limit is 50,000 cells"):
        determinise(machine(HOSTILE))
    ready = compile_machine(machine(HOSTILE))
    # Two attempts at a table; each is to take less than a second.
    assert time.process_time() - start < 2
    assert "is run as it is" in ready.notes[0]
    trace: list[Fields] = [{"type": f"a{i}"} for i in range(40)] * 2
    assert compiled.run(ready, trace).outputs == ((40, "x"), (80, "x"))


@pytest.mark.slow
def test_predicates_that_tell_too_many_events_apart_stay_a_machine() -> None:
    many = " , ".join(f"<x{i} = 1>" for i in range(20))
    ready = compile_machine(machine(f"accumulate {{{many}}}"))
    assert "kinds of events" in ready.notes[0]
    assert compiled.run(ready, [{f"x{i}": 1 for i in range(20)}]).completed_at == 1


def test_what_is_no_table_remembers_its_steps() -> None:
    ready = compile_machine(machine("accumulate {a, b}"), limit=1)
    for _ in range(2):
        compiled.run(ready, letters("ab"))
    assert len(ready.parts[0].remembered) == 2


def test_independent_parts_are_tables_of_their_own() -> None:
    text = (
        "parallel {" + ", ".join(f"repeat {{push(x{i}) {{sequential {{a{i}, b}}}}}}" for i in range(30)) + "}"
    )
    ready = compile_machine(machine(text))
    assert [part.determinised.configurations for part in ready.parts if part.determinised] == [2] * 30
    assert len(decompose(simplify(machine(text)))) == 30


def test_what_always_moves_together_is_merged() -> None:
    assert size(share(remove_unreachable(machine("accumulate {a, a, a}")))) == (3, 2)
    assert len(share(remove_unreachable(machine("accumulate {a, b, a}"))).transitions) == 3


def test_subscriptions_that_have_work_in_common_do_it_once() -> None:
    body = "do {accumulate {a, b}} unless {c}"
    alone = simplify(machine(f"repeat {{push(x) {{{body}}}}}"))
    all_of_them = {f"S{i}": machine(f"repeat {{push(x{i}) {{{body}}}}}") for i in range(50)}
    together = simplify(compose(all_of_them))
    assert size(together) == size(alone)
    ready = compile_machine(together)
    _, emits = compiled.feed(
        ready, compiled.feed(ready, compiled.start(ready), {"type": "a"})[0], {"type": "b"}
    )
    assert [emit.to for emit in emits] == [f"S{i}" for i in range(50)]


def test_quench() -> None:
    prepared = simulate.prepare(machine("sequential {a, in (m) do {repeat {b}} in (n) do {c}}"))
    configuration = simulate.start(prepared)
    assert show_filter(quench(prepared, configuration)) == "a"
    configuration, _ = simulate.feed(prepared, configuration, {"type": "a"})
    assert show_filter(quench(prepared, configuration)) == "b \\/ n"
    done = simulate.prepare(machine("a"))
    assert show_filter(quench(done, simulate.feed(done, simulate.start(done), {"type": "a"})[0])) == "false"
    assert show_filter(quench_always(prepared)) == "a \\/ b \\/ c \\/ m \\/ n"


def test_quench_of_a_table() -> None:
    one = determinise(machine("a"), enumerated(machine("a").filters, letters("ab")))
    assert quench_table(one.table).tolist() == [[True, False], [False, False]]


def test_one_and_true_are_different_events() -> None:
    for text in ("select {<x = 1>, <x = true>}", "select {<x = false>, <x = 0>}"):
        ready = compile_machine(machine(text))
        for value in (1, True, 0, False):
            expected = simulate.run(simulate.prepare(machine(text)), [{"x": value}])
            assert compiled.run(ready, [{"x": value}]) == expected


@pytest.mark.parametrize(
    "predicate",
    ["<x{i} = 1> /\\ <y = {i}>", "<x{i} = 1> /\\ <y{i} = 1>", "<x > {i}> /\\ <y < {i}>", "<x > {i}>"],
)
def test_kinds_of_events_are_not_looked_for_without_end(predicate: str) -> None:
    many = ", ".join(predicate.replace("{i}", str(i)) for i in range(1_500))
    with pytest.raises(LimitError, match="kinds of events") as refused:
        alphabet_of(machine(f"accumulate {{{many}}}").filters)
    assert refused.value.code == "alphabet-too-large"


def test_a_final_state_that_nothing_moves_is_not_lost() -> None:
    text = """machine M {{ states q r s; initial q r s; {final} s;
        trans t1: {{q}} a clear {{q}} goto {{q}} out x; trans t2: {{r}} b clear {{r}} goto {{r}} out y; }}"""
    for final in ("success", "failure"):
        ready = compile_machine(parse_machine(text.format(final=final)))
        assert compiled.run(ready, letters("ab")).status == final


def test_success_goes_first_where_the_parts_are_independent() -> None:
    both = parse_machine("""machine M { states q r s f; initial q r; success s; failure f;
        trans t1: {q} a clear {q} goto {f}; trans t2: {r} b clear {r} goto {s}; }""")
    ready = compile_machine(both)
    assert len(ready.parts) == 2
    assert compiled.run(ready, letters("ab")) == simulate.run(simulate.prepare(both), letters("ab"))
    assert compiled.run(ready, letters("ab")).status == "success"


def test_subtypes_need_to_be_known() -> None:
    badge: Fields = {"type": frozenset({"Badge", "Seen"})}
    text = "accumulate {Badge, Seen}"
    with pytest.raises(InputError, match="does not foresee"):
        compiled.run(compile_machine(machine(text)), [badge])
    types = [frozenset({"Seen"}), frozenset({"Badge", "Seen"})]
    assert compiled.run(compile_machine(machine(text), types=types), [badge]).completed_at == 1
