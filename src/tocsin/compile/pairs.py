"""Profiles of the pairs family: each is an expression to detect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import (
    After,
    At,
    Chain,
    Composition,
    During,
    Each,
    Every,
    Expression,
    Negation,
    Selection,
    Several,
    walk,
)
from tocsin.algebra.pairs.parameters import LAST, Coupling, Detection, Views
from tocsin.algebra.pairs.profile import Notify, Profile
from tocsin.algebra.pairs.warnings import warnings as warnings_of
from tocsin.automata.pairs.compile import Wanted
from tocsin.compile.family import Family, KnownEvents, NamedText
from tocsin.errors import PatternError, PatternErrors
from tocsin.events import Catalog
from tocsin.languages.language import Context

_NOT_YET = {
    Several: "so many of several events",
    Chain: "a chain that commits to the first of each",
    During: "an interval of observation whose end decides something",
    Each: "an expression for each value of an attribute",
}


def read(texts: Sequence[NamedText], known: KnownEvents) -> list[Wanted]:
    """The expressions of texts, checked against the known event types."""
    return [_wanted(text, known.types) for text in texts]


def profile_of(text: NamedText, types: Catalog | None) -> Profile:
    """The parsed value of a text, under its name, checked."""
    if isinstance(text.given, str):
        found: Profile = text.language.read(text.given, text.options, Context(types, None, text.name))
    else:
        found = replace(text.language.accept(text.given), name=text.name)
    if errors := check(found.expression, types):
        raise PatternErrors(errors)
    return found


def _wanted(text: NamedText, types: Catalog | None) -> Wanted:
    profile = profile_of(text, types)
    if errors := _not_on_the_kernel(profile):
        raise PatternErrors(errors)
    ticks = text.language.options_of(text.options).ticks
    return Wanted(profile.name, profile.expression, ticks, bool(profile.actions))


def _not_on_the_kernel(profile: Profile) -> list[PatternError]:
    """What only the definitions can say so far."""
    found = [
        PatternError(
            "equal-duplicates",
            "duplicates with equal attributes are told apart by the definitions only, not in tables and streams",
            part.span,
            "leave dup=equal out, or tell the values apart by filters",
        )
        for part in _compositions(profile.expression)
        if isinstance(part.how, Views) and part.how.equal
    ]
    found += without_program(profile.expression)
    if profile.notify != Notify():
        hint = "leave it out, and select among the matches"
        message = "how often and to whom notifications go is not carried out in tables and streams"
        found.append(PatternError("no-notification", message, profile.span, hint))
    return found


def without_program(expression: Expression) -> list[PatternError]:
    """The operators of an expression that the kernel does not have, each as an error."""
    return [
        PatternError(
            "definitions-only",
            f"{_NOT_YET[type(part)]} is evaluated by the definitions only, not in tables and streams",
            part.span,
            "tocsin.algebra.pairs.semantics finds its instances in events at hand",
        )
        for part in walk(expression)
        if isinstance(part, Several | Chain | Each) or (isinstance(part, During) and not _is_plain(part))
    ]


def _is_plain(interval: During) -> bool:
    """Whether an interval only says which events count: nothing in it is decided by the end of the interval."""
    for part in walk(interval.body):
        if isinstance(part, After | At | Every | Negation):
            return False
        if isinstance(part, Selection) and part.pick == LAST:
            return False
        how = getattr(part, "how", None)
        if isinstance(how, Views) and LAST in (how.first, how.second):
            return False
        if isinstance(how, Detection) and how.coupling is Coupling.CONTINUOUS:
            return False
    return interval.since >= 0


def _compositions(expression: Expression) -> list[Composition]:
    return [part for part in walk(expression) if isinstance(part, Composition)]


def warnings(text: NamedText, known: KnownEvents) -> list[PatternError]:
    """Warnings about parameters without effect, modes that disagree, and unbounded state."""
    return warnings_of(profile_of(text, known.types).expression)


FAMILY = Family(read, warnings)
