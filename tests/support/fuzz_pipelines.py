"""Pipeline files to try: those of the pages and examples, with tables and values of each other, printed again or changed.

A file is mostly refused for its syntax, or for a file that is not there, before anything else is read of it. So files are put
together from parsed ones, and what they name lies in the folder where they are tried.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from support import fuzz_texts

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```", re.DOTALL | re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KINDS = (".toml", ".tocsin", ".cor", ".cad", ".ecl", ".idl")
Document = dict[str, Any]


@cache
def texts() -> tuple[str, ...]:
    """The pipeline files of the pages and the examples."""
    examples = [file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("examples/*/*.toml"))]
    return (*examples, *(text for kind, _, text in _blocks() if kind == "toml"))


def _blocks() -> list[tuple[str, str, str]]:
    pages = (file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("docs/**/*.md")))
    return [found for page in pages for found in _BLOCK.findall(page)]


@cache
def documents() -> tuple[Document, ...]:
    """What the texts say, of those that have sources: pages show other files in this notation, too."""
    return tuple(one for one in map(tomllib.loads, texts()) if isinstance(one.get("source"), list))


@cache
def tables() -> dict[str, tuple[Any, ...]]:
    """What the documents have under each of their keys; of a list, its items."""
    found: dict[str, list[Any]] = {}
    for document in documents():
        for key, value in document.items():
            found.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    return {key: tuple(values) for key, values in found.items()}


@cache
def scalars() -> tuple[Any, ...]:
    """All values that stand in a document."""
    found: list[Any] = []

    def look(value: Any) -> None:
        found.append(value)
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(one)

    for document in documents():
        look(document)
    return tuple(found)


def lay_out(folder: Path) -> None:
    """Put the files that the texts name into a folder."""
    for file in sorted(ROOT.glob("examples/*/**/*")):
        if file.suffix in _KINDS:
            place = folder / Path(*file.relative_to(ROOT).parts[2:])
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
    for _, name, text in _blocks():
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    for source in tables()["source"]:
        path = folder / str(source.get("path", "events"))
        if not path.exists() and "*" not in path.name:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch() if path.suffix else path.mkdir()


def made(random: Random) -> str:
    """A file to try: put together and printed, changed as a text, or both."""
    whole = random.random() < 0.7
    text = printed(composed(random)) if whole else random.choice(texts())
    if whole and random.random() < 0.8:
        return text
    return fuzz_texts.mutated(text, random.choice(texts()), random)


def composed(random: Random) -> Document:
    """A document with some tables, keys and values of others, hostile values and patterns."""
    document = deepcopy(random.choice(documents()))
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        key = random.choice(sorted(tables()))
        other = deepcopy(random.choice(tables()[key]))
        own = document.get(key)
        match random.randrange(6):
            case 0 if isinstance(own, list):
                own.append(other)
            case 0 | 1 if isinstance(own, dict) and isinstance(other, dict):
                own.update(other)
            case 2 if document:
                document.pop(random.choice(sorted(document)), None)
            case 3 | 4:
                _change(document, random)
            case _:
                document["subscription"] = document.get("subscription") or []
                if isinstance(document["subscription"], list):
                    document["subscription"].append(_subscription(random))
    return document


def _change(document: Document, random: Random) -> None:
    """Give one key, somewhere in a table, another value."""
    table: Any = random.choice(list(document.values()) or [{}])
    while isinstance(table, list) and table:
        table = random.choice(table)
    if isinstance(table, dict) and table:
        names = sorted(table) if random.random() < 0.7 else [random.choice(fuzz_texts.HOSTILE)]
        hostile = (*fuzz_texts.HOSTILE, -1, 0, 2**63, 1e308, float("nan"), [], {}, [[]] * 3, True)
        value = random.choice(scalars() if random.random() < 0.5 else hostile)
        table[random.choice(names)] = deepcopy(value)


def _subscription(random: Random) -> Document:
    name = random.choice(fuzz_texts.all_names())
    return {"name": f"S{random.randrange(9)}", "language": name, "pattern": fuzz_texts.made(name, random)}


def printed(document: Document) -> str:
    """A document as TOML."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict):
            lines.append(f"[{_key(key)}]\n" + _pairs(value, "\n"))
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            lines += [f"[[{_key(key)}]]\n" + _pairs(one, "\n") for one in value]
        else:
            lines.insert(0, f"{_key(key)} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _pairs(table: Document, between: str) -> str:
    return between.join(f"{_key(key)} = {_value(value)}" for key, value in table.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case dict():
            return "{" + _pairs(value, ", ") + "}"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case bool():
            return str(value).lower()
        case str():
            return _text(value)
        case float():
            return repr(value)
        case _:
            return str(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
