"""Every language by its name; a language is loaded when it is first used.

Languages do not import each other. One that needs another, as the binding needs the core language to show
what it stands for, asks for it here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from tocsin.algebra.subscription import Reading, Subscription
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog

LANGUAGES = {
    "core": "tocsin.languages.core",
    "pretty": "tocsin.languages.pretty",
    "binding": "tocsin.languages.binding",
}
ALIASES = {f"cambridge-{name}": name for name in LANGUAGES}
WITH_NAMES = ("pretty", "binding")


def parse(
    text: str,
    language: str = "core",
    *,
    catalog: Catalog | None = None,
    names: Mapping[str, str] | None = None,
    reading: Reading | None = None,
    name: str = "pattern",
) -> Subscription:
    """The subscription that a text stands for in a language; raises `PatternErrors` with all mistakes.

    >>> parse("[A];[B]").pattern == parse('"A" followed by "B"', "pretty").pattern
    True

    Args:
        language: one of `LANGUAGES`, or one of `ALIASES`.
        names: which event types the names in the text stand for, in a language that has such a table.
    """
    home = _home(language)
    options: dict[str, object] = {"reading": reading, "name": name}
    if names is not None:
        if home not in WITH_NAMES:
            message = f"the {home} language has no table of names"
            raise InputError("unknown-option", message, hint="only " + ", ".join(WITH_NAMES))
        options["names"] = names
    subscription: Subscription = _module(home).parse(text, catalog, **options)
    return subscription


def show(subscription: Subscription, language: str = "core") -> str:
    """The text of a subscription in a language; raises `PatternError` if the language cannot say it.

    >>> show(parse('"A" followed by "B" within "1h"', "pretty"))
    '([A], [B in {B, T1}])_{T1=1h}'
    """
    text: str = _module(_home(language)).show_subscription(subscription)
    return text


def _home(language: str) -> str:
    home = ALIASES.get(language, language)
    if home not in LANGUAGES:
        hint = did_you_mean(language, {*LANGUAGES, *ALIASES}, did_you_mean(language, LANGUAGES))
        raise InputError("unknown-language", f"there is no language {language!r}", hint=hint)
    return home


def _module(home: str) -> Any:
    return importlib.import_module(LANGUAGES[home])
