"""Generated code does what the machine does, and needs nothing but Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.ecl_strategies import events, expressions, filters, outputs, readings, traces
from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Expression, Interpretation, Predicate, Push, Repeat
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Constant
from tocsin.algebra.predicate import Filter
from tocsin.automata.completion import compile_machine, compose, construct
from tocsin.automata.completion.codegen import generate
from tocsin.errors import LimitError
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
    code = module(generate(compile_machine(construct(expression, interpretation)), "random"))
    for trace in several:
        expected = tree.run(expression, trace, interpretation)
        sent, status = run(code, trace)
        assert (sorted(sent, key=repr), status) == (sorted(expected.outputs, key=repr), expected.status.value)


@settings(max_examples=100)
@given(filters, st.lists(events(), min_size=1, max_size=6))
def test_predicates_of_every_kind(filter: Filter, trace: list[Fields]) -> None:
    expression = Repeat(Push(Constant("x"), Predicate(filter)))
    try:
        compiled = compile_machine(construct(expression))
    except LimitError:
        assume(False)
    assert run(module(generate(compiled, "random")), trace)[0] == list(tree.run(expression, trace).outputs)


SUBSCRIPTIONS = '''
subscribe Low {repeat {push(Low {by = event.alt, text = "it's ""low"""}) {<alt < 500>}}}
subscribe Both {push(*) {accumulate {a, b}}}
'''


def test_it_runs_alone_as_a_program(tmp_path: Path) -> None:
    program = parse(SUBSCRIPTIONS)
    machines = {str(s.name): construct(s.expression) for s in program.subscriptions}
    path = tmp_path / "generated.py"
    path.write_text(generate(compile_machine(compose(machines)), 'a "title" with \\ and """, and\nlines'))
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


def test_a_machine_that_is_no_table_is_refused() -> None:
    compiled = compile_machine(construct(parse("accumulate {a, b, c}").expression), limit=5)
    with pytest.raises(LimitError, match=r"no code can be written, because M is run as it is: .*5 cells"):
        generate(compiled, "too large")
