"""Texts to try on a parser: made of the patterns that a language can print, and of pieces of texts that exist.

Nothing here knows a language. Texts come from the conformance cases that name it; values that its parser made of them, and of
those of other languages of the family, are crossed with each other and printed again. So a new language is tried as soon as it
is registered and has cases.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from tocsin.errors import TocsinError
from tocsin.languages.language import Language
from tocsin.languages.registry import language, language_and_part, languages

CONFORMANCE = Path(__file__).resolve().parent.parent / "conformance"
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NESTED = 40  # how deep a value is looked into
# What parsers are bad at: long, deep, empty, not printable, beyond a machine word, almost a keyword.
HOSTILE = (
    *("", "\0", "\ufeff", "\u2028", "ﬁ", "İ", "😀", "\ud800", "é" * 300, "\\", "'", '"', "`", "\r"),
    *(
        "9" * 40,
        "9" * 5000,
        "1e999",
        "-0.0",
        "NaN",
        "0x1",
        "2147483648",
        "9223372036854775808",
        "1" + "." * 50,
    ),
    *(
        "(" * 50,
        ")" * 50,
        "[" * 300,
        "{" * 300,
        "*" * 50,
        "a." * 300,
        "{{{",
        "}}}",
        "--",
        "/*",
        "*/",
        "#",
        "//",
    ),
    *(" " * 5000, "\n" * 500, "\t", "a" * 5000, "$" * 20, "%s%n", "../../etc", "__class__", "{0}"),
)


# What a case says besides texts of its language.
_ASIDE = {
    "id",
    "kind",
    "source",
    "basis",
    "decision",
    "note",
    "language",
    "alphabet",
    "trace",
    "events",
    "matches",
    "expect",
}
_LONGEST = 1000  # characters of a text to begin with


def strings(node: object) -> Iterator[str]:
    """Every text in a document that may be one of a language."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for key, value in node.items():
            if key not in _ASIDE:
                yield from strings(value)
    elif isinstance(node, list):
        for one in node:
            yield from strings(one)


@cache
def cases() -> tuple[tuple[str, str], ...]:
    """Every text of the conformance cases, with the name of the language that its case gives."""
    found: dict[tuple[str, str], None] = {}
    for file in sorted(CONFORMANCE.rglob("*.yaml")):
        for case in yaml.load(file.read_text(encoding="utf-8"), _LOADER) or ():
            named = case.get("language", "") if isinstance(case, dict) else ""
            for text in strings(case):
                if len(text) <= _LONGEST:
                    found[str(named), text] = None
    return tuple(found)


@cache
def _own(named: str) -> Language:
    try:
        return language_and_part(named)[0] if named else language("core")
    except TocsinError:
        return language("core")


def read(own: Language, text: str) -> Any:
    """The value of a text, or None if it is refused."""
    try:
        return own.read(text)
    except TocsinError:
        return None


def values(name: str) -> tuple[Any, ...]:
    """The values of all accepted texts of a family, by the name of one of its languages."""
    return _values(language(name).family)


@cache
def _values(family: str) -> tuple[Any, ...]:
    found = []
    for named, text in cases():
        own = _own(named)
        if own.family == family and (value := read(own, text)) is not None:
            found.append(value)
    return tuple(found)


@cache
def texts(name: str) -> tuple[str, ...]:
    """Texts of a language: those of its cases, and what it prints of the values of its family."""
    own = language(name)
    found = dict.fromkeys(text for named, text in cases() if _own(named) is own)
    for value in values(name):
        try:
            found[own.text_of(value)] = None
        except TocsinError:
            continue  # it cannot say this
    return tuple(found)


def parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """The values inside a value, itself first."""
    yield value
    if depth > _NESTED:
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name), depth + 1)
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from parts(one, depth + 1)


def pool(name: str) -> dict[type, tuple[Any, ...]]:
    """The parts of all values of a family, by their class."""
    return _pool(language(name).family)


@cache
def _pool(family: str) -> dict[type, tuple[Any, ...]]:
    found: dict[type, list[Any]] = {}
    for value in _values(family):
        for part in parts(value):
            if dataclasses.is_dataclass(part) or isinstance(part, str | int | float):
                found.setdefault(type(part), []).append(part)
    return {kind: tuple(some) for kind, some in found.items()}


def crossed(value: Any, name: str, random: Random, depth: int = 0) -> Any:
    """The value with some parts replaced: by parts of others, of the same class or of one that may stand in its place."""
    known = pool(name)
    kind = type(value)
    if depth > 0 and kind in known and kind is not bool and random.random() < 0.15:
        # Classes of one module are mostly alternatives of each other.
        alike = [one for one in known if dataclasses.is_dataclass(kind) and one.__module__ == kind.__module__]
        other = random.choice(alike) if alike and random.random() < 0.3 else kind
        return random.choice(known[other])
    if depth > _NESTED:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: crossed(getattr(value, field.name), name, random, depth + 1)
            for field in dataclasses.fields(value)
            if field.init
        }
        return dataclasses.replace(value, **changed)
    if type(value) is tuple:
        items = [crossed(one, name, random, depth + 1) for one in value]
        if items and random.random() < 0.1:
            items.insert(random.randrange(len(items) + 1), random.choice(items))
        return tuple(items)
    return value


def printed(name: str, random: Random) -> str:
    """A text that the grammar allows: a crossed value as its language prints it."""
    own = language(name)
    for _ in range(5):
        try:
            return own.text_of(crossed(random.choice(values(name)), name, random))
        except Exception:  # noqa: BLE001  (a value that no text has; the printer owes nothing for it)
            continue
    return random.choice(texts(name))


def mutated(text: str, other: str, random: Random) -> str:
    """A text changed in a few places: by tokens, by characters, by repetition, with pieces of another."""
    pieces = _TOKEN.findall(text)
    others = _TOKEN.findall(other) or [""]
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        at = random.randrange(len(pieces) + 1)
        match random.randrange(9):
            case 0:
                pieces.insert(at, random.choice(HOSTILE))
            case 1:
                pieces[at : at + random.randrange(1, 4)] = []
            case 2:
                pieces.insert(at, random.choice(others))
            case 3:
                first = random.randrange(len(others))
                pieces[at:at] = others[first : first + random.randrange(1, 12)]
            case 4:
                stretch = pieces[at : at + random.randrange(1, 8)]
                pieces[at:at] = stretch * random.choice((1, 2, 10, 60))
            case 5 if pieces:
                pieces[at % len(pieces)] = random.choice(others)
            case 6 if pieces:
                one = pieces[at % len(pieces)]
                where = random.randrange(len(one) + 1)
                sign = random.choice((" ", "(", "[", "{", "ÿ", "€", chr(random.randrange(128))))
                pieces[at % len(pieces)] = one[:where] + sign + one[where:]
            case 7:
                opening, closing = random.choice(("()", "[]", "{}", ("(", ")*"), ("<", ">"), ('"', '"')))
                many = random.choice((1, 3, 30, 200))
                stop = random.randrange(at, len(pieces) + 1)
                pieces[stop:stop] = [closing * many]
                pieces[at:at] = [opening * many]
            case _ if pieces:
                first, second = random.randrange(len(pieces)), random.randrange(len(pieces))
                pieces[first], pieces[second] = pieces[second], pieces[first]
            case _:
                pieces.append(random.choice(HOSTILE))
    return "".join(pieces)


def made(name: str, random: Random) -> str:
    """A text to try on a language: as it prints it, or changed."""
    base = printed(name, random) if random.random() < 0.5 else random.choice(texts(name))
    if random.random() < 0.25:
        return base
    return mutated(base, random.choice(texts(random.choice(all_names()))), random)


@cache
def all_names() -> tuple[str, ...]:
    """Every language that has texts of its own."""
    return tuple(one.name for one in languages() if texts(one.name))
