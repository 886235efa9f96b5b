"""ECL and KSU in the runtime: what the walking kernel sends is what the meaning says, however a stream is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.ecl_strategies import expressions, traces
from support.ecl_strategies import readings as ecl_readings
from support.ksu_strategies import controlled, correlations, switched_traces
from support.ksu_strategies import readings as ksu_readings
from support.ksu_strategies import traces as arrivals
from support.walking import defined_run, ecl_run, ksu_run, sent, tree_run, whole
from tocsin.algebra.completion.expression import Expression, Interpretation, Program, Subscription
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.completion.draft import compile_ecl
from tocsin.automata.correlation.draft import ksu_drafts
from tocsin.automata.transduce import transducers
from tocsin.runtime.kernels.completion import table

if TYPE_CHECKING:
    pass

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
cuts = st.lists(st.integers(0, 12), max_size=3).map(sorted)


@settings(SLOW, max_examples=100)
@given(expressions(), st.lists(traces, min_size=3, max_size=3), ecl_readings, cuts)
def test_the_walking_kernel_sends_what_the_tree_sends(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation, cuts: list[int]
) -> None:
    program = Program((Subscription(None, expression),), interpretation=interpretation)
    found = sent(compile_ecl({"": program}), several, cuts)
    for own, trace in zip(found, several, strict=True):
        assert ecl_run(own) == tree_run(expression, trace, interpretation)


@settings(SLOW, max_examples=150)
@given(expressions(), st.lists(traces, min_size=3, max_size=3), ecl_readings)
def test_a_table_that_is_too_small_is_only_slower(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation
) -> None:
    program = Program((Subscription(None, expression),), interpretation=interpretation)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "MAX_CELLS", 3)
        patch.setattr("tocsin.automata.transduce.MAX_PREPARED", 0)
        found = sent(compile_ecl({"": program}), several, [])
    for own, trace in zip(found, several, strict=True):
        assert ecl_run(own) == tree_run(expression, trace, interpretation)


@settings(SLOW, max_examples=100)
@given(
    st.one_of(st.tuples(correlations, arrivals), st.tuples(controlled, switched_traces)), ksu_readings, cuts
)
def test_the_walking_kernel_sends_what_the_definitions_say(
    drawn: tuple[ksu.Correlation, list[Arrival]], interpretation: ksu.Interpretation, cuts: list[int]
) -> None:
    correlation, trace = whole(*drawn), drawn[1]
    ports = {"C": {parameter.name: parameter.name for parameter in correlation.parameters}}
    compiled = transducers(
        ksu_drafts({"C": correlation}, None, ports, interpretation, triggers_reported=True, known=None)
    )
    events: list[Fields] = [{**arrival.attributes, "source": arrival.event} for arrival in trace]
    (found,) = sent(compiled, [events], cuts)
    assert ksu_run(found, trace) == defined_run(correlation, trace, interpretation)
