"""`tocsin languages`."""

from __future__ import annotations

import pytest

from tocsin.cli import main
from tocsin.languages.language import Language
from tocsin.languages.registry import languages


def test_the_table_has_every_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["languages"]) == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines() if line]
    assert {one.name for one in languages()} <= {line[0] for line in lines}
    groups = [line[1] for line in lines if line[0] in {"plan", "rebeca", "snoop", "gem", "eve"}]
    assert groups == ["CE", "SCE", "TCE", "OTCE", "STCE"]  # the most expressive last


@pytest.mark.parametrize("own", languages(), ids=lambda own: own.name)
def test_each_has_a_page(own: Language, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["languages", own.name]) == 0
    printed = capsys.readouterr().out
    assert own.title in printed
    assert own.name in printed
    for option in own.option_names:
        assert option in printed


def test_a_page_says_where_it_is_from_and_what_is_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["languages", "sentinel"]) == 0
    printed = capsys.readouterr().out
    for expected in (
        "section 3.2, Table 3",
        "TCE",
        "A* ( a , b , c )",
        "recent, chronicle, continuous",
        "ours",
    ):
        assert expected in printed


def test_a_language_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["languages", "snop"]) == 2
    assert "did you mean 'snoop'" in capsys.readouterr().err
