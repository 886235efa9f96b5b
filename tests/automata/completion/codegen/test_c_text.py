"""Generated C does what the tree does, compiled with the compiler of this machine."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.ecl_strategies import events, expressions, filters, outputs, readings, relations, traces
from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Expression, Interpretation, Predicate, Push, Repeat
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Constant
from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal
from tocsin.automata.completion import construct
from tocsin.automata.completion.codegen import code_of
from tocsin.automata.completion.codegen.c_text import c_text
from tocsin.automata.completion.codegen.flat import flatten
from tocsin.errors import LimitError
from tocsin.languages.ecl import parse
from tocsin.values import Relation

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMPILER is None, reason="this machine has no C compiler"),
]
# A program of its own that starts again at an empty line, and says after each event how the whole stands.
DRIVER = """\
#define TOCSIN_PROGRAM
#define main program
#include "generated.c"
#undef main
int main(void)
{
    static tocsin_field fields[MOST_FIELDS];
    static char line[100000];
    tocsin_state state;
    tocsin_start(&state);
    while (fgets(line, sizeof line, stdin) != NULL) {
        tocsin_event event = {fields, 0};
        if (*blank(line) == '\\0') {
            tocsin_start(&state);
            continue;
        }
        event.count = parse(line, fields);
        tocsin_feed(&state, &event, print, NULL);
        printf("\\"%s\\"\\n", tocsin_status(&state));
    }
    return 0;
}
"""


def built(folder: Path, text: str, *more: str) -> Path:
    """The compiled program of a file, which must have no warnings."""
    (folder / "generated.c").write_text(text)
    (folder / "driver.c").write_text(DRIVER)
    program, source = folder / "program", folder / ("generated.c" if more else "driver.c")
    given = [
        str(COMPILER),
        "-std=c99",
        "-O0",
        "-Wall",
        "-Wextra",
        "-Werror",
        *more,
        "-o",
        program,
        source,
        "-lm",
    ]
    done = subprocess.run(given, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return program


def answers(program: Path, given: str) -> list[Any]:
    done = subprocess.run([program], input=given, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def runs(program: Path, several: list[list[Fields]]) -> list[tuple[list[str], str]]:
    """For each trace the outputs with their positions, in no order, and the status at the end."""
    text = "\n".join("".join(json.dumps(event) + "\n" for event in trace) for trace in several)
    lines, found = iter(answers(program, text)), []
    for trace in several:
        sent, status = [], "running"
        for position, _ in enumerate(trace, 1):
            while isinstance(line := next(lines), dict):
                sent.append(repr((position, line["output"])))
            status = line
        found.append((sorted(sent), status))
    assert next(lines, None) is None
    return found


def wanted(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation = Interpretation()
) -> list[tuple[list[str], str]]:
    found = []
    for trace in several:
        run = tree.run(expression, trace, interpretation)
        found.append((sorted(map(repr, run.outputs)), run.status.value if trace else "running"))
    return found


def compare(expression: Expression, several: list[list[Fields]], interpretation: Interpretation) -> None:
    text = c_text(flatten(construct(expression, interpretation)), "random")
    with TemporaryDirectory() as folder:
        assert runs(built(Path(folder), text), several) == wanted(expression, several, interpretation)


@settings(max_examples=20)
@given(expressions(2, outputs), st.lists(traces, min_size=20, max_size=20), readings)
def test_c_does_what_the_tree_does(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation
) -> None:
    compare(expression, several, interpretation)


@pytest.mark.long
@settings(max_examples=200)
@given(expressions(3, outputs), st.lists(traces, min_size=50, max_size=50), readings)
def test_c_does_what_the_tree_does_ten_thousand_times(
    expression: Expression, several: list[list[Fields]], interpretation: Interpretation
) -> None:
    compare(expression, several, interpretation)


@settings(max_examples=20)
@given(st.one_of(filters, relations), st.lists(events(), min_size=1, max_size=20))
def test_predicates_of_every_kind(filter: Filter, trace: list[Fields]) -> None:
    compare(Repeat(Push(Constant("x"), Predicate(filter))), [trace], Interpretation())


def test_it_is_a_program_of_its_own(tmp_path: Path) -> None:
    text = """
        subscribe Low {repeat {push(Low {by = event.alt, text = "it's ""low"" \u00e9", ok = true}) {<alt < 500>}}}
        subscribe Big {repeat {push(*) {<n > 9007199254740993>}}}
        subscribe Text {repeat {push("/* ?\\\\ */") {<name = "\u00fc??/">}}}
    """
    program = built(
        tmp_path, code_of(parse(text), 'a title */ with "quotes"\nand lines', ".c"), "-DTOCSIN_PROGRAM"
    )
    given = """\
{"type": "a"}
{"type": "DATA", "alt": 480.5}

{"type": "a", "n": 9007199254740993}
{"type":"a\\u00e9\\ud83d\\ude00\\n","n":9007199254740994}
{"type": "a", "n": 9007199254740992.0, "alt": null}
{ "name" : "\\u00fc??/", "alt": "500" }"""
    assert answers(program, given) == [
        {"to": "Low", "output": {"type": "Low", "by": 480.5, "text": 'it\'s "low" \u00e9', "ok": True}},
        {"to": "Big", "output": {"type": "a\u00e9\U0001f600\n", "n": 9007199254740994}},
        {"to": "Text", "output": "/* ?\\\\ */"},
    ]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"a": [1]}', '{"a"}', '{"a": 1 "b": 2}', '{"a": "x', '{"a": "\\x"}']
)
def test_a_line_that_is_no_event_is_refused(tmp_path: Path, line: str) -> None:
    program = built(tmp_path, code_of(parse("a"), "one", ".c"), "-DTOCSIN_PROGRAM")
    done = subprocess.run([program], input=line, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("an event is a JSON object of plain values")


def test_there_is_code_where_no_table_fits(tmp_path: Path) -> None:
    letters = [f"e{number}" for number in range(12)]
    program = parse(f"push(all) {{accumulate {{{', '.join(letters)}}}}}")
    trace = [{"type": name} for name in [*letters, *letters]]
    assert runs(built(tmp_path, code_of(program, "all", ".c")), [trace]) == wanted(
        program.expression, [trace]
    )


def test_what_is_no_number_is_greater_than_every_number(tmp_path: Path) -> None:
    text = "repeat {push(x) {<alt > 1e300>}}"
    trace: list[Fields] = [
        {"type": "a", "alt": alt} for alt in (math.nan, math.inf, 5, -math.inf, "text", True)
    ]
    assert runs(built(tmp_path, code_of(parse(text), "x", ".c")), [trace]) == wanted(
        parse(text).expression, [trace]
    )


def test_a_number_that_c_does_not_have_is_refused() -> None:
    with pytest.raises(LimitError, match="does not fit into 64 bits"):
        c_text(
            flatten(construct(Predicate(Compare(Attribute("alt"), Relation.LT, Literal(10**20))))), "large"
        )
