"""`tocsin rules`: changes are checked, numbered and listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.runtime.stream.rule_book import Rule
from tocsin.spark.rules.folder import Query, write_query


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["rules", *(str(argument) for argument in arguments)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a query that has begun."""
    rules = (Rule("Alarm", "[Smoke];[Button]"),)
    write_query(tmp_path / "rules", Query("core", {"temp": "int", "room": "string"}, rules))
    return tmp_path / "rules"


def test_changes_are_written_in_their_order_and_listed(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "fire.txt").write_text('"Smoke" followed by "Heat"')
    for arguments in (
        ("add", folder, "Fire", "[Smoke];[Heat(temp > 60)]", "--option", "restart=always", "--take", "last"),
        ("replace", folder, "Fire", f"@{tmp_path / 'fire.txt'}", "--language", "pretty"),
        ("remove", folder, "Alarm"),
    ):
        assert run(capsys, *arguments)[0] == 0
    assert sorted(file.name for file in folder.iterdir()) == [
        "000001.json", "000002.json", "000003.json", "_query.json",
    ]  # fmt: skip
    assert json.loads((folder / "000001.json").read_text()) == {
        "action": "add",
        "name": "Fire",
        "text": "[Smoke];[Heat(temp > 60)]",
        "language": "core",
        "options": {"restart": "always"},
        "take": "last",
    }
    assert json.loads((folder / "000003.json").read_text()) == {"action": "remove", "name": "Alarm"}
    (folder / "000004.json").write_text('{"action": "add"}')
    (folder / "000005.json").write_text('{"action": "add", "name": "Cold", "text": "[Heat(tmep < 0)]"}')
    code, out, _ = run(capsys, "list", folder)
    assert (code, out.splitlines()) == (
        0,
        [
            "000001.json  add Fire      [Smoke];[Heat(temp > 60)]",
            '000002.json  replace Fire  "Smoke" followed by "Heat"',
            "000003.json  remove Alarm",
            "000004.json                bad-change: 000004.json: a change names no rule",
            "000005.json  add Cold      unknown-attribute: Heat has no attribute 'tmep'",
            "then in force: Fire",
        ],
    )
    _, out, _ = run(capsys, "list", folder, "--json")
    listed = [json.loads(line) for line in out.splitlines()]
    assert [(one["file"], one.get("name"), one.get("code")) for one in listed] == [
        ("000001.json", "Fire", None),
        ("000002.json", "Fire", None),
        ("000003.json", "Alarm", None),
        ("000004.json", None, "bad-change"),
        ("000005.json", "Cold", "unknown-attribute"),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("add", "Fire", "[Smoke];[Heat(tmep > 60)]"), "unknown-attribute: Heat has no attribute 'tmep'"),
        (("add", "Fire", "[Smoke"), "open-bracket: "),
        (("add", "Alarm", "[Smoke]"), "duplicate-name: there is a rule 'Alarm' already"),
        (
            ("replace", "Alarms", "[Smoke]"),
            "unknown-rule: there is no rule 'Alarms'\nhint: did you mean 'Alarm'?",
        ),
        (("remove", "Fire"), "unknown-rule: there is no rule 'Fire'"),
        (("add", "Fire", "repeat {push(x) {A}}", "--language", "ecl"), "other-language: "),
        (("add", "Fire", "[Smoke]", "--option", "restart=never"), "bad-option: "),
    ],
)
def test_a_wrong_change_is_not_written(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: tuple[str, ...], expected: str
) -> None:
    action, *others = arguments
    code, out, err = run(capsys, action, folder, *others)
    assert (code, out) == (2, "")
    assert err.startswith(expected)
    assert [file.name for file in folder.iterdir()] == ["_query.json"]


def test_before_there_is_a_query_only_the_text_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "rules"
    _, out, _ = run(capsys, "add", folder, "Fire", "[Smoke];[Heat(tmep > 60)]")
    assert "no query has watched this folder yet" in out
    assert run(capsys, "remove", folder, "Alarm")[0] == 0
    assert run(capsys, "add", folder, "Cold", "[Heat")[0] == 2
    ecl = ("add", folder, "Sends", "repeat {push(x) {A}}", "--language", "ecl")
    assert run(capsys, *ecl)[0] == 0
    ksu = (
        "add",
        folder,
        "Both",
        "N correlation C (A a, B b) l:(a+b) { case l: push a }",
        "--language",
        "ksu",
    )
    assert run(capsys, *ksu)[0] == 0
    code, _, err = run(capsys, "list", tmp_path / "rule")
    assert (code, err) == (
        2,
        f"no-file: there is no folder {tmp_path / 'rule'}\nhint: did you mean 'rules'?\n",
    )
