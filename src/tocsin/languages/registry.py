"""Finds languages by name, by file ending, and by parsed value; each is loaded on first use.

Languages do not import each other. One that needs another, as the binding needs the core language to show what it stands
for, gets it here. A package from outside brings a language as an entry point of the group `tocsin.languages`, whose object is a
`Language`; such packages are loaded only for names and endings that no language of ours has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.builtin import LANGUAGES
from tocsin.languages.language import Context, Language

GROUP = "tocsin.languages"  # of entry points
DEFAULT = LANGUAGES[0].name  # the default language of a text
OURS = tuple(one.name for one in LANGUAGES)
_BY_NAME = {name: one for one in LANGUAGES for name in (one.name, *one.aliases)}
_BY_ENDING = {ending: one for one in LANGUAGES for ending in one.endings}


def language(name: str | Language) -> Language:
    """The language with this name or alias.

    >>> language("cambridge-pretty").name
    'pretty'
    >>> language("eecl")
    Traceback (most recent call last):
    tocsin.errors.InputError: unknown-language: there is no language 'eecl'
    hint: did you mean 'ecl'?
    """
    if isinstance(name, Language):
        return name
    found = _BY_NAME.get(name) or _foreign_by_name(name)
    if found is None:
        hint = did_you_mean(name, [*_BY_NAME, *_foreign_names()], did_you_mean(name, known_names()))
        raise InputError("unknown-language", f"there is no language {name!r}", hint=hint)
    return found


def language_and_part(name: str) -> tuple[Language, str]:
    """The language of a name, and the part of it that the name gives after a hyphen, if any.

    >>> [(own.name, part) for own, part in map(language_and_part, ("ksu-filter", "exml-ql-block-pattern", "exml-ql"))]
    [('ksu', 'filter'), ('exml-ql', 'block-pattern'), ('exml-ql', '')]
    """
    try:
        return language(name), ""
    except InputError as problem:
        if problem.code != "unknown-language":
            raise
        # The names of some languages and of some parts have a hyphen in them, too.
        words = name.split("-")
        for count in range(len(words) - 1, 0, -1):
            with suppress(InputError):
                return language("-".join(words[:count])), "-".join(words[count:])
        raise


def language_of_file(path: str | Path) -> Language | None:
    """The language of a file by its ending; None if no language has that ending.

    >>> language_of_file("fuel.ecl").title, language_of_file("fuel.txt")
    ('ECL', None)
    """
    ending = Path(path).suffix
    if not ending:
        return None
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    return next((one for one in _foreign_languages() if ending in one.endings), None)


def language_of_value(value: object) -> Language | None:
    """The language that a parsed value is shown in if none is named; None if no language has such values."""
    ours = (one for one in LANGUAGES if isinstance(value, one.value_type))
    return next(ours, None) or next(
        (o for o in _foreign_languages() if isinstance(value, o.value_type)), None
    )


def option_of_file(path: str | Path) -> tuple[Language, str] | None:
    """The option that is read from files with the ending of this one, and the language that has it; None if there is none.

    >>> own, option = option_of_file("events.idl")
    >>> own.title, option
    ('KSU', 'types')
    """
    ending = Path(path).suffix
    found = ((one, f) for one in languages() for f in fields(one.options_type))
    return next(((one, f.name) for one, f in found if ending and f.metadata.get("ending") == ending), None)


def plain_language(family: str) -> Language:
    """The first of our languages of a family; what other languages of it cannot write is written in this one.

    >>> plain_language("completion").title
    'ECL'
    """
    found = next((one for one in LANGUAGES if one.family == family), None)
    if found is None:
        message = f"Tocsin has no language of the family {family!r}"
        raise InputError("bad-language", message, hint="let a language of this family give all that it needs")
    return found


def with_parts(own: Language, *parts: str) -> Language:
    """The language, if it has all these parts; otherwise the plain language of its family.

    >>> with_parts(language("pretty"), "show-event", "show-filter").title
    'the core language'
    """
    return own if set(parts) <= own.parts.keys() else plain_language(own.family)


def languages() -> tuple[Language, ...]:
    """Every language, ours first; those of other packages are loaded."""
    return (*LANGUAGES, *_foreign_languages())


def known_names() -> tuple[str, ...]:
    """The name of every language, ours first, without loading any."""
    return (*OURS, *sorted(_foreign_names()))


def parse(
    text: str,
    language: str | Language = DEFAULT,
    *,
    options: Mapping[str, object] | object | None = None,
    catalog: Catalog | None = None,
    selection: Selection | None = None,
    name: str | None = None,
) -> Any:
    """Parse a text in a language; raises `PatternErrors` with all mistakes.

    >>> parse("[A];[B]").pattern == parse('"A" followed by "B"', "pretty").pattern
    True
    >>> [subscription.name for subscription in parse("subscribe S {repeat {push(x) {a}}}", "ecl").subscriptions]
    ['S']

    Args:
        options: those of the language, as a mapping or as its `options_type`.
        catalog: the event types there are. A language that sends events gets them when its texts are compiled.
        selection: which matches are wanted unless the text says so.
        name: what the pattern is called.
    """
    own = _language(language)
    refuse_unused(own, catalog=catalog, selection=selection, name=name)
    return own.read(text, options, Context(catalog, selection, name or "pattern"))


def refuse_unused(own: Language, **given: object) -> None:
    """Refuse other arguments if the language sends events: its texts depend on none of them."""
    for what, value in given.items():
        if own.sends and value is not None:
            hint = "its texts send events: types of events, names and selections are no part of them"
            raise InputError("unknown-option", f"{own.title} does not take `{what}`", hint=hint)


def show(parsed: object, language: str | Language | None = None) -> str:
    """The text of a parsed value; raises `PatternError` if the language cannot express it.

    A subscription is shown in the core language if no other is named, and everything else in its own.

    >>> show(parse('"A" followed by "B" within "1h"', "pretty"))
    '[A];[B] within 1h'
    >>> show(parse("repeat{push(x){a}}", "ecl"))
    'repeat {push(x) {a}}'
    """
    own = language_of_value(parsed) if language is None else _language(language)
    return (own or _language(DEFAULT)).text_of(parsed)


def selection_of(language: str | Language, matches: object = None, take: object = None) -> Selection | None:
    """The selection given by the options `matches` and `take`; None if neither is given.

    >>> selection_of("core", None, "last")
    Selection(matches='each', take='last', limit=0)
    >>> selection_of("ecl", "any", None)
    Traceback (most recent call last):
    tocsin.errors.InputError: unknown-option: ECL does not take `matches`
    hint: it has no matches to choose from; these languages have: core, pretty, binding
    """
    asked = {name: value for name, value in (("matches", matches), ("take", take)) if value is not None}
    own = _language(language)
    if asked and not own.selects:
        others = ", ".join(one.name for one in LANGUAGES if one.selects)
        hint = f"it has no matches to choose from; these languages have: {others}"
        raise InputError("unknown-option", f"{own.title} does not take `{next(iter(asked))}`", hint=hint)
    return Selection.of(**asked) if asked else None


_language = language  # where a parameter has the name

# --- languages of other packages --------------------------------------------------------------------


def _foreign_names() -> list[str]:
    return [entry.name for entry in _entries()]


def _foreign_by_name(name: str) -> Language | None:
    """The language of another package; one whose entry point has another name is found by its own and its aliases."""
    for entry in _entries():
        if entry.name == name:
            return _foreign(entry)
    return next((one for one in _foreign_languages() if name in (one.name, *one.aliases)), None)


def _foreign_languages() -> tuple[Language, ...]:
    found = tuple(_foreign(entry) for entry in _entries())
    taken: dict[str, str] = {}
    for entry, one in zip(_entries(), found, strict=True):
        for word in (one.name, *one.aliases, *one.endings):
            if taken.setdefault(word, _package(entry)) != _package(entry):
                message = f"{_package(entry)} and {taken[word]} both bring a language for {word!r}"
                raise InputError("bad-language", message, hint="uninstall one of them")
    return found


def _entries() -> Iterable[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, _package(entry)))


def _package(entry: EntryPoint) -> str:
    return "a package" if entry.dist is None else f"the package {entry.dist.name}"


@cache
def _foreign(entry: EntryPoint) -> Language:
    """The language of an entry point; an error that names the package if it is none, or takes the place of one of ours."""
    hint = f"fix or uninstall {_package(entry)}"
    try:
        found = entry.load()
    except Exception as problem:  # anything can go wrong while a third-party package is imported
        message = f"{_package(entry)} brings no language {entry.name!r}: {type(problem).__name__}: {problem}"
        raise InputError("bad-language", message, hint=hint) from problem
    if not isinstance(found, Language):
        message = f"{_package(entry)} brings {found!r} as the language {entry.name!r}"
        raise InputError(
            "bad-language", message, hint="let its entry point name a Language of tocsin.languages.language"
        )
    for word in (found.name, *found.aliases, *found.endings):
        if word in _BY_NAME or word in _BY_ENDING:
            message = f"{_package(entry)} brings a language for {word!r}, which is one of Tocsin's own"
            raise InputError("bad-language", message, hint=hint)
    return found
