"""Every language by its name; a language is loaded when it is first used.

Languages do not import each other. One that needs another, as the binding needs the core language to show
what it stands for, asks for it here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Literal, overload

from tocsin.algebra.completion.expression import Program
from tocsin.algebra.completion.expression import Reading as EclReading
from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.selection import Selection
from tocsin.algebra.subscription import Reading, Subscription
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog

# Languages of patterns: a text is a subscription.
LANGUAGES = {
    "core": "tocsin.languages.core",
    "pretty": "tocsin.languages.pretty",
    "binding": "tocsin.languages.binding",
}
ALIASES = {f"cambridge-{name}": name for name in LANGUAGES}
WITH_NAMES = ("pretty", "binding")
# Languages whose texts send events: a program of ECL, a library of KSU.
SENDING = {"ecl": "tocsin.languages.ecl", "ksu": "tocsin.languages.ksu"}
Parsed = Subscription | Program | Library
_SENDING_OPTIONS = {"ecl": "reading", "ksu": "types"}


# Where the type checker sees no name, as in a text of the user, a language of patterns is meant; who cannot know calls
# `parse_subscription`, which refuses the others.
@overload
def parse(text: str, language: Literal["ecl"], *, reading: EclReading | None = None) -> Program: ...  # type: ignore[overload-overlap]
@overload
def parse(text: str, language: Literal["ksu"], *, types: Types | None = None) -> Library: ...  # type: ignore[overload-overlap]
@overload
def parse(
    text: str,
    language: str = "core",
    *,
    catalog: Catalog | None = None,
    names: Mapping[str, str] | None = None,
    reading: Reading | None = None,
    selection: Selection | None = None,
    name: str = "pattern",
) -> Subscription: ...
def parse(text: str, language: str = "core", **options: Any) -> Parsed:
    """What a text stands for in a language; raises `PatternErrors` with all mistakes.

    >>> parse("[A];[B]").pattern == parse('"A" followed by "B"', "pretty").pattern
    True
    >>> [subscription.name for subscription in parse("subscribe S {repeat {push(x) {a}}}", "ecl").subscriptions]
    ['S']

    Args:
        language: one of `LANGUAGES` or `ALIASES`, or one of `SENDING`.
        options: those of `parse_subscription`; `reading` of ECL; `types`, which a library of KSU is checked against.
    """
    if language not in SENDING:
        return parse_subscription(text, language, **options)
    for option in options:
        if option != _SENDING_OPTIONS[language]:
            message = f"{option} means nothing to the language {language}"
            raise InputError("unknown-option", message, hint=f"it has {_SENDING_OPTIONS[language]}")
    parsed: Program | Library = _module(language).parse(text, **options)
    return parsed


def parse_subscription(
    text: str,
    language: str = "core",
    *,
    catalog: Catalog | None = None,
    names: Mapping[str, str] | None = None,
    reading: Reading | None = None,
    selection: Selection | None = None,
    name: str = "pattern",
) -> Subscription:
    """The subscription that a text stands for in a language of patterns.

    Args:
        names: which event types the names in the text stand for, in a language that has such a table.
        selection: which matches are wanted where the text does not say it.
    """
    home = _home(language)
    options: dict[str, object] = {"reading": reading, "selection": selection, "name": name}
    if names is not None:
        if home not in WITH_NAMES:
            message = f"the {home} language has no table of names"
            raise InputError("unknown-option", message, hint="only " + ", ".join(WITH_NAMES))
        options["names"] = names
    subscription: Subscription = _module(home).parse(text, catalog, **options)
    return subscription


def selection_of(language: str, matches: object = None, take: object = None) -> Selection | None:
    """The selection that the options `matches` and `take` ask for; None if neither is given.

    >>> selection_of("core", None, "last")
    Selection(matches='each', take='last', limit=0)
    >>> selection_of("ecl", "any", None)
    Traceback (most recent call last):
    tocsin.errors.InputError: unknown-option: matches means nothing to the language ecl
    hint: it sends events, and finds no matches to choose from; only core, pretty, binding do
    """
    asked = {name: value for name, value in (("matches", matches), ("take", take)) if value is not None}
    if asked and language in SENDING:
        hint = f"it sends events, and finds no matches to choose from; only {', '.join(LANGUAGES)} do"
        raise InputError(
            "unknown-option", f"{next(iter(asked))} means nothing to the language {language}", hint=hint
        )
    return Selection.of(**asked) if asked else None


def show(parsed: Parsed, language: str | None = None) -> str:
    """The text of what was parsed, in a language; raises `PatternError` if the language cannot say it.

    A subscription is shown in the core language if no other is named, and everything else in its own.

    >>> show(parse('"A" followed by "B" within "1h"', "pretty"))
    '([A], [B in {B, T1}])_{T1=1h}'
    >>> show(parse("repeat{push(x){a}}", "ecl"))
    'repeat {push(x) {a}}'
    """
    if isinstance(parsed, Subscription):
        text: str = _module(_home(language or "core")).show_subscription(parsed)
        return text
    own, printer = ("ecl", "show_program") if isinstance(parsed, Program) else ("ksu", "show")
    if language not in (None, own):
        raise InputError(
            "bad-pattern", f"this is written in {own}, and in no other language", hint=f"say {own!r}"
        )
    text = getattr(_module(own), printer)(parsed)
    return text


def _home(language: str) -> str:
    """The name of a language of patterns."""
    home = ALIASES.get(language, language)
    if home in SENDING:
        message = f"texts of {home} send events, and are no patterns"
        raise InputError("unknown-language", message, hint="one of " + ", ".join(LANGUAGES))
    if home not in LANGUAGES:
        known = {*LANGUAGES, *SENDING}
        hint = did_you_mean(language, {*known, *ALIASES}, did_you_mean(language, known))
        raise InputError("unknown-language", f"there is no language {language!r}", hint=hint)
    return home


def _module(home: str) -> Any:
    return importlib.import_module({**LANGUAGES, **SENDING}[home])
