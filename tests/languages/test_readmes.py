"""The READMEs of the languages say what is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from languages.tables import FOLDER, rows
from tocsin.algebra.tokens import check, extent

LANGUAGES = ("core", "pretty", "binding")
CODE = re.compile(r"""(?:PatternError\(|note\(|_error\()\s*"([a-z-]+)\"""")


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples(language: str) -> None:
    assert doctest.testfile(str(FOLDER / language / "README.md"), module_relative=False).failed == 0


def documented() -> set[str]:
    """Every code that a table of errors explains."""
    tables = [rows("core", "Errors")]
    tables.append(rows("pretty", "Errors besides those of the core language"))
    tables.append(rows("binding", "Errors besides those of the core and pretty languages"))
    return {code for table in tables for row in table for code in row[0]}


def used() -> set[str]:
    """Every code that the languages and the check can give."""
    shared = [
        file for file in FOLDER.glob("*.py") if file.name != "yaml_document.py"
    ]  # of rule files, not of patterns
    files = [Path(check.__file__), Path(extent.__file__), *shared]
    files += [file for language in LANGUAGES for file in (FOLDER / language).glob("*.py")]
    return {code for file in files for code in CODE.findall(file.read_text(encoding="utf-8"))}


def test_every_error_is_explained() -> None:
    assert documented() == used()
