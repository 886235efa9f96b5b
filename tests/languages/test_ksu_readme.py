"""The README of the KSU language says what is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import tocsin.algebra
from languages.tables import FOLDER, rows
from tocsin.languages.ksu import parse, parse_filter

CODE = re.compile(r'(?:PatternError\(|note\()\s*"([a-z-]+)"')
ALGEBRA = Path(tocsin.algebra.__path__[0])


def _used(*files: Path) -> set[str]:
    return {code for file in files for code in CODE.findall(file.read_text(encoding="utf-8"))}


def test_examples() -> None:
    assert doctest.testfile(str(FOLDER / "ksu" / "README.md"), module_relative=False).failed == 0


def test_every_error_and_warning_is_explained() -> None:
    explained = {
        code for heading in ("Errors", "Warnings") for row in rows("ksu", heading) for code in row[0]
    }
    parsers = [FOLDER / "lexis.py", *(FOLDER / "ksu").glob("*.py")]
    checks = [ALGEBRA / "correlation/check.py", ALGEBRA / "correlation/warnings.py"]
    # Durations and times are words of other languages.
    assert explained - {"too-many-errors"} == _used(*parsers, *checks) - {"bad-duration", "bad-time"}


def test_every_operator_can_be_read() -> None:
    for row in rows("ksu", "Filters"):
        assert parse_filter(row[0][0])


def test_every_statement_can_be_read() -> None:
    for row in rows("ksu", "Transformers"):
        text = f"T correlation C (T a) l1:a | l2:a {{ case l1: {row[0][0]} }}"
        assert len(parse(text).correlations[0].cases[0].body) == 1
