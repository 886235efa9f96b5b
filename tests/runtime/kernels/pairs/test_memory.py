"""The memory of operators: what it holds, renumbered, reduced to some keys, and as bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.pairs_strategies import observe
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.operators import negation, sequence, simultaneity
from tocsin.automata.execute import batch_of
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.runtime import state as states
from tocsin.runtime.feed import Result, feed
from tocsin.runtime.kernels.protocol import Memory
from tocsin.runtime.kernels.registry import kernel_named, kernel_of
from tocsin.runtime.moments import NEVER
from tocsin.runtime.next_state import restricted
from tocsin.runtime.program import Plan

TRACES = {"x": "a@1 a@2", "y": "a@5 b@6", "z": "c@3"}
# The same expression on both kernels: the modes of the second are not about duplicates.
EXPRESSIONS = {
    "two_classes": {},
    "pairs": {"traversal": "rl", "concurrency": "nonoverlapping"},
}
kernels = pytest.mark.parametrize("kernel", EXPRESSIONS)


def within_ten(kernel: str, consumption: str) -> Expression:
    return sequence("a", "b", within=10, consumption=consumption, **EXPRESSIONS[kernel])


def fed(expression: Expression, until: int = 8) -> tuple[Plan, Result]:
    compiled = compile_profiles([Wanted("p", expression)])
    rows = [replace(event, key=key) for key, trace in TRACES.items() for event in observe(trace).events]
    rows.sort(key=lambda event: event.interval.end)
    plan = compiled.plan
    result = feed(plan, states.initial(plan), batch_of(compiled, dict(enumerate(rows))), until)
    return plan, result


def kept(result: Result) -> Memory:
    assert result.state is not None
    (found,) = result.state.detectors
    return found


@kernels
def test_which_kernel_runs_an_operator(kernel: str) -> None:
    (detector,) = compile_profiles([Wanted("p", within_ten(kernel, "keep"))]).plan.detectors
    assert kernel_of(detector) == kernel
    assert kernel_of(detector, in_order=False) == "pairs"


def test_what_is_not_about_duplicates_alone_is_left_to_the_other_kernel() -> None:
    for expression in (
        sequence("a", "b"),
        sequence("a", "a", consumption="keep"),
        sequence("a", "b", "c", consumption="keep"),
        sequence("a", "b", without="c", consumption="keep"),
        sequence("a", "b", consumption="keep", coupling="continuous"),
        sequence("a", "b", duplicates="cumulative"),
        sequence("a", negation("b", 5), consumption="keep"),
        simultaneity("a", "b", consumption="keep"),
    ):
        (detector,) = compile_profiles([Wanted("p", expression)]).plan.detectors
        assert kernel_of(detector) == "pairs"


@kernels
def test_keys_that_keep_nothing_are_left_out_and_only_held_events_stay(kernel: str) -> None:
    plan, result = fed(within_ten(kernel, "delete"))
    assert result.state is not None
    assert result.state.keys.size == 1
    assert result.state.events is not None
    assert result.state.events.num_rows == 2
    own = kernel_named(kernel)
    assert own.size(kept(result).content) == 2
    partial = own.partial(plan.detectors[0], kept(result).content)
    assert partial is not None
    assert [time for one in partial for _, _, _, time in one.events] == [1, 2]


@kernels
def test_a_key_is_due_when_its_oldest_event_is_too_old(kernel: str) -> None:
    plan, result = fed(within_ten(kernel, "keep"))
    own = kernel_named(kernel)
    assert own.due(plan.detectors[0], kept(result).content) == 12
    assert own.due(plan.detectors[0], own.initial(plan.detectors[0])) == NEVER


def test_a_key_is_due_when_its_clock_ticks() -> None:
    plan, result = fed(negation("a", 20))
    assert kernel_named("pairs").due(plan.detectors[0], kept(result).content) == 22


@kernels
def test_some_keys_alone_go_on_as_before(kernel: str) -> None:
    expression = within_ten(kernel, "keep")
    plan, result = fed(expression)
    assert result.state is not None
    keys = [result.state.keys.value(number)[0] for number in range(result.state.keys.size)]
    assert sorted(keys) == ["x", "y"]
    reduced = restricted(plan, result.state, np.array([key == "y" for key in keys]))
    assert reduced.keys.value(0) == ("y",)
    again = states.from_bytes(states.to_bytes(reduced))
    own = kernel_named(kernel)
    for name, array in own.fields(again.detectors[0].content).items():
        assert np.array_equal(array, own.fields(reduced.detectors[0].content)[name])
    compiled = compile_profiles([Wanted("p", expression)])
    (late,) = observe("b@9").events
    after = feed(compiled.plan, again, batch_of(compiled, {0: replace(late, key="y")}), 9)
    assert len(after.matches[0].key) == 1
