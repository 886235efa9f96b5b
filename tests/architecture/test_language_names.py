"""No file outside `languages/` names a language: everything goes through `Language` and the registry."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tocsin.languages.builtin import LANGUAGES

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tocsin"
NAMES = {name for one in LANGUAGES for name in (one.name, *one.aliases)}
ENDINGS = {ending for one in LANGUAGES for ending in one.endings}
# `tocsin.event` builds patterns in Python, and lies in the binding; everything else of the package is found by name.
# A function of the token family that makes plans bears the name of a system; a kind of cases is called after the language whose
# rules section 5.3 of paper 004 works out.
STATED = {
    ("__init__.py", "tocsin.languages.binding"),
    ("automata/tokens/__init__.py", "plan"),
    ("cases/pairs/translation.py", "samos"),
}


def _named(tree: ast.AST) -> Iterator[str]:
    """The languages that a module names: as text, or by importing from their folders."""
    folders = {f"tocsin.languages.{name}" for name in NAMES}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text in NAMES or text in ENDINGS or _inside(text, folders):
                yield text
            case ast.ImportFrom(module=str(module)):
                if _inside(module, folders):
                    yield module
                elif module == "tocsin.languages":
                    yield from (alias.name for alias in node.names if alias.name in NAMES)
            case ast.Import():
                yield from (alias.name for alias in node.names if _inside(alias.name, folders))
            case _:
                pass


def _inside(module: str, folders: set[str]) -> bool:
    return any(module == folder or module.startswith((f"{folder}.", f"{folder}:")) for folder in folders)


def test_no_file_outside_languages_names_one() -> None:
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] != "languages"
        for name in _named(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == STATED


def test_the_search_finds_what_it_looks_for() -> None:
    text = """
import tocsin.languages.core.parser
from tocsin.languages import ecl, registry
from tocsin.languages.ksu import parse
language = "cambridge-pretty"
hook = "tocsin.languages.core:parse"
"""
    assert set(_named(ast.parse(text))) == {
        "tocsin.languages.core.parser",
        "ecl",
        "tocsin.languages.ksu",
        "cambridge-pretty",
        "tocsin.languages.core:parse",
    }
