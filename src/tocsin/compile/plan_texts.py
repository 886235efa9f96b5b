"""One plan for any number of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add
from typing import Any

from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.automata.tokens.compile import compile
from tocsin.automata.transduce import Drafts, transducers
from tocsin.compile.family import Family, KnownEvents, Meaning, NamedText, Sending
from tocsin.errors import InputError
from tocsin.events import Catalog
from tocsin.languages.language import Language
from tocsin.languages.registry import DEFAULT, language


@dataclass(frozen=True, slots=True)
class PlannedTexts:
    """A plan for texts, the event types involved, and the subscriptions of languages that report matches."""

    compiled: Compiled
    catalog: Catalog
    subscriptions: tuple[Subscription, ...] = ()


def named_texts(
    pattern: Any, own: str | Language = DEFAULT, options: Any = None, selection: Selection | None = None
) -> list[NamedText]:
    """The texts or parsed values of a pattern, which may be one, or several by name.

    >>> [text.name for text in named_texts({"first": "[A]", "second": "[B]"})]
    ['first', 'second']

    One text that sends events has no name of its own: its rows have the names of its subscriptions.
    """
    found = language(own)
    named = pattern if isinstance(pattern, Mapping) else {"" if found.sends else "pattern": pattern}
    if not named:
        raise InputError("no-pattern", "there is no pattern to detect")
    value = found.options_of(options)
    return [NamedText(found, name, given, value, selection) for name, given in named.items()]


def plan_texts(texts: Sequence[NamedText], known: KnownEvents) -> PlannedTexts:
    """One plan for texts, and the event types they use; raises `PatternErrors` with the mistakes in a text."""
    meanings = [
        meaning
        for own, group in groupby(linked(texts), key=lambda text: text.language)
        for meaning in family_of(own).read(list(group), known)
    ]
    declared = {one.name: one for m in meanings if isinstance(m, Sending) for one in m.declares}
    catalog = known.types or Catalog()
    if known.catalog is None and declared:
        catalog = Catalog(declared.values(), common=known.kinds or {})
    subscriptions = tuple(one for one in meanings if isinstance(one, Subscription))
    return PlannedTexts(plan_meanings(meanings, points=known.points), catalog, subscriptions)


def linked(texts: Sequence[NamedText], *, more_to_come: bool = False) -> list[NamedText]:
    """The texts in their order, with what those of one language need from each other."""
    found = dict(enumerate(texts))
    groups: dict[str, list[int]] = {}
    for number, text in found.items():
        groups.setdefault(text.language.name, []).append(number)
    for numbers in groups.values():
        own = [found[number] for number in numbers]
        found |= zip(numbers, family_of(own[0].language).link(own, more_to_come), strict=True)
    return list(found.values())


def plan_meanings(
    meanings: Iterable[Meaning], *, points: bool = False, groups: Sequence[int] | None = None
) -> Compiled:
    """One plan for the meanings of texts, which must all report matches or all send events.

    Args:
        groups: for each subscription a number; those of different numbers share no detectors.
    """
    listed = list(meanings)
    sending = [one for one in listed if isinstance(one, Sending)]
    profiles = [one for one in listed if isinstance(one, Wanted)]
    subscriptions = [one for one in listed if isinstance(one, Subscription)]
    if sending and len(sending) < len(listed):
        message = "some of these patterns report matches, and others send events"
        raise InputError("bad-pattern", message, hint="detect the ones and the others on their own")
    if profiles and subscriptions:
        message = "some of these patterns are profiles of the event algebra, and others are not"
        raise InputError("bad-pattern", message, hint="detect the ones and the others on their own")
    if sending:
        return transducers(reduce(add, (one.drafts for one in sending), Drafts((), {})))
    if profiles:
        return compile_profiles(profiles, groups)
    return compile(subscriptions, points=points, groups=groups)


def family_of(own: Language) -> Family:
    """How the texts of a language are compiled."""
    found: Family = own.on("compile")
    return found
