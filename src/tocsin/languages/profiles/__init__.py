"""The languages of surveyed event systems (paper 004): one parser, one printer, and a description of each language.

`languages()` are those that come with Tocsin; `language_from(text)` makes one of a description from elsewhere. Only the head
of a description, up to its first empty line, is read until a language is used.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from types import MappingProxyType

from tocsin.languages.language import Language

_BY_NAME = "tocsin.languages.profiles.by_name"


def languages() -> tuple[Language, ...]:
    """Every language that has a description here, by name."""
    folder = files(__name__) / "descriptions"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda f: f.name)
    heads = [tomllib.loads(file.read_text(encoding="utf-8").partition("\n\n")[0]) for file in found]
    return tuple(_built_in(str(head["name"]), head) for head in heads)


def _built_in(name: str, head: dict[str, object]) -> Language:
    aliases = head.get("aliases", ())
    return Language(
        name=name,
        title=str(head["title"]),
        family="pairs",
        parse=f"{_BY_NAME}:{name}.read",
        show=f"{_BY_NAME}:{name}.show",
        options=f"{_BY_NAME}:{name}.options",
        aliases=tuple(map(str, aliases)) if isinstance(aliases, list) else (),
        called="a profile",
        selects=False,
        parts=MappingProxyType({"description": f"{_BY_NAME}:{name}.described"}),
    )


def language_from(text: str) -> Language:
    """The language of a description in TOML, for a package of one's own.

    >>> own = language_from('''
    ... name = "bell"
    ... title = "Bell"
    ... source = "nowhere"
    ... [text]
    ... operators = ["sequence"]
    ... [[operator]]
    ... name = "sequence"
    ... syntax = "<a> rings <b>"
    ... level = "then"
    ... means = "sequence(a, b, duplicates=first, consumption=delete)"
    ... ''')
    >>> own.text_of(own.read("door rings door"))
    'door rings door'
    """
    # Imported here, so that the registry does not load the parser.
    from tocsin.languages.profiles.by_name import OfDescription
    from tocsin.languages.profiles.description import read_description

    found = OfDescription(read_description(text))
    own = found.described()
    return Language(
        name=own.name,
        title=own.title,
        family="pairs",
        parse=found.read,
        show=found.show,
        options=found.options,
        aliases=own.aliases,
        called="a profile",
        selects=False,
        parts=MappingProxyType({"description": found.described}),
    )
