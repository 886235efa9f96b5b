"""The laws of ECL on random expressions, machines and traces.

The tree interpretation is the meaning. Machines, tables and all that is made of them must agree with it: exactly,
or up to the order of the outputs of one event where a pass changes the number of internal steps.
"""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.ecl_strategies import (
    LETTERS,
    events,
    expressions,
    filters,
    machines,
    programs,
    readings,
    relations,
    traces,
)
from tocsin import analysis
from tocsin.algebra.completion import machine_semantics as literal
from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import (
    DoUnless,
    Expression,
    Handwritten,
    Interpretation,
    Predicate,
    Program,
    Push,
    Sequential,
)
from tocsin.algebra.completion.expression import filters as filters_of
from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Constant, Emit, value_of
from tocsin.algebra.completion.run import Run, Status
from tocsin.algebra.predicate import Filter, Not
from tocsin.automata.completion import compile as compiled
from tocsin.automata.completion import simulate, table
from tocsin.automata.completion.alphabet import alphabet_of, enumerated
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.compose import compose
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.passes.quench import quench
from tocsin.automata.completion.passes.remove_steps import remove_steps
from tocsin.automata.completion.passes.remove_unreachable import remove_unreachable
from tocsin.automata.completion.passes.share import share
from tocsin.errors import LimitError, PatternError
from tocsin.languages.ecl import parse, parse_machine, show, show_machine, show_program

several_traces = st.lists(traces, min_size=4, max_size=4)
# The letters that predicates name, and one that none does.
ALPHABET: list[Fields] = [{"type": name} for name in LETTERS + "e"]


def unordered(run: Run) -> tuple[object, ...]:
    """A run without the order of the outputs of one event."""
    return sorted(run.outputs, key=repr), run.status, run.completed_at


# --- every way to run an expression ---------------------------------------------------------------


# The same trees and tables meet in twenty thousand cases of `test_many_cases`; here a failure is made small.
@settings(max_examples=250)
@given(expressions(), several_traces, readings)
def test_tree_machine_and_tables_agree(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation
) -> None:
    machine = construct(expression, interpretation)
    prepared = simulate.prepare(machine)
    try:
        full = determinise(prepared, limit=2_000)
        tables = [full, minimise(full)]
    except LimitError:
        tables = []
    ready = compiled.compile_machine(machine, limit=2_000)
    for trace in several:
        expected = tree.run(expression, trace, interpretation)
        assert simulate.run(prepared, trace) == expected
        assert all(table.run(one, trace) == expected for one in tables)
        assert unordered(compiled.run(ready, trace)) == unordered(expected)


@settings(max_examples=120)
@given(expressions(2), traces, readings)
def test_definition_4_taken_literally_agrees(
    expression: Expression, trace: list[Fields], interpretation: Interpretation
) -> None:
    assert literal.run(construct(expression, interpretation), trace) == tree.run(
        expression, trace, interpretation
    )


@settings(max_examples=150)
@given(expressions(), several_traces, readings)
def test_passes_keep_the_behaviour(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation
) -> None:
    machine = remove_unreachable(construct(expression, interpretation))
    exact = [simulate.prepare(one) for one in (machine, share(machine))]
    shorter = simulate.prepare(remove_steps(machine))
    for trace in several:
        expected = tree.run(expression, trace, interpretation)
        assert [simulate.run(one, trace) for one in exact] == [expected] * 2
        assert unordered(simulate.run(shorter, trace)) == unordered(expected)


@settings(max_examples=120)
@given(expressions(2), readings)
def test_the_tree_has_as_many_states_as_the_machine_has_configurations(
    expression: Expression, interpretation: Interpretation
) -> None:
    alphabet = enumerated(filters_of(expression), ALPHABET)

    def row(state: tree.State) -> list[tuple[tree.State, list[Emit]]]:
        each = [tree.feed(expression, state, symbol, interpretation) for symbol in ALPHABET]
        return [(after, [Emit(output) for output in outputs]) for after, outputs in each]

    try:
        of_tree = table.explore(tree.start(expression), row, tree.status, alphabet, 2_000)
        of_machine = determinise(construct(expression, interpretation), alphabet, 2_000)
    except LimitError:
        assume(False)
    assert of_tree.configurations == of_machine.configurations


@settings(max_examples=80)
@given(expressions(), traces, st.integers(0, 12), readings)
def test_a_cut_anywhere_changes_nothing(
    expression: Expression, trace: list[Fields], cut: int, interpretation: Interpretation
) -> None:
    ready = compiled.compile_machine(construct(expression, interpretation), limit=2_000)

    def fed(state: compiled.State, events: list[Fields]) -> tuple[compiled.State, list[Emit]]:
        emitted: list[Emit] = []
        for event in events:
            state, emits = compiled.feed(ready, state, event)
            emitted += emits
        return state, emitted

    state, first = fed(compiled.start(ready), trace[:cut])
    state, rest = fed(pickle.loads(pickle.dumps(state)), trace[cut:])
    assert (state, first + rest) == fed(compiled.start(ready), trace)


@settings(max_examples=120)
@given(expressions(), traces, readings)
def test_quenched_events_do_not_matter(
    expression: Expression, trace: list[Fields], interpretation: Interpretation
) -> None:
    prepared = simulate.prepare(construct(expression, interpretation))
    state, configuration = tree.start(expression), simulate.start(prepared)
    for event in trace:
        wanted = holds(quench(prepared, configuration), event)
        assert wanted == tree.matters(expression, state, event)
        state, outputs = tree.feed(expression, state, event, interpretation)
        after, _ = simulate.feed(prepared, configuration, event)
        assert wanted or (after == configuration and not outputs)
        configuration = after


@settings(max_examples=80)
@given(st.lists(expressions(2), min_size=1, max_size=4), traces)
def test_composed_machines_do_what_each_does(several: list[Expression], trace: list[Fields]) -> None:
    machines_of = {f"S{i}": construct(expression) for i, expression in enumerate(several)}
    whole = compose(machines_of)
    assert len(whole.transitions) <= sum(len(machine.transitions) for machine in machines_of.values())
    ready = compiled.compile_machine(whole, limit=2_000)
    state, found = compiled.start(ready), []
    for position, event in enumerate(trace, 1):
        state, emits = compiled.feed(ready, state, event)
        found += [(e.to, position, value_of(e.output, event)) for e in emits]
    expected = [
        (f"S{i}", *output)
        for i, expression in enumerate(several)
        for output in tree.run(expression, trace).outputs
    ]
    assert sorted(found) == sorted(expected)


# --- machines that nobody has constructed ---------------------------------------------------------


@settings(max_examples=120)
@given(machines(), traces)
def test_passes_keep_the_behaviour_of_any_machine(machine: Machine, trace: list[Fields]) -> None:
    try:
        expected = literal.run(machine, trace)
        full = determinise(machine)
    except PatternError:
        assume(False)  # it runs for ever without an event; `endless` is for those
    small = remove_unreachable(machine)
    for one in (machine, small, share(small)):
        assert simulate.run(simulate.prepare(one), trace) == expected
    assert unordered(simulate.run(simulate.prepare(remove_steps(small)), trace)) == unordered(expected)
    assert table.run(full, trace) == table.run(minimise(full), trace) == expected


@settings(max_examples=150)
@given(machines(), machines().map(Handwritten), expressions(2), traces)
def test_a_machine_is_an_expression_like_any_other(
    machine: Machine, other: Handwritten, expression: Expression, trace: list[Fields]
) -> None:
    alone = Handwritten(machine)
    ended = replace(machine, success=machine.states[-1])
    within = DoUnless(Sequential((Push(Constant("p"), Handwritten(ended)), expression)), other)
    # Nothing that stands in an expression has completed before the first event; what runs for ever is refused.
    assume(analysis.endless(machine).witness is None and analysis.endless(other.machine).witness is None)
    assume(not isinstance(tree.start(Handwritten(ended)), Status))
    assert tree.run(alone, trace) == literal.run(machine, trace)
    for one in (alone, Handwritten(ended), within):
        found = tree.run(one, trace)
        assert unordered(simulate.run(simulate.prepare(construct(one)), trace)) == unordered(found)
        assert unordered(compiled.run(compiled.compile_machine(construct(one)), trace)) == unordered(found)


@settings(max_examples=80)
@given(machines(), traces)
def test_an_endless_machine_is_known_before_it_runs(machine: Machine, trace: list[Fields]) -> None:
    answer = analysis.endless(machine)
    if answer.witness is None:
        literal.run(machine, trace)
    else:
        with pytest.raises(PatternError, match="for ever"):
            literal.run(machine, answer.witness)


# --- texts ----------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(programs())
def test_a_program_is_read_as_it_was_written(program: Program) -> None:
    assert parse(show_program(program)) == program


@settings(max_examples=100)
@given(filters)
def test_a_predicate_is_read_as_it_was_written(filter: Filter) -> None:
    assert parse(show(Predicate(filter))).expression == Predicate(filter)


@settings(max_examples=150)
@given(relations, st.lists(events(), max_size=6))
def test_fields_compare_with_each_other(filter: Filter, trace: list[Fields]) -> None:
    expression = Push(Constant("x"), Sequential((Predicate(filter), Predicate(Not(filter)))))
    assert parse(show(Predicate(filter))).expression == Predicate(filter)
    expected = tree.run(expression, trace)
    machine = construct(expression)
    assert literal.run(machine, trace) == simulate.run(simulate.prepare(machine), trace) == expected
    assert compiled.run(compiled.compile_machine(machine), trace) == expected


@settings(max_examples=60)
@given(st.one_of(machines(), expressions().map(construct)))
def test_a_machine_is_read_as_it_was_written(machine: Machine) -> None:
    assert parse_machine(show_machine(machine)) == machine
    simple = compiled.simplify(machine)
    assert parse_machine(show_machine(simple)) == simple


# --- alphabets ------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(st.lists(filters, min_size=1, max_size=4), st.lists(events(), max_size=8))
def test_every_event_is_of_a_kind_that_satisfies_the_same_predicates(
    several: list[Filter], some: list[Fields]
) -> None:
    alphabet = alphabet_of(several)
    assert len(set(alphabet.truths)) == len(alphabet.truths)
    for event in some:
        kind = alphabet.symbol(event)
        for filter in several:
            assert holds(filter, event) == holds(filter, alphabet.symbols[kind])
