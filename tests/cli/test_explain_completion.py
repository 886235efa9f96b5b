"""`tocsin explain` for ECL and KSU: everything about expressions, machines and correlations, and code that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tocsin.cli import main
from tocsin.languages.ecl import parse_machine
from tocsin.languages.ksu import parse as parse_library

EXAMPLE_3 = "repeat {push(x) {do {accumulate {a, b}} unless {c}}}"
MODES = "in (m) do {repeat {push(x) {a}}} in (n) do {push(y) {b}}"
COR = """N correlation Latest (E a, E b, E c) l1:(a;b) | l2:(b;a) || k:c {
  abort (l2);
  case l1: push b; case l2: push a; case k: toggle (l1, l2) }
"""


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command; gives the exit code, the sections by their headings, and the errors."""

    def run(*arguments: object) -> tuple[int, dict[str, str], str]:
        code = main(["explain", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        found: dict[str, str] = {}
        for line in out.splitlines():
            if line and not line.startswith(" "):
                heading = line
                found[heading] = ""
            elif line:
                found[heading] += line[2:] + "\n"
        return code, found, err

    return run


# ECL


def test_ecl_has_every_section(explain: Any) -> None:
    code, found, err = explain(EXAMPLE_3, "--language", "ecl")
    assert (code, err) == (0, "")
    assert list(found) == ["text", "tree", "machine", "sizes", "events that matter", "warnings"]
    assert found["text"] == EXAMPLE_3 + "\n"
    assert found["tree"].splitlines() == [
        "repeat: again, whatever the outcome",
        "└─ push x on the success of",
        "   └─ do the first, unless the second succeeds",
        "      ├─ accumulate: all of",
        "      │  ├─ a",
        "      │  └─ b",
        "      └─ c",
    ]
    assert len(parse_machine(found["machine"]).transitions) == 5
    assert found["sizes"].splitlines() == [
        "as built                       17 states, 10 transitions",
        "without what is never reached  11 states, 9 transitions",
        "without idle steps             6 states, 5 transitions",
        "with equal parts merged        6 states, 5 transitions",
        "determinised                   3 configurations × 4 kinds of events",
        "minimised                      3 configurations × 4 kinds of events",
    ]
    assert found["events that matter"].splitlines() == [
        "at the start  a \\/ b \\/ c",
        "at any time   a \\/ b \\/ c",
    ]
    assert found["warnings"] == "none\n"


def test_every_operator_has_its_words(explain: Any) -> None:
    text = """define w = select* {a, b}; sequential {w, fail {persist {do {loop(3) {a}} unless {b}}},
        parallel {select {a, b}, repeat(2) {c}}, in (m) do {<alt < 5>} in (n) do {true}}"""
    _, found, _ = explain(text, "--language", "ecl")
    for words in (
        "sequential: one after the other",
        "w:",
        "select*: whichever completes first, either way",
        "fail: the other way round",
        "persist: again until it succeeds",
        "loop, at most 3 times: again until it fails",
        "parallel: each by itself",
        "select: one of",
        "repeat, at most 2 times: again, whatever the outcome",
        "modes: m, n",
        "<alt < 5>",
    ):
        assert words in found["tree"]


def test_each_subscription_has_its_own_sections(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.ecl"
    path.write_text("subscribe S {sequential {a, b}} subscribe T {push(x) {do {b} unless {c}}}")
    code, found, _ = explain(f"@{path}", "--language", "ecl")
    assert code == 0
    assert {"tree of S", "tree of T", "machine of S", "sizes of T"} <= found.keys()
    assert "at the start  a\n" in found["events that matter of S"]
    assert "gets-stuck: 'T' gets stuck: after c" in found["warnings"]


def test_modes_are_written_as_a_correlation_too(explain: Any) -> None:
    _, found, _ = explain(MODES, "--language", "ecl")
    (correlation,) = parse_library(found["correlation"]).correlations
    assert len(correlation.cases) == 4
    _, found, _ = explain("in (true) do {a} in (n) do {b}", "--language", "ecl")
    assert found["correlation"].startswith("none: a correlation cannot simulate")


def test_options_choose_the_reading(explain: Any) -> None:
    text = "repeat {push(x) {do {a} unless {a}}}"
    assert "never-fires" not in explain(text, "--language", "ecl")[1]["warnings"]
    _, found, _ = explain(text, "--language", "ecl", "--option", "unless_tie=failure")
    assert "never-fires" in found["warnings"]


@pytest.mark.slow
def test_what_cannot_be_determinised_says_why(explain: Any) -> None:
    wide = "accumulate {" + ", ".join(f"a{i}" for i in range(40)) + "}"
    _, found, _ = explain(wide, "--language", "ecl")
    assert "determinised                   refused: " in found["sizes"]
    assert "the limit is 50,000 cells; it is run as it is" in found["sizes"]
    _, found, _ = explain("repeat(300) {accumulate {a, b}}", "--language", "ecl")
    assert "transitions, too many to show" in found["machine"]
    code, _, err = explain("repeat(100000000) {a}", "--language", "ecl")
    assert (code, err.splitlines()[0][:17]) == (2, "machine-too-large")


def test_the_machine_is_drawn(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.svg"
    code, found, _ = explain(EXAMPLE_3, "--language", "ecl", "--svg", path)
    assert (code, found["picture"]) == (0, f"{path}\n")
    texts = {node.text for node in ElementTree.parse(path).iter() if node.text}
    assert {"a", "b", "c", "ε / x"} <= texts
    # Several subscriptions are one picture, because they run as one machine.
    explain("subscribe S {push(s) {a}} subscribe T {push(t) {b}}", "--language", "ecl", "--svg", path)
    assert {"a / s", "b / t"} <= {node.text for node in ElementTree.parse(path).iter()}


def test_code_is_written_and_runs_without_tocsin(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    text = "subscribe S {repeat {push(x) {accumulate {a, b}}}} subscribe T {repeat {push(*) {b}}}"
    code, found, _ = explain(text, "--language", "ecl", "--code", path)
    assert (code, found["code"]) == (0, f"{path}\n")
    done = subprocess.run(
        [sys.executable, "-I", "-S", path],
        input='{"type": "b"}\n{"type": "a"}\n',
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        ['{"to": "T", "output": {"type": "b"}}', '{"to": "S", "output": "x"}'],
    )
    in_c = tmp_path / "code.c"
    assert explain(text, "--language", "ecl", "--code", in_c)[0] == 0
    assert in_c.read_text().startswith("/* Subscriptions of ECL: S, T\n")
    refused = explain(text, "--language", "ecl", "--code", tmp_path / "code.java")[2]
    assert refused.startswith("bad-file: no code can be written to a file that ends in '.java'")
    assert "cannot be written" in explain(text, "--language", "ecl", "--code", tmp_path / "no" / "x.py")[2]


def test_mistakes_of_ecl_say_where(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.ecl"
    path.write_text("accumulate {a, }")
    code, found, err = explain(f"@{path}", "--language", "ecl")
    assert (code, found) == (2, {})
    assert f"({path}, line 1, column" in err
    assert "^" in explain("accumulate {a, }", "--language", "ecl")[2]


# KSU


def test_ksu_has_every_section(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "lib.cor"
    path.write_text(COR)
    code, found, err = explain(f"@{path}", "--language", "ksu")
    assert (code, err) == (0, "")
    assert parse_library(found["library"]) == parse_library(COR)
    assert found["filter of Latest"].splitlines() == [
        "branch 1    l1:(a;b) | l2:(b;a)",
        "  l1        a;b",
        "  l2        b;a",
        "  acceptor  4 states",
        "branch 2    k:c",
        "  k         c",
        "  acceptor  2 states",
    ]
    assert found["transformer of Latest"].splitlines() == [
        "at first  abort (l2)",
        "case 1    l1: push b",
        "case 2    l2: push a",
        "case 3    k: toggle (l1, l2)",
    ]
    assert found["nodes of Latest"] == "not known: no assembly says which component each event comes from\n"
    assert found["warnings"] == "none\n"


def test_an_assembly_tells_what_each_node_decides(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "s.cad"
    path.write_text(
        "connect A.x -> Latest.a; connect A.y -> Latest.b; connect C.z -> Latest.c; connect Q -> R.s;"
    )
    _, found, _ = explain(COR, "--language", "ksu", "--assembly", path)
    assert found["nodes of Latest"] == "A decides l1:(a;b) | l2:(b;a)\n"
    path.write_text("connect A.x -> Latest.a; connect B.y -> Latest.b; connect C.z -> Latest.c;")
    _, found, _ = explain(COR, "--language", "ksu", "--assembly", path)
    assert found["nodes of Latest"] == "several are needed for a;b\nseveral are needed for b;a\n"
    path.write_text("connect A.x -> Latest.a;")
    _, found, _ = explain(COR, "--language", "ksu", "--assembly", path)
    assert found["nodes of Latest"] == "not known: b, c not bound to a port\n"


def test_types_are_checked(explain: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.idl"
    path.write_text("eventtype N { }; eventtype E { };")
    code, _, err = explain(COR, "--language", "ksu", "--types", path)
    assert code == 2
    assert "wrong-output: push type E is not a subtype of N" in err
    path.write_text("eventtype N { }; eventtype E : N { };")
    assert explain(COR, "--language", "ksu", "--types", path)[0] == 0
    assert explain(COR, "--language", "ksu", "--option", f"types=@{path}")[0] == 0
    path.write_text("eventtype N {")
    code, _, err = explain(COR, "--language", "ksu", "--option", f"types=@{path}")
    assert (code, f"({path}, line 1" in err) == (2, True)


def test_warnings_of_ksu(explain: Any) -> None:
    _, found, _ = explain("N correlation C (E a, E b) a;b { }", "--language", "ksu")
    assert "no-label" in found["warnings"]
    assert found["transformer of C"] == "no case  nothing is ever sent\n"


# Options


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["a", "--language", "ecl", "--types", "t.idl"],
            "ECL has no --types\nhint: it has --svg and --code",
        ),
        (["a", "--language", "ecl", "--schema", "p.toml"], "ECL has no --schema"),
        (["x", "--language", "ksu", "--code", "x.py"], "KSU has no --code"),
        (["[A]", "--code", "x.py"], "the core language has no --code"),
        (["[A]", "--assembly", "s.cad"], "has no --assembly\nhint: it has --svg and --schema"),
        (["[A]", "--option", "types=x"], "the core language has no option 'types'"),
        (["a", "--language", "ecl", "--option", "restart=always"], "ECL has no option 'restart'"),
        (["x", "--language", "ksu", "--option", "abort=never"], "one of eager, lazy"),
        (["a", "--language", "ecl", "--option", "unless_tie"], "write --option NAME=VALUE"),
        (["@nowhere.ecl", "--language", "ecl"], "there is no file nowhere.ecl"),
    ],
)
def test_wrong_options(explain: Any, arguments: list[str], says: str) -> None:
    code, found, err = explain(*arguments)
    assert (code, found) == (2, {})
    assert says in err
