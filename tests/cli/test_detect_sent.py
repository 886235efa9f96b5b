"""`tocsin detect` with ECL and KSU: what was sent as a table or as JSON lines, and mistakes told before Spark starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tocsin.cli import main

FLIGHT = """\
time,type,source,altitude,SourceID
2024-01-01T00:00:01,Notify,GPS.out1,900,1
2024-01-01T00:00:02,Notify,INS.out1,480,2
2024-01-01T00:00:03,Alarm,INS.out1,450,3
2024-01-01T00:00:04,Notify,GPS.out1,700,4
"""
ECL = """\
subscribe Low {repeat {push(Low {by = event.altitude, level = 3}) {<altitude < 500>}}}
subscribe Fix {repeat {push(fix) {<source = "GPS.out1">}}}
subscribe Once {Alarm}
"""
MACHINE = """\
machine Hand {
  states off on done; initial off; success done;
  trans t1: {off} <altitude > 800> clear {off} goto {on};
  trans t2: {on} Alarm clear {on} goto {done} out Low {by = event.altitude};
}
"""
IDL = "eventtype Notify { attribute short SourceID; };\neventtype Alarm { };\n"
COR = """\
Notify correlation Latest (Notify a, Notify b) l1:(a;b) | l2:(b;a) {
  case l1: push b;
  case l2: push new Notify { SourceID = 7 };
}
"""
CAD = "connect GPS.out1 -> Latest.a;\nconnect INS.out1 -> Latest.b;\n"
PORTS = "Latest.a=GPS.out1, Latest.b=INS.out1"
FILES = {"flight.csv": FLIGHT, "low.ecl": ECL, "events.idl": IDL, "latest.cor": COR, "flight.cad": CAD}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(
    capsys: pytest.CaptureFixture[str], *arguments: str, file: str = "flight.csv"
) -> tuple[int, str, str]:
    code = main(["detect", *arguments, "--from", file])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert "java" not in err.lower()
    return code, out, err


def _lines(out: str) -> list[str]:
    return [" ".join(line.split()) for line in out.splitlines()]


def _rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


# On Spark


@pytest.mark.spark
@pytest.mark.slow
def test_the_table_shows_what_was_sent(
    spark: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = _run(capsys, "@low.ecl")
    assert (code, err) == (0, "5 rows\n")
    lines = _lines(out)
    assert lines[1] == "start end pattern events what type value"
    assert sorted(line.split(maxsplit=4)[4] for line in lines[3:] if line) == [
        "Fix Notify 00:00:01 source=GPS.out1 altitude=900 SourceID=1 push fix fix",
        "Fix Notify 00:00:04 source=GPS.out1 altitude=700 SourceID=4 push fix fix",
        "Low Alarm 00:00:03 source=INS.out1 altitude=450 SourceID=3 push Low by=450 level=3",
        "Low Notify 00:00:02 source=INS.out1 altitude=480 SourceID=2 push Low by=480 level=3",
        "Once Alarm 00:00:03 source=INS.out1 altitude=450 SourceID=3 success",
    ]


@pytest.mark.spark
@pytest.mark.slow
def test_a_machine_file_is_a_subscription(
    spark: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "hand.ecl").write_text(MACHINE)
    code, out, err = _run(capsys, "@hand.ecl", "--output", "jsonl")
    assert (code, err) == (0, "2 rows\n")
    pushed, ended = _rows(out)
    assert (pushed["pattern"], pushed["what"], pushed["output"]) == ("Hand", "push", {"Low": {"by": 450}})
    assert (ended["pattern"], ended["what"]) == ("Hand", "success")


def test_a_machine_that_never_stops_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "hand.ecl").write_text("machine M { states q; initial q; trans t: {q} eps goto {q}; }")
    code, _, err = _run(capsys, "@hand.ecl")
    assert (code, err.splitlines()[0][:22]) == (2, "endless-internal-steps")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("bound", [("--ports", PORTS), ("--assembly", "flight.cad")])
def test_json_lines_have_every_column(
    spark: object, folder: Path, capsys: pytest.CaptureFixture[str], bound: tuple[str, str]
) -> None:
    told = ("--option", "triggers=true", "--output", "jsonl")
    code, out, err = _run(capsys, "@latest.cor", "--types", "events.idl", *bound, *told)
    assert (code, err) == (0, "3 rows\n")
    trigger, push, dead = _rows(out)
    assert (trigger["what"], trigger["type"], trigger["value"]) == ("trigger", "branch 1", "l1")
    assert (push["what"], push["type"], push["value"]) == ("push", "Notify", "b")
    assert (push["output"], push["pattern"]) == ({"Notify": {"SourceID": 2}}, "Latest")
    assert (dead["what"], dead["variables"], dead["constituents"][0]["type"]) == ("dead", {}, "Alarm")


@pytest.mark.spark
@pytest.mark.slow
def test_a_key_a_source_and_a_limit(spark: object, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "flight.csv").write_text(FLIGHT.replace("source", "device"))
    given = ("--source", "device", "--key", "type", "--limit", "1", "--output", "jsonl")
    code, out, err = _run(capsys, 'repeat {push(*) {<source = "INS.out1">}}', "--language", "ecl", *given)
    assert (code, err) == (0, "the first row; --limit N shows more\n")
    (row,) = _rows(out)
    assert (row["type_"], row["output"]["forwarded"]["SourceID"]) == ("Notify", 2)


@pytest.mark.spark
@pytest.mark.slow
def test_nothing_is_sent(spark: object, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "repeat {push(x) {Nothing}}", "--language", "ecl")
    assert (code, out) == (0, "")
    assert err.startswith("warning: never-occurs: no event is of the type 'Nothing'\n")
    assert err.endswith("no row\n")


@pytest.mark.spark
@pytest.mark.slow
def test_a_field_that_is_no_column_is_underlined_in_its_file(
    spark: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "low.ecl").write_text("// too low\nrepeat {push(x) {<altitud < 500>}}")
    code, out, err = _run(capsys, "@low.ecl")
    assert (code, out) == (2, "")
    assert "(low.ecl, line 2, column 19)" in err
    assert "did you mean 'altitude'?" in err


@pytest.mark.spark
@pytest.mark.slow
def test_a_value_that_does_not_fit_its_declared_type_is_told_in_a_line_or_two(
    spark: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "flight.csv").write_text(FLIGHT.replace(",2\n", ",70000\n"))
    code, _, err = _run(capsys, "@latest.cor", "--types", "events.idl", "--ports", PORTS)
    assert code == 2
    assert err.startswith("wrong-type: 'SourceID' of 'Notify' is declared as int16")
    assert err.count("\n") < 4


# Before Spark: the file of events is never looked for


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["repeat {push(x) {a}", "--language", "ecl"], "open-bracket"),
        (["a", "--language", "elc"], "did you mean 'ecl'?"),
        (["a", "--language", "ecl", "--option", "unless_ti=failure"], "did you mean 'unless_tie'?"),
        (["a", "--language", "ecl", "--option", "unless_tie=maybe"], "one of success, failure"),
        (["a", "--language", "ecl", "--option", "restart=always"], "ECL has no option 'restart'"),
        (["[A]", "--option", "unless_tie=failure"], "the core language has no option 'unless_tie'"),
        (["@latest.cor", "--option", "triger=true"], "did you mean 'triggers'?"),
        (["@latest.cor", "--option", "triggers=perhaps"], "one of true, false"),
        (["@latest.cor", "--option", "overwrite=oldest"], "one of recent, earliest"),
        (["@latest.cor"], "(latest.cor, line 1, column 38)"),
        (["@latest.cor", "--ports", "Latest.a"], "write Correlation.event=source"),
        (["@latest.cor", "--ports", "Latest.a=x,Latest.a=y"], "bind Latest.a twice"),
        (["@latest.cor", "--ports", "Latest.a=x,Latest.b=x"], "bound to both a and b"),
        (["@latest.cor", "--ports", "Latset.a=x"], "did you mean 'Latest'?"),
        (["@latest.cor", "--ports", "Latest.c=x"], "has no event 'c'"),
        (["@latest.cor", "--ports", PORTS, "--assembly", "flight.cad"], "keep one"),
        (["@latest.cor", "--types", "none.idl"], "there is no file none.idl"),
        (["@low.ecl", "--types", "events.idl"], "ECL has no --types"),
        (["[A]", "--ports", PORTS], "the core language has no option 'ports'"),
        (["@low.ecl", "--language", "core"], "(low.ecl, line 1"),
    ],
)
def test_what_is_wrong_is_said_before_spark_starts(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    code, out, err = _run(capsys, *arguments, file="never.read")
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("latest.cor", COR.replace("case l2", "case l3"), "(latest.cor, line 3, column 8)"),
        ("events.idl", IDL.replace("short", "shirt"), "(events.idl, line 1, column 30)"),
        ("flight.cad", CAD.replace("Latest.b", "Latest.c"), "(flight.cad, line 2, column 21)"),
    ],
)
def test_a_mistake_names_the_file_it_is_in(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, says: str
) -> None:
    (folder / name).write_text(text)
    given = ("@latest.cor", "--types", "events.idl", "--assembly", "flight.cad")
    code, out, err = _run(capsys, *given, file="never.read")
    assert (code, out) == (2, "")
    assert says in err
    assert "hint: " in err
