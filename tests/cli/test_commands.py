"""The command line: usage, results on standard output, errors on standard error, exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import tocsin
from tocsin import cli
from tocsin.cli import main

CONFORMANCE = Path(__file__).parent.parent / "conformance"
MISTAKES = "[Door(room=)];\n[Temp in ];\n[!Alarm]\n"


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def _refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What is said of arguments that are wrong: on standard error alone, with exit code 2."""
    code, out, err = _run(capsys, *arguments)
    assert (code, out) == (2, "")
    return err


# Usage


def test_help_shows_every_command_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "--help")
    assert code == 0
    assert all(f"tocsin {command} " in out for command in ("run", "detect", "explain", "test"))
    for command in ("run", "detect", "explain", "test"):
        code, out, _ = _run(capsys, command, "--help")
        assert code == 0
        assert f"examples:\n  tocsin {command} " in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(capsys, "--version") == (0, f"tocsin {tocsin.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["test"], ["detect", "[A]"], ["explain", "[A]", "--nonsense"]]
)
def test_wrong_usage_says_how_it_is_meant(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert "usage: tocsin" in _refused(capsys, *arguments)


def test_an_interrupt_is_no_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_run", lambda arguments: (_ for _ in ()).throw(KeyboardInterrupt))
    assert _run(capsys, "test", "x") == (130, "", "tocsin: interrupted\n")


def test_a_mistake_of_ours_is_one_line_that_says_how_to_find_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_run", lambda arguments: [][1])
    code, out, err = _run(capsys, "test", "x")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert "TOCSIN_DEBUG=1" in err
    monkeypatch.setenv("TOCSIN_DEBUG", "1")
    with pytest.raises(IndexError):
        main(["test", "x"])


def test_every_mistake_of_a_pattern_file_is_underlined(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cold.tocsin"
    path.write_text(MISTAKES)
    for command in (["explain", f"@{path}"], ["detect", f"@{path}", "--from", "never.read"]):
        err = _refused(capsys, *command)
        assert [line for line in err.splitlines() if line.startswith(("1 |", "2 |", "3 |"))] == [
            f"{number} | {line}" for number, line in enumerate(MISTAKES.splitlines(), 1)
        ]
        assert err.count("^") >= 3
        assert err.count("hint:") >= 1
        assert err.count(f"({path}, line ") == 3


@pytest.mark.parametrize("command", ["explain", "detect"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["@nowhere.tocsin"], "there is no file nowhere.tocsin"),
        (["@tests"], "cannot be read"),
        (["[A]", "--language", "klingon"], "there is no language 'klingon'"),
        (["[A]", "--option", "restart"], "write --option NAME=VALUE"),
        (["[A]", "--option", "restart=never"], "one of on-accept, always"),
        (["[A]", "--option", "restrat=always"], "did you mean 'restart'?"),
        (["[A"], "^"),
    ],
)
def test_a_wrong_pattern(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    source = ["--from", "x.csv"] if command == "detect" else []
    assert says in _refused(capsys, command, *arguments, *source)


# test


def test_the_last_line_counts_cases_and_engines(capsys: pytest.CaptureFixture[str]) -> None:
    file = CONFORMANCE / "core_language.yaml"
    code, out, err = _run(capsys, "test", file, "--engine", "reference,local")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "36 passed, 0 failed, 0 skipped"


def test_a_failed_case_is_shown_and_the_exit_code_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text("- {pattern: '[A]', events: [A @ 1s], matches: []}\n- {pattern: '[A]', matches: []}\n")
    code, out, err = _run(capsys, "test", path, "--engine", "reference")
    assert (code, err) == (1, "")
    assert f"FAILED line 1 (detect, reference) {path}:1" in out
    assert "expected  got" in out
    assert out.endswith("\n1 passed, 1 failed, 0 skipped\n")


def test_unknown_kinds_can_be_skipped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text("{id: x, kind: dance, language: core, expect: {steps: 3}}")
    code, out, _ = _run(capsys, "test", path)
    assert (code, out.splitlines()[-1]) == (1, "0 passed, 3 failed, 0 skipped")
    code, out, _ = _run(capsys, "test", path, "--skip-unknown")
    assert (code, out.splitlines()[-1]) == (0, "0 passed, 0 failed, 3 skipped")


def test_files_that_cannot_be_read_are_all_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text("{pattern: '[A]', matchs: []}")
    err = _refused(capsys, "test", path, tmp_path / "nowhere.yaml")
    assert "did you mean 'matches'?" in err
    assert "there is no file" in err


@pytest.mark.parametrize("engine", ["kernel", "", "local,,spakr"])
def test_an_unknown_engine(capsys: pytest.CaptureFixture[str], engine: str) -> None:
    assert "engine" in _refused(capsys, "test", "x.yaml", "--engine", engine)


# explain


def test_explain_tells_everything_about_a_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(
        capsys, "explain", "([Door(room=$x)],[Temp(room=$x AND temp<15)])_{T1=5min} || [A];[B]"
    )
    assert (code, err) == (0, "")
    for part in (
        "([Door(room = $x)], [Temp(room = $x AND temp < 15)])_{T1=5min} || [A];[B]",
        "│  ├─ [Door(room = $x)]",
        "D2  [D0][D1] | [D1][D0]   (reads D0, D1; reported)",
        "Door(room = $x) ──▶ S1, starts T1=5min",
        "B ══▶ match",
        "events     Temp  room, temp (number)",
        "variables  $x",
        "timers     T1=5min",
        "S1 of D0 waits for Temp(room = $x AND temp < 15): at most 5min (T1)",
        "S1 of D1 waits for B: for ever",
        "hint: a timer bounds",
    ):
        assert part in out
    assert out.endswith("warnings\n  none\n\n")


def test_explain_warns_of_what_can_never_happen(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "explain", "[B in {B,P}];[!A in {A}];[C(k<1 AND k>2)]")
    assert code == 0
    assert "ends-for-good: P in place of the first event" in out
    assert out.count("never-matches: no event can match this") == 2
    assert "never-true: no C satisfies this condition" in out
    assert "so the pattern can never match" in out


def test_explain_draws_the_automata(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    code, out, _ = _run(capsys, "explain", "[A(s='<&\"')];[B]*;[C in {C,X}]", "--svg", path)
    assert code == 0
    assert str(path) in out
    texts = {node.text for node in ElementTree.parse(path).iter() if node.text}
    assert {"S0", "S1", "match", "fails on X", "A(s = '<&\"')"} <= texts
    err = _run(capsys, "explain", "[A]", "--svg", tmp_path / "no" / "such" / "folder.svg")[2]
    assert "cannot be written" in err


def test_explain_checks_against_declared_types(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "types.toml"
    path.write_text("[event.Seen]\nname = 'string'\n[event.Badge]\nextends = 'Seen'\ndoor = 'int'\n")
    assert _run(capsys, "explain", "[Badge(name='x' AND door=1)]", "--schema", path)[0] == 0
    code, _, err = _run(capsys, "explain", "[Bagde(door='x')];[Badge(doro=1)]", "--schema", path)
    assert code == 2
    assert "did you mean 'Badge'?" in err
    assert "did you mean 'door'?" in err
    path.write_text("[event.Seen]\nname = 'strnig'\n")
    assert "did you mean 'string'?" in _run(capsys, "explain", "[Seen]", "--schema", path)[2]


def test_explain_shows_what_the_subscriptions_of_a_pipeline_share(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    texts = {
        "one": "[A(v > 1)][B]",
        "same": "[A(v > 1)][B]",
        "other": "[A(v > 2)][B] with matches = any, take = count",
        "strict": "[A];[B]",
    }
    entries = "".join(
        f'[[subscription]]\nname = "{n}"\npattern = "{t}"\nkey = "k"\n' for n, t in texts.items()
    )
    (tmp_path / "events.csv").write_text("time,type,k,v\n")
    sources = '[[source]]\nname = "s"\nformat = "csv"\npath = "events.csv"\n'
    sinks = '[[sink]]\nformat = "parquet"\npath = "out"\n'
    (tmp_path / "pipeline.toml").write_text(sources + entries + sinks)
    assert main(["explain", str(tmp_path / "pipeline.toml")]) == 0
    shown = capsys.readouterr().out
    assert "job 0: 4 subscriptions by k" in shown
    assert "3 detectors, 1 more saved by sharing" in shown
    assert "the pattern of one serves 2" in shown
    assert "v: 2 predicates, found by one look-up of its value" in shown
    assert re.findall(r"1  (\w+)", shown.split("runs")[1]) == ["in", "counting", "one"]


def test_explain_in_another_language(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "explain", '"A" followed by "B" within "1h"', "--language", "pretty")
    assert code == 0
    assert out.startswith("pattern\n  [A];[B] within 1h\n")


# detect


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--from", "nowhere.csv"], "there is no file nowhere.csv"),
        (["--from", "setup.cfg", "--format", "xlsx"], "there is no file"),
        (["--from", __file__], "name it with --format: csv, json, parquet"),
        (["--from", __file__, "--format", "xlsx"], "there is no format 'xlsx'"),
        (["--from", "x.csv", "--limit", "0"], "a number from 1 on"),
        (["--from", "x.csv", "--output", "xml"], "invalid choice"),
    ],
)
def test_detect_refuses_what_it_cannot_read_before_spark_starts(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert says in _refused(capsys, "detect", "[A]", *arguments)


def test_the_installed_command_never_shows_a_traceback() -> None:
    """The real thing, once: everything else runs in this process."""
    program = Path(sys.executable).parent / "tocsin"
    done = subprocess.run([program, "explain", MISTAKES], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("^") >= 3
    assert "Traceback" not in done.stderr


# Which matches are wanted


def test_explain_says_which_matches_are_wanted_and_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(
        capsys, "explain", "[A];[B] with take = first 3", "--matches", "any", "--take", "last"
    )
    assert code == 0
    told = out[out.index("matches\n") : out.index("tree\n")]
    # The pattern says what is taken, and so the option does not.
    assert "(any)" in told
    assert "the first 3 of those" in told
    assert "can double" in told


@pytest.mark.parametrize(
    "command", [("explain",), ("detect", "--from", "nowhere.csv")], ids=["explain", "detect"]
)
def test_a_selection_that_is_none_is_refused(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    name, *more = command
    assert "did you mean 'leftmost'?" in _refused(capsys, name, "[A]", "--matches", "leftmst", *more)
    assert "all, first 3, last or count" in _refused(capsys, name, "[A]", "--take", "first", *more)
    ecl = ("repeat {push(x) {a}}", "--language", "ecl", "--take", "last")
    assert "ECL does not take `take`" in _refused(capsys, name, *ecl, *more)
