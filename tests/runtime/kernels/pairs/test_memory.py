"""The memory of operators: what it holds, renumbered, reduced to some keys, and as bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.pairs_strategies import observe
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.operators import negation, sequence
from tocsin.automata.execute import batch_of
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.runtime import state as states
from tocsin.runtime.feed import Result, feed
from tocsin.runtime.kernels.pairs import memory
from tocsin.runtime.kernels.registry import kernel_of
from tocsin.runtime.moments import NEVER
from tocsin.runtime.next_state import restricted

TRACES = {"x": "a@1 a@2", "y": "a@5 b@6", "z": "c@3"}


def fed(expression: Expression, until: int = 8) -> tuple[object, Result]:
    compiled = compile_profiles([Wanted("p", expression)])
    rows = [replace(event, key=key) for key, trace in TRACES.items() for event in observe(trace).events]
    rows.sort(key=lambda event: event.interval.end)
    plan = compiled.plan
    result = feed(plan, states.initial(plan), batch_of(compiled, dict(enumerate(rows))), until)
    return plan, result


def test_the_kernel_is_that_of_operators() -> None:
    (detector,) = compile_profiles([Wanted("p", sequence("a", "b"))]).plan.detectors
    assert kernel_of(detector) == kernel_of(detector, in_order=False) == "pairs"


def test_keys_that_keep_nothing_are_left_out_and_only_held_events_stay() -> None:
    plan, result = fed(sequence("a", "b", within=10, consumption="delete"))
    assert result.state is not None
    (kept,) = result.state.detectors
    assert result.state.keys.size == 1
    assert result.state.events is not None
    assert result.state.events.num_rows == len(kept.content.leaves) == 2
    assert memory.size(kept.content) == 2
    (detector,) = plan.detectors  # type: ignore[attr-defined]
    (partial,) = memory.partial(detector, kept.content)
    assert [time for _, _, _, time in partial.events] == [1, 2]


def test_a_key_is_due_when_it_acts_or_forgets() -> None:
    plan, result = fed(sequence("a", "b", within=10, consumption="keep"))
    assert result.state is not None
    (kept,) = result.state.detectors
    assert memory.due(plan.detectors[0], kept.content) == 12  # type: ignore[attr-defined]
    plan, result = fed(negation("a", 20))
    assert result.state is not None
    (kept,) = result.state.detectors
    assert memory.due(plan.detectors[0], kept.content) == 22  # type: ignore[attr-defined]
    assert memory.due(plan.detectors[0], memory.initial(plan.detectors[0])) == NEVER  # type: ignore[attr-defined]


def test_some_keys_alone_go_on_as_before() -> None:
    plan, result = fed(sequence("a", "b", within=10, consumption="keep"))
    assert result.state is not None
    keys = [result.state.keys.value(number)[0] for number in range(result.state.keys.size)]
    assert sorted(keys) == ["x", "y"]
    keep = np.array([key == "y" for key in keys])
    reduced = restricted(plan, result.state, keep)  # type: ignore[arg-type]
    assert reduced.keys.value(0) == ("y",)
    again = states.from_bytes(states.to_bytes(reduced))
    (own,), (other,) = again.detectors, reduced.detectors
    for name, array in memory.fields(own.content).items():
        assert np.array_equal(array, memory.fields(other.content)[name])
    compiled = compile_profiles([Wanted("p", sequence("a", "b", within=10, consumption="keep"))])
    (late,) = observe("b@9").events
    after = feed(compiled.plan, again, batch_of(compiled, {0: replace(late, key="y")}), 9)
    assert len(after.matches[0].key) == 1
