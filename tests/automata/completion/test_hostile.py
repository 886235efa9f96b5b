"""Expressions whose tables double with every level: refused at a stated bound, and run all the same.

What is counted is work and memory, not seconds, so that a slow computer gives the same answer: 50,000 cells take well
under a second on any computer of today, and less than 16 MB while they are built.
"""

from __future__ import annotations

import random
import tracemalloc

import pytest

from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Accumulate, Expression, Predicate, Push, Repeat
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Constant, Emit
from tocsin.algebra.predicate import Attribute, Compare, Literal
from tocsin.automata.completion import alphabet_of, compile_machine, construct, determinise, simulate
from tocsin.automata.completion import compile as compiled
from tocsin.automata.completion.table import MAX_CELLS, explore
from tocsin.errors import LimitError
from tocsin.values import Relation

MAX_BYTES = 16 * 2**20
LEVELS = [8, 10, 12, 16, 24, 32, 48, 64]


def doubled(levels: int) -> Expression:
    """Each level waits for one event more beside all that is inside it, so there are twice as many sets to remember."""

    def waits_for(level: int) -> Expression:
        return Predicate(Compare(Attribute("type"), Relation.EQ, Literal(f"a{level}")))

    whole = waits_for(0)
    for level in range(1, levels):
        whole = Accumulate((waits_for(level), whole))
    return Repeat(Push(Constant("x"), whole))


def random_trace(levels: int, seed: int) -> list[Fields]:
    """Events of every level, and some that nobody waits for; long enough to complete some rounds."""
    draw = random.Random(seed)
    shuffled = [list(range(levels + 1)) for _ in range(3)]
    for one in shuffled:
        draw.shuffle(one)
    return [{"type": f"a{level}"} for one in shuffled for level in one]


@pytest.mark.slow
@pytest.mark.parametrize("levels", LEVELS)
def test_a_table_that_fits_is_built_and_any_other_refused(levels: int) -> None:
    configurations, kinds = 2**levels - 1, levels + 1
    machine = construct(doubled(levels))
    if configurations * kinds <= MAX_CELLS:
        assert determinise(machine).configurations == configurations
        return
    with pytest.raises(LimitError, match=f"the limit is {MAX_CELLS:,} cells") as refused:
        determinise(machine)
    assert refused.value.code == "table-too-large"


@pytest.mark.slow
@pytest.mark.parametrize("levels", [8, 12, 64])
def test_no_cell_beyond_the_bound_is_worked_out(levels: int) -> None:
    prepared = simulate.prepare(construct(doubled(levels)))
    alphabet = alphabet_of(prepared.asked.filters)
    wanted = [simulate.accepted(prepared, symbol) for symbol in alphabet.symbols]
    cells = 0

    def row(configuration: int) -> list[tuple[int, tuple[Emit, ...]]]:
        nonlocal cells
        cells += len(wanted)
        possible = simulate.enabled(prepared, configuration)
        return [simulate.react(prepared, configuration, possible & them) for them in wanted]

    def refused() -> bool:
        try:
            explore(simulate.start(prepared), row, lambda at: simulate.status(prepared, at), alphabet)
        except LimitError:
            return True
        return False

    assert refused() == ((2**levels - 1) * (levels + 1) > MAX_CELLS)
    assert cells <= MAX_CELLS


@pytest.mark.slow
@pytest.mark.parametrize("levels", [10, 64])
def test_the_attempt_stays_small(levels: int) -> None:
    machine = construct(doubled(levels))
    tracemalloc.start()
    try:
        compile_machine(machine)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MAX_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("levels", [8, 16, 64])
def test_it_still_runs_and_does_what_the_tree_does(levels: int) -> None:
    expression = doubled(levels)
    machine = construct(expression)
    prepared, ready = simulate.prepare(machine), compile_machine(machine)
    assert any("is run as it is" in note for note in ready.notes) == (levels > 10)
    for seed in range(3):
        trace = random_trace(levels, seed)
        expected = tree.run(expression, trace)
        assert expected.outputs
        assert simulate.run(prepared, trace) == expected
        assert compiled.run(ready, trace) == expected


@pytest.mark.slow
def test_what_is_remembered_of_its_steps_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MAX_REMEMBERED", 50)
    ready = compile_machine(construct(doubled(32)))
    expected = tree.run(doubled(32), random_trace(32, 0) * 2)
    assert compiled.run(ready, random_trace(32, 0) * 2) == expected
    assert len(ready.parts[0].remembered) == 50
