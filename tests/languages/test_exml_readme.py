"""The README of EXML-QL says what is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import tocsin.algebra
from languages.tables import FOLDER, rows

CODE = re.compile(r'note\(\s*"([a-z-]+)"|PatternError\(\s*"([a-z-]+)"')
ALGEBRA = Path(tocsin.algebra.__path__[0])


def test_examples() -> None:
    assert doctest.testfile(str(FOLDER / "exml_ql" / "README.md"), module_relative=False).failed == 0


def test_every_error_is_explained() -> None:
    explained = {code for row in rows("exml_ql", "Errors") for code in row[0]}
    files = [*(FOLDER / "exml_ql").glob("*.py"), ALGEBRA / "blocks" / "check.py"]
    used = {a or b for file in files for a, b in CODE.findall(file.read_text(encoding="utf-8"))}
    assert explained == used
