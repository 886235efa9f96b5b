"""`tocsin translate` and `tocsin probe` print what the rooms behind them find."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support import pairs_languages
from tocsin.algebra.pairs.groups import Traits
from tocsin.cli import main
from tocsin.languages import registry

DETECTOR = """
import json, sys
for line in sys.stdin:
    found, opened = [], None
    for event in json.loads(line)["events"]:
        if event["type"] == "a":
            opened = event["id"]
        elif opened:
            found.append([opened, event["id"]])
    print(json.dumps({"matches": found}), flush=True)
"""


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two languages of the event algebra, as other packages bring them."""
    simple = pairs_languages.language_of("simple", Traits.of("conjunction", "disjunction", "negation"))
    known = {"algebra": pairs_languages.ALGEBRA, "simple": simple}
    monkeypatch.setattr(registry, "_foreign_by_name", known.get)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_translation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "translate", "(a ; b)", "--from", "algebra", "--to", "simple")
    assert code == 0
    assert out.splitlines() == [
        "(a, b)",
        "  kind: transferring",
        "  post-filter: t(N(a)) < t(N(b))",
        "  lost: temporal order of (a ; b), recovered by the post-filter",
        "  rule: Table 17, row 5: (a ; b) is transferring",
    ]


def test_several_targets_are_put_in_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "profile.txt"
    file.write_text("(a ; b)_5")
    _, out, _ = run(capsys, "translate", f"@{file}", "--from", "algebra", "--to", "simple", "--to", "algebra")
    assert [line for line in out.splitlines() if line.endswith(":")] == ["Algebra:", "Simple:"]
    _, out, _ = run(capsys, "translate", "a[1]", "--from", "algebra", "--to", "simple", "--json", "--exact")
    assert json.loads(out)["profiles"] == ["a"]


def test_what_cannot_be_translated_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "translate", "(a ; b)", "--from", "algebra", "--to", "ksu")
    assert (code, out) == (2, "")
    assert "KSU is not a language of the event algebra" in err


def test_a_detector_is_probed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    script = tmp_path / "detector.py"
    script.write_text(DETECTOR)
    code, out, _ = run(capsys, "probe", "--profile", "sequence=a ; b", "--", sys.executable, str(script))
    assert code == 0
    assert "explained by: last, keep" in out
    _, out, _ = run(capsys, "probe", "--language", "algebra", "--json", "--", sys.executable, str(script))
    assert [one["operator"] for one in json.loads(out)["operators"]] == [
        "sequence",
        "conjunction",
        "disjunction",
        "simultaneity",
    ]


def test_a_probe_needs_something_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "probe", "--", "nothing")
    assert code == 2
    assert "there is nothing to ask" in err
    code, _, err = run(capsys, "probe", "--profile", "sequence", "--", "nothing")
    assert "has no text" in err
