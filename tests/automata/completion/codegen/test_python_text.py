"""Generated Python does what the tree does, and needs nothing but Python."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.ecl_strategies import (
    events,
    expressions,
    filters,
    machines,
    outputs,
    readings,
    relations,
    traces,
)
from tocsin.algebra.completion import machine_semantics as literal
from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Expression, Interpretation, Predicate, Push, Repeat
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Constant
from tocsin.algebra.predicate import Filter
from tocsin.analysis import endless
from tocsin.automata.completion import compose, construct
from tocsin.automata.completion.codegen import code_of
from tocsin.automata.completion.codegen.flat import flatten
from tocsin.automata.completion.codegen.python_text import python_text
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.errors import InputError, LimitError
from tocsin.languages.ecl import parse


def module(text: str) -> ModuleType:
    """A generated module, loaded as any other."""
    made = ModuleType("generated")
    exec(compile(text, "generated.py", "exec"), made.__dict__)  # noqa: S102  that it runs is what is tested
    return made


def run(code: ModuleType, trace: list[Fields]) -> tuple[list[tuple[int, object]], str]:
    state, sent = code.start(), []
    for position, event in enumerate(trace, 1):
        state, brought = code.feed(state, event)
        sent += [(position, output) for _, output in brought]
    return sent, code.status(state)


@settings(max_examples=100)
@given(expressions(2, outputs), st.lists(traces, min_size=3, max_size=3), readings)
def test_code_does_what_the_tree_does(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation
) -> None:
    code = module(python_text(flatten(construct(expression, interpretation)), "random"))
    for trace in several:
        expected = tree.run(expression, trace, interpretation)
        sent, status = run(code, trace)
        assert (sorted(sent, key=repr), status) == (sorted(expected.outputs, key=repr), expected.status.value)


@settings(max_examples=100)
@given(st.one_of(filters, relations), st.lists(events(), min_size=1, max_size=6))
def test_predicates_of_every_kind(filter: Filter, trace: list[Fields]) -> None:
    expression = Repeat(Push(Constant("x"), Predicate(filter)))
    code = module(python_text(flatten(construct(expression)), "random"))
    assert run(code, trace)[0] == list(tree.run(expression, trace).outputs)


SUBSCRIPTIONS = '''
subscribe Low {repeat {push(Low {by = event.alt, text = "it's ""low"""}) {<alt < 500>}}}
subscribe Both {push(*) {accumulate {a, b}}}
'''


def test_it_runs_alone_as_a_program(tmp_path: Path) -> None:
    program = parse(SUBSCRIPTIONS)
    machines = {str(s.name): construct(s.expression) for s in program.subscriptions}
    path = tmp_path / "generated.py"
    path.write_text(python_text(flatten(compose(machines)), 'a "title" with \\ and """, and\nlines'))
    trace = [{"type": "a"}, {"type": "DATA", "alt": 480}, {"type": "b", "room": 7}, {"type": "b"}]
    done = subprocess.run(
        # Without site packages, so that nothing of ours can be imported.
        [sys.executable, "-I", "-S", str(path)],
        input="".join(json.dumps(event) + "\n" for event in trace),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"to": "Low", "output": {"type": "Low", "by": 480, "text": 'it\'s "low"'}},
        {"to": "Both", "output": {"type": "b", "room": 7}},
    ]


@settings(max_examples=60)
@given(machines(), traces)
def test_machines_written_by_hand(machine: Machine, trace: list[Fields]) -> None:
    assume(endless(machine).witness is None)
    sent, status = run(module(python_text(flatten(machine), "random")), trace)
    expected = literal.run(machine, trace)
    assert (sorted(sent, key=repr), status) == (sorted(expected.outputs, key=repr), expected.status.value)


def test_there_is_code_where_no_table_fits() -> None:
    letters = [f"e{number}" for number in range(12)]
    program = parse(f"push(all) {{accumulate {{{', '.join(letters)}}}}}")
    with pytest.raises(LimitError, match="table-too-large"):
        determinise(construct(program.expression))
    code = module(code_of(program, "Subscriptions"))
    assert run(code, [{"type": name} for name in [*letters, *letters]]) == ([(12, "all")], "success")


def test_what_is_no_number_is_greater_than_every_number() -> None:
    code = module(code_of(parse("repeat {push(x) {<alt > 1e300>}}"), "Subscriptions"))
    assert run(code, [{"type": "a", "alt": alt} for alt in (math.nan, math.inf, 5, "text")])[0] == [
        (1, "x"),
        (2, "x"),
    ]


def test_the_ending_of_the_file_says_the_language() -> None:
    with pytest.raises(InputError, match=r"no code can be written to a file that ends in '.rs'"):
        code_of(parse("a"), "Subscriptions", ".rs")
