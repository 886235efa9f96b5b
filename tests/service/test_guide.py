"""The page about the service is right, without Spark; `tests/docs` runs it with all the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.pages import run_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "service.md"


def test_the_page_about_the_service_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(PAGE.read_text(encoding="utf-8"), tmp_path, lambda words: "", {}) >= 10
