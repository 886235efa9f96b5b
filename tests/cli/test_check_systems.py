"""`tocsin check system.cad`: what is said of a system, with the traces that show it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tocsin.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "avionics"
Checked = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checked:
    shutil.copytree(EXAMPLE, tmp_path / "avionics")
    monkeypatch.chdir(tmp_path / "avionics" / "system")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["check", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


@pytest.mark.slow
def test_the_modal_scenario_does_what_is_specified(check: Checked) -> None:
    code, out, err = check("modal.cad", "--strict")
    assert (code, err) == (0, "")
    assert out.startswith(
        "system modal.cad\nmade of   6 instances, 12 connections, 1 correlation, and a queue with 2 places\n"
    )
    assert "\nsearched  11,931 states, all that can be reached, with 23,103 moves\n" in out
    assert [line.rpartition(": ")[2] for line in out.splitlines() if line.endswith(("holds", "fails"))] == [
        "holds"
    ] * 4


@pytest.mark.slow
def test_the_wrong_variant_is_found_with_its_trace(check: Checked) -> None:
    code, out, _ = check("wrong.cad", "--strict")
    assert code == 1
    trace = "fails\n  1. pilot moves, sends pilot.land\n  2. pilot.land is delivered\n"
    assert f"Shown: always possible display in shown: {trace}" in out
    code, out, _ = check("wrong.cad", "--json")
    (report,) = json.loads(out)["systems"]
    assert code == 0
    answers = {one["name"]: one for one in report["specifications"]}
    assert answers["Shown"]["trace"] == ["pilot moves, sends pilot.land", "pilot.land is delivered"]
    assert (answers["Alive"]["answer"], report["states"]["all"]) == ("holds", True)


def test_a_bound_is_said_and_leaves_things_open(check: Checked) -> None:
    _, out, _ = check("modal.cad", "--states", "100")
    assert "searched  100 states; there are more, and 100 is the bound, with " in out
    assert "Shown: always possible display in shown: not known" in out


def test_slices(check: Checked) -> None:
    _, out, _ = check("modal.cad", "--states", "1", "--slice", "display.choice")
    assert out.endswith(
        "what can influence display.choice\n  pilot.navigate\n  pilot.attack\n  pilot.land\n\n"
    )
    code, _, err = check("modal.cad", "--slice", "display.mod")
    assert (code, err) == (
        2,
        "unknown-port: there is no port 'display.mod'\nhint: did you mean 'display.mode'?\n",
    )


def test_mistakes_and_warnings(check: Checked) -> None:
    text = Path("modal.cad").read_text()
    Path("bad.cad").write_text(text.replace("-> ModalSteering.frame", "-> ModalSteering.nav"))
    code, _, err = check("bad.cad")
    assert code == 2
    assert "wrong-type: airframe.out1 has the type Attitude, and ModalSteering.nav takes Steering" in err
    assert "bound-twice: event ModalSteering.nav is bound twice" in err
    Path("bad.cad").write_text(text.replace("queue 2;", "queue two;"))
    code, _, err = check("bad.cad")
    assert (code, err.splitlines()[0].startswith("syntax: expected how many events may be under way")) == (
        2,
        True,
    ), err
    Path("bad.cad").write_text(text.replace("connect navigator.fix -> ModalSteering.fix;", ""))
    code, out, _ = check("bad.cad", "--states", "10", "--strict")
    assert code == 1
    assert "unbound-event: event fix of ModalSteering is bound to no port" in out


def test_options_that_do_not_apply_are_refused(check: Checked) -> None:
    assert "--equal does not apply to systems" in check("modal.cad", "--equal", "A", "B")[2]
    assert "--states is a number from 1" in check("modal.cad", "--states", "0")[2]
    assert "a system is checked by itself" in check("modal.cad", "../modes.cor")[2]
    assert "no file here takes --slice" in check("../modes.cor", "--slice", "A.b")[2]
    assert "says nothing by itself" in check("../avionics.cad")[2]
