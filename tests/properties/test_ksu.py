"""Laws of the KSU correlation language, on random correlations and traces."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from support.ksu_strategies import (
    STAND_INS,
    controlled,
    correlations,
    expressions,
    filters,
    guards,
    readings,
    single_filters,
    switched_traces,
    traces,
)
from tocsin.algebra.correlation import semantics as reference
from tocsin.algebra.correlation.check import check
from tocsin.algebra.correlation.expression import (
    Accumulation,
    Branches,
    Case,
    Collection,
    Correlation,
    Expression,
    Guard,
    Interpretation,
    Is,
    Library,
    PushNew,
    Sequence,
    labelled,
)
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.algebra.correlation.warnings import warnings
from tocsin.automata import correlation as acceptor
from tocsin.automata.correlation.acceptor import compile_expression
from tocsin.automata.correlation.guard import compile_guard
from tocsin.automata.correlation.guard import holds as holds_compiled
from tocsin.languages.ksu import parse, parse_filter, parse_guard, show, show_filter, show_guard

Trace = list[Arrival]


# The same definitions and acceptors meet in twenty thousand cases of `test_many_cases`; here a failure is made small.
@settings(max_examples=100)
@given(correlations, st.lists(traces, min_size=4, max_size=4), readings)
def test_the_acceptor_does_what_the_definitions_say(
    correlation: Correlation, several: list[Trace], interpretation: Interpretation
) -> None:
    program = acceptor.compile_correlation(correlation, interpretation)
    for trace in several:
        assert acceptor.run(program, trace) == reference.run(correlation, trace, interpretation)


@settings(max_examples=200)
@given(controlled, st.lists(switched_traces, min_size=4, max_size=4), readings)
def test_the_acceptor_keeps_the_right_progress_when_labels_are_switched(
    correlation: Correlation, several: list[Trace], interpretation: Interpretation
) -> None:
    program = acceptor.compile_correlation(correlation, interpretation)
    for trace in several:
        assert acceptor.run(program, trace) == reference.run(correlation, trace, interpretation)


@given(correlations, traces, readings, st.data())
def test_a_trace_can_be_cut_anywhere_and_the_state_kept_as_bytes(
    correlation: Correlation, trace: Trace, interpretation: Interpretation, data: st.DataObject
) -> None:
    program = acceptor.compile_correlation(correlation, interpretation)
    state = acceptor.start(program)
    steps = []
    cut = data.draw(st.integers(0, len(trace)))
    for number, arrival in enumerate(trace):
        if number == cut:
            state = acceptor.unpack(acceptor.pack(state))
        state, step = acceptor.feed(program, state, arrival)
        steps.append(step)
    whole = acceptor.run(program, trace)
    assert tuple(t for step in steps for t in step.triggers) == whole.triggers
    assert tuple(o for step in steps for o in step.outputs) == whole.outputs


@given(single_filters, traces)
def test_a_table_accepts_what_matches(branches: Branches, trace: Trace) -> None:
    (branch,) = branches
    table = acceptor.determinise(compile_expression(branch))
    assert table.accepts(_names(trace)) == reference.matches(branch, _names(trace))


@given(filters, filters, st.lists(traces, min_size=3, max_size=3))
def test_two_filters_differ_exactly_on_what_tells_them_apart(
    left: Branches, right: Branches, several: list[Trace]
) -> None:
    def windows(branches: Branches, trace: tuple[str, ...]) -> set[tuple[int, int]]:
        return {trigger.window for trigger in reference.triggers(branches, trace)}

    witness = acceptor.difference(left, right)
    if witness is None:
        assert all(windows(left, _names(trace)) == windows(right, _names(trace)) for trace in several)
    else:
        assert windows(left, witness) != windows(right, witness)


@given(expressions, expressions, expressions)
def test_the_laws_of_the_paper(x: Expression, y: Expression, z: Expression) -> None:
    def same(left: Expression, right: Expression) -> bool:
        return acceptor.difference((left,), (right,)) is None

    assert same(Accumulation(x, y), Accumulation(y, x))
    assert same(Collection(x, y), Collection(y, x))
    for pair in (Accumulation, Collection, Sequence):
        assert same(pair(pair(x, y), z), pair(x, pair(y, z)))
    assert same(Accumulation(x, Collection(y, z)), Collection(Accumulation(x, y), Accumulation(x, z)))


@given(guards, st.sets(st.sampled_from(STAND_INS)), st.sets(st.sampled_from(STAND_INS)))
def test_a_compiled_guard_says_what_the_definition_says(
    guard: Guard, active: set[str], aborted: set[str]
) -> None:
    def bits(labels: set[str]) -> int:
        return sum(1 << STAND_INS.index(label) for label in labels)

    code = compile_guard(guard, {label: number for number, label in enumerate(STAND_INS)})
    assert holds_compiled(code, bits(active), bits(aborted)) == reference.holds(guard, active, aborted)


@given(filters)
def test_a_filter_reads_back(branches: Branches) -> None:
    assert parse_filter(show_filter(branches)) == branches


@given(guards)
def test_a_guard_reads_back(guard: Guard) -> None:
    assert parse_guard(show_guard(guard)) == guard


@given(st.lists(correlations, max_size=2))
def test_a_library_reads_back_without_new_warnings(several: list[Correlation]) -> None:
    library = Library(tuple(replace(one, name=f"C{number}") for number, one in enumerate(several)))
    read = parse(show(library))
    assert read == library
    assert not [warning for warning in read.warnings if warning.code == "mixed-operators"]


@given(st.one_of(correlations, controlled), st.one_of(traces, switched_traces), readings)
def test_a_statement_is_skipped_only_after_a_warning(
    correlation: Correlation, trace: Trace, interpretation: Interpretation
) -> None:
    assert not check(correlation)
    if not any(warning.code == "absent-event" for warning in warnings(correlation)):
        assert reference.run(correlation, trace, interpretation).skipped == ()


@given(st.one_of(correlations, controlled), st.one_of(traces, switched_traces), readings)
def test_what_is_said_never_to_run_never_runs(
    correlation: Correlation, trace: Trace, interpretation: Interpretation
) -> None:
    marked = tuple(
        Case(case.guard, (*case.body, PushNew("M"))) if _never_runs(correlation, number) else case
        for number, case in enumerate(correlation.cases)
    )
    outcome = reference.run(replace(correlation, cases=marked), trace, interpretation)
    assert "M" not in {output.type for output in outcome.outputs}


def _never_runs(correlation: Correlation, number: int) -> bool:
    """Whether one case is warned about; the others get a guard that can be true."""
    simple = Is(next(part.label for branch in correlation.branches for part in labelled(branch)))
    cases = [Case(simple, case.body) for case in correlation.cases]
    cases[number] = correlation.cases[number]
    return any(warning.code == "never-true" for warning in warnings(replace(correlation, cases=tuple(cases))))


def _names(trace: Trace) -> tuple[str, ...]:
    return tuple(arrival.event for arrival in trace)
