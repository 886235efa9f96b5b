"""What the subscriptions of a job share, as values."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.cli import main
from tocsin.explain.contents import Job, Kernels, Sharing
from tocsin.explain.job_sharing import explain_jobs
from tocsin.languages.registry import parse


class _Planned(NamedTuple):
    number: int
    key: tuple[str, ...]
    names: tuple[str, ...]
    compiled: Compiled


def _planned(**texts: str) -> _Planned:
    subscriptions = [parse(text, name=name) for name, text in texts.items()]
    return _Planned(0, ("k",), tuple(texts), compile(subscriptions))


def test_what_a_job_shares_is_counted() -> None:
    job = _planned(one="[A(v > 1)][B]", same="[A(v > 1)][B]", other="[A(v > 2)][B] with take = count")
    found = explain_jobs([job], "# a pipeline")
    assert (found.family, found.text) == ("pipeline", "# a pipeline")
    assert found.parts(Job) == (Job(0, ("k",), ("one", "same", "other")),)
    (sharing,), (kernels,) = found.parts(Sharing), found.parts(Kernels)
    assert (sharing.detectors, sharing.saved, sharing.most_used) == (2, 1, {"the pattern of one": 2})
    assert (sharing.predicates, sharing.predicate_uses, sharing.looked_up) == (3, 4, {"v": 2})
    assert sharing.words == 1
    assert {one.kernel: one.count for one in kernels.kernels} == {"groups": 1, "counting": 1}


def test_a_single_subscription_shares_nothing() -> None:
    (sharing,) = explain_jobs([_planned(one="[A][B]")], "").parts(Sharing)
    assert (sharing.saved, sharing.most_used, sharing.words) == (0, {}, None)


def test_many_names_are_cut_in_text_only() -> None:
    job = _planned(**{f"s{n}": "[A]" for n in range(25)})
    found = explain_jobs([job], "")
    assert "  s19\n  … and 5 more\n" in str(found)
    assert len(found.parts(Job)[0].subscriptions) == 25


@pytest.mark.parametrize("option", [["--svg", "x.svg"], ["--take", "last"], ["--option", "restart=always"]])
def test_an_option_that_does_not_apply_to_a_pipeline_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    path = tmp_path / "pipeline.toml"
    path.write_text("")
    assert main(["explain", str(path), *option]) == 2
    assert f"{option[0]} does not apply to a pipeline" in capsys.readouterr().err
