"""Subscriptions from rule files: names, metadata, mistakes with the place in their file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.errors import PipelineErrors
from tocsin.languages.rule_file import Metadata
from tocsin.spark.pipeline import read_pipeline

HEAD = """\
[[source]]
name = "doors"
format = "csv"
path = "doors.csv"

"""
FOLDER = HEAD + '[[subscription]]\nfile = "rules/*"\nkey = "room"\nseverity = "low"\ntags = ["all"]\n'


def _pipeline(folder: Path, text: str, rules: dict[str, str]) -> Path:
    (folder / "rules").mkdir()
    (folder / "doors.csv").write_text("time,type,room\n1,Open,A\n")
    for name, content in rules.items():
        (folder / "rules" / name).write_text(content)
    (folder / "job.toml").write_text(text)
    return folder / "job.toml"


def test_a_folder_of_rules(tmp_path: Path) -> None:
    rules = {
        "left-open.tocsin": "---\nseverity: high\nquiet: 1h\nkey: [room, who]\n---\n[Open];[Open]\n",
        "both.ecl": "---\nname: Both\ndescription: both\n---\nrepeat {push(x) {accumulate {Open, Close}}}\n",
        "plain.tocsin": "[Open];[Close]",
    }
    pipeline = read_pipeline(_pipeline(tmp_path, FOLDER, rules))
    by_name = {entry.name: entry for entry in pipeline.subscriptions}
    assert list(by_name) == ["Both", "left_open", "plain"]
    assert by_name["left_open"].metadata == Metadata(None, "high", ("all",))
    assert (by_name["left_open"].key, by_name["left_open"].quiet) == (("room", "who"), 3_600_000_000)
    assert by_name["Both"].metadata == Metadata("both", "low", ("all",))
    assert (by_name["Both"].language, by_name["Both"].key) == ("ecl", ("room",))
    assert by_name["plain"].text == "[Open];[Close]"


def test_mistakes_name_the_rule_file_and_its_line(tmp_path: Path) -> None:
    rules = {
        "a.tocsin": "---\nseverty: high\n---\n[Open]\n",
        "b.tocsin": "---\nname: B\nseverity: high\n---\n[Open];\n[Clo",
        "c.tocsin": "---\noptions: {restrt: always}\n---\n[Open]\n",
    }
    path = _pipeline(tmp_path, FOLDER, rules)
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    first = [(Path(e.file or "").name, e.code) for e in raised.value.errors]
    assert sorted(first) == [("a.tocsin", "unknown-key"), ("c.tocsin", "unknown-option")]
    for name in ("a.tocsin", "c.tocsin"):
        (tmp_path / "rules" / name).unlink()
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    (problem,) = raised.value.errors
    assert problem.span is not None
    assert (Path(problem.file or "").name, problem.span.line_column[0]) == ("b.tocsin", 6)
    assert "6 | [Clo" in str(problem)


@pytest.mark.parametrize(
    ("text", "rules", "code"),
    [
        (FOLDER, {}, "no-file"),
        (FOLDER + 'name = "All"\n', {"a.tocsin": "[Open]"}, "bad-value"),
        (
            FOLDER,
            {"a.tocsin": "---\nname: A\n---\n[Open]", "b.tocsin": "---\nname: A\n---\n[Open]"},
            "duplicate-name",
        ),
        (FOLDER, {"a.ecl": "---\nquiet: 1h\n---\nrepeat {push(x) {Open}}"}, "bad-value"),
        (HEAD + '[[subscription]]\nfile = "rules/none.tocsin"\n', {}, "no-file"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, rules: dict[str, str], code: str) -> None:
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(_pipeline(tmp_path, text, rules))
    assert [error.code for error in raised.value.errors] == [code]


def test_many_rules_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _pipeline(tmp_path, FOLDER, {f"r{n}.tocsin": f"[Open(n = {n})];[Close]" for n in range(300)})
    assert main(["run", str(path), "--check"]) == 0
    assert capsys.readouterr().out == f"{path}: no mistakes; 300 subscriptions\n"


def test_a_rule_file_holds_its_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = "---\nname: Both\nkey: room\n---\n[Open];[Close]\n---\n"
    rule += "- name: in one room\n  events: [Open @ 1s room=1, Close @ 2s room=2, Close @ 3s room=1]\n  matches: [[1, 3]]\n"
    path = _pipeline(tmp_path, FOLDER, {"both.tocsin": rule})
    for given in (str(tmp_path / "rules" / "both.tocsin"), str(path)):
        assert main(["test", given, "--engine", "reference,local"]) == 0
        assert capsys.readouterr().out == "2 passed, 0 failed, 0 skipped\n"


def test_cases_name_a_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _pipeline(tmp_path, FOLDER, {"both.tocsin": "---\nname: Both\n---\n[Open];[Close]\n"})
    events = "events: [Open @ 1s room=1, Close @ 2s room=2, Close @ 3s room=1]"
    cases = tmp_path / "cases.yaml"
    cases.write_text(
        f"- pipeline: {path.name}\n  rule: Both\n  {events}\n  matches: [[1, 3]]\n"
        f"- file: rules/both.tocsin\n  {events}\n  matches: [[1, 2]]\n"
    )
    assert main(["test", str(cases), "--engine", "reference"]) == 0, capsys.readouterr()
    cases.write_text(f"- pipeline: {path.name}\n  rule: Bth\n  {events}\n  matches: []\n")
    assert main(["test", str(cases)]) == 2
    printed = capsys.readouterr().err
    assert "unknown-subscription" in printed
    assert "did you mean 'Both'?" in printed
