"""Every example of the README and of the pages under docs is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from docs.pages import blocks, fits, run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("README.md")])


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_page(
    page: Path,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tocsin.cli import main

    def command(words: list[str]) -> str:
        capsys.readouterr()
        main(words)
        printed = capsys.readouterr()
        return printed.out + printed.err

    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "examples", tmp_path / "examples")
    run_page(page.read_text(), tmp_path, command, {"spark": spark})


def test_a_wrong_example_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_page("```python\n>>> 1 + 1\n3\n```\n", tmp_path, lambda words: "", {})
    with pytest.raises(AssertionError):
        run_page("```console\n$ tocsin --version\ntocsin 0\n```\n", tmp_path, lambda words: "tocsin 1", {})


def test_blocks_know_their_file_and_line() -> None:
    (block,) = blocks("text\n\n```yaml file=cases.yaml\na: 1\n```\n")
    assert (block.language, block.file, block.line) == ("yaml", "cases.yaml", 4)


def test_an_ellipsis_stands_for_anything() -> None:
    assert fits("read …\ndone", "read 5 events\nin 3 s\ndone")
    assert not fits("read …\ndone", "read 5 events")
