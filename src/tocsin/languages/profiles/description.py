"""A description of a language, as a value: what the survey says about its system, and its notation and meaning as data.

Descriptions are TOML files in `descriptions`; a package from outside may bring its own. What a file must hold:

| key | |
|---|---|
| `name`, `title`, `aliases` | of the language; `system`, `kind`, `source`, `about` of the system that it belongs to |
| `[text]`, `[table]` | what section 3 and what Table 14 say: `operators`, `timeframe`, `consumption`, `duplicates` |
| `[option.NAME]` | `kind` or `values`, `default`, `says` |
| `[[operator]]` | `name`, `syntax`, `means`, perhaps `level`, `row`, `shown`, `ours` (not in the paper) |
| `[[condition]]` | likewise, for conditions of their own |
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from tocsin.errors import InputError, did_you_mean
from tocsin.languages.profiles.classification import OPERATORS, group_of
from tocsin.languages.profiles.settings import Option

_KEYS = frozenset(
    {
        *("name", "title", "aliases", "system", "kind", "source", "about", "ours", "same_as"),
        *("text", "table", "option", "operator", "whole", "absorb", "actions", "only_in_parentheses"),
        *("condition", "conditions", "filters"),
    }
)
_REQUIRED = ("name", "title", "source")


@dataclass(frozen=True, slots=True)
class Features:
    """What a system offers: operators, whether there are timeframes, how it consumes, which duplicates it takes."""

    operators: tuple[str, ...] = ()
    timeframe: bool = False
    consumption: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    note: str = ""

    @property
    def group(self) -> str:
        """The group of languages it belongs to."""
        return group_of(self.operators, self.timeframe)


@dataclass(frozen=True)
class Description:
    """A language as its description gives it."""

    name: str
    title: str
    aliases: tuple[str, ...]
    system: str
    kind: str
    source: str
    about: str
    text: Features
    table: Features
    options: tuple[Option, ...]
    operators: tuple[Mapping[str, Any], ...]
    ours: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The group, by the columns of Table 14. Part C.5.18."""
        return self.table.group

    @property
    def composes(self) -> bool:
        """Whether it has composite events at all."""
        return bool(self.operators)


def read_description(text: str, where: str = "the description") -> Description:
    """The description that a text in TOML holds."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError("bad-description", f"{where} is not TOML: {problem}") from None
    if "same_as" in given:
        base = tomllib.loads(_file(str(given["same_as"])).read_text(encoding="utf-8"))
        given = {**base, **given}
    for key in given:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS)
            raise InputError("bad-description", f"{where} has a key {key!r} that means nothing", hint=hint)
    for key in _REQUIRED:
        if not isinstance(given.get(key), str):
            raise InputError("bad-description", f"{where} has no {key}", hint=f'write {key} = "…"')
    options = tuple(_option(name, table) for name, table in given.get("option", {}).items())
    operators = tuple(given.get("operator", ()))
    for one in operators:
        if not {"name", "syntax", "means"} <= one.keys():
            raise InputError("bad-description", f"an operator of {where} lacks name, syntax or means")
    more = ("whole", "absorb", "actions", "only_in_parentheses", "condition", "conditions", "filters")
    return Description(
        given["name"],
        given["title"],
        tuple(given.get("aliases", ())),
        given.get("system", given["title"]),
        given.get("kind", ""),
        given["source"],
        " ".join(given.get("about", "").split()),
        _features(given.get("text", {}), where),
        _features(given.get("table", given.get("text", {})), where),
        options,
        operators,
        " ".join(given.get("ours", "").split()),
        {key: given[key] for key in more if key in given},
    )


def _option(name: str, table: Mapping[str, Any]) -> Option:
    found = Option(
        name,
        str(table.get("kind", "word")),
        str(table.get("default", "")),
        str(table.get("says", "")),
        table.get("values", {}),
    )
    if found.default:
        found.names(found.default)
    return found


def _features(table: Mapping[str, Any], where: str) -> Features:
    operators = tuple(table.get("operators", ()))
    for one in operators:
        if one not in OPERATORS:
            hint = did_you_mean(one, OPERATORS)
            raise InputError(
                "bad-description", f"{where} has an operator {one!r} that is not known", hint=hint
            )
    return Features(
        operators,
        bool(table.get("timeframe", False)),
        tuple(table.get("consumption", ())),
        tuple(table.get("duplicates", ())),
        str(table.get("note", "")),
    )


def _folder() -> Traversable:
    return files("tocsin.languages.profiles") / "descriptions"


def _file(name: str) -> Traversable:
    return _folder() / f"{name}.toml"


@cache
def description(name: str) -> Description:
    """The description of one of our languages.

    >>> description("snoop").group
    'TCE'
    """
    return read_description(_file(name).read_text(encoding="utf-8"), f"the description of {name}")


def built_in_names() -> Iterator[str]:
    """The names of all languages that have a description here."""
    yield from sorted(f.name.removesuffix(".toml") for f in _folder().iterdir() if f.name.endswith(".toml"))
