"""Colours of the languages: the Pygments lexers, and the grammars of the extension for Visual Studio Code."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from tocsin.languages.builtin import LANGUAGES
from tocsin.languages.core import words as core
from tocsin.languages.ecl import words as ecl
from tocsin.languages.ksu import words as ksu

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
ENTRIES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"][
    "pygments.lexers"
]
WORDS = {"tocsin": core.RESERVED, "tocsin-ecl": ecl.MACHINE_RESERVED, "tocsin-ksu": ksu.RESERVED}
CONSTANTS = {"true", "false"}


def lexer(name: str) -> Any:
    module, _, value = ENTRIES[name].partition(":")
    found = getattr(import_module(module), value)
    assert name in found.aliases
    return found()


def kinds(name: str, text: str) -> dict[str, Any]:
    return {value.strip(): kind for kind, value in lexer(name).get_tokens(text)}


def sources() -> list[Path]:
    return [
        file for ending in (".tocsin", ".ecl", ".cor") for file in (ROOT / "examples").rglob(f"*{ending}")
    ]


def test_no_name_is_one_that_pygments_has() -> None:
    for name in ENTRIES:
        try:
            taken = get_lexer_by_name(name)
        except ValueError:  # Tocsin is not installed: nobody has it
            continue
        assert type(taken).__module__.startswith("tocsin."), name


def test_the_core_language_in_colours() -> None:
    found = kinds(
        "tocsin",
        "Hot := ([Temp(temp >= 30 AND room = 'FE02')]); // warm\n([Hot], [T1 in {T1, Door}])_{T1=5min}",
    )
    assert found["Hot"] == Name.Class
    assert found["Temp"] == Name.Class
    assert found["Door"] == Name.Class
    assert found["AND"] in Keyword
    assert found["in"] in Keyword
    assert found["30"] in Number
    assert found["5min"] in Number
    assert found["'FE02'"] in String
    assert found[">="] in Operator
    assert found["// warm"] in Comment
    assert found["room"] == Name


def test_a_file_of_a_rule_has_yaml_around_its_pattern() -> None:
    found = kinds("tocsin", "---\nname: Fire\n---\n[Smoke];[Heat]\n---\n- events: [Smoke @ 1s]\n")
    assert found["name"] == Name.Tag
    assert found["events"] == Name.Tag
    assert found["Heat"] == Name.Class


def test_the_other_languages_in_colours() -> None:
    assert kinds("tocsin-pretty", '"A" followed by "B" within "1h"')["followed"] in Keyword
    found = kinds("tocsin-ecl", "subscribe Both {repeat {push(low) {accumulate {Fuel, <temp < 15>}}}}")
    assert found["Both"] == Name.Class
    assert found["accumulate"] in Keyword
    found = kinds(
        "tocsin-ksu",
        "Best correlation Latest (Fix a, Fix b) l1:(a;b) { case l1: push new Best { lat = b.lat }; }",
    )
    assert found["correlation"] in Keyword
    assert found["Latest"] == Name.Class


@pytest.mark.parametrize("name", WORDS)
def test_every_word_of_a_language_is_a_keyword(name: str) -> None:
    for word in WORDS[name]:
        assert kinds(name, word)[word] in Keyword, word


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.name)
def test_files_of_the_examples_have_no_mistake(file: Path) -> None:
    name = {".tocsin": "tocsin", ".ecl": "tocsin-ecl", ".cor": "tocsin-ksu"}[file.suffix]
    text = file.read_text(encoding="utf-8")
    tokens = list(lexer(name).get_tokens(text))
    assert "".join(value for _, value in tokens).strip() == text.strip()
    assert not [value for kind, value in tokens if kind is Error]


# --- Visual Studio Code ---------------------------------------------------------------------------

MANIFEST = json.loads((EXTENSION / "package.json").read_text("utf-8"))["contributes"]
GRAMMARS = {
    one["language"]: json.loads((EXTENSION / one["path"]).read_text("utf-8")) for one in MANIFEST["grammars"]
}


def rules(part: Any) -> Iterator[dict[str, Any]]:
    """The rules of a grammar, at any depth."""
    if isinstance(part, dict):
        if {"match", "begin", "include"} & part.keys():
            yield part
        for inner in part.values():
            yield from rules(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from rules(inner)


def test_the_extension_knows_every_ending() -> None:
    endings = {ending for one in MANIFEST["languages"] for ending in one["extensions"]}
    assert {ending for language in LANGUAGES for ending in language.endings} <= endings
    assert {one["id"] for one in MANIFEST["languages"]} == set(GRAMMARS)
    assert all((EXTENSION / one["configuration"]).is_file() for one in MANIFEST["languages"])


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_grammar_is_whole(language: str) -> None:
    grammar = GRAMMARS[language]
    assert grammar["scopeName"] in {one["scopeName"] for one in MANIFEST["grammars"]}
    for rule in rules(grammar["patterns"] + list(grammar["repository"].values())):
        if "include" in rule:
            assert (
                rule["include"] == "source.yaml" or rule["include"].removeprefix("#") in grammar["repository"]
            )
        # They keep to what Python's expressions and those of the editor have in common, so they can be tried here.
        for key in ("match", "begin", "end"):
            re.compile(rule.get(key, ""))
        groups = re.compile(rule.get("match", "")).groups
        assert all(int(group) <= groups for group in rule.get("captures", {}))


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_grammar_has_the_words_of_its_language(language: str) -> None:
    parts = GRAMMARS[language]["repository"]
    keywords = re.compile(parts["words"]["patterns"][0]["match"])
    constants = re.compile(parts["constants"]["patterns"][0]["match"])
    for word in WORDS[language]:
        assert (constants if word in CONSTANTS else keywords).fullmatch(word), word


def test_both_know_the_same_durations() -> None:
    duration = re.compile(GRAMMARS["tocsin"]["repository"]["numbers"]["patterns"][1]["match"])
    for text in ("5min", "1.5h", "5 minutes", "2w", "100ms", "3d", "10 s"):
        assert duration.fullmatch(text)
        assert kinds("tocsin", text)[text] in Number
