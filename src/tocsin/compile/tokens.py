"""Patterns of the token family: each text is a subscription."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tocsin.algebra.tokens.check import wanting
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.needs import dead_ends
from tocsin.automata.tokens.never import never
from tocsin.compile.family import Family, KnownEvents, NamedText
from tocsin.errors import PatternError
from tocsin.events import Catalog
from tocsin.languages.language import Context


def read(texts: Sequence[NamedText], known: KnownEvents) -> list[Subscription]:
    """The subscriptions of texts, checked against the known event types."""
    types = known.types
    return [_subscription(text, types) for text in texts]


def _subscription(text: NamedText, types: Catalog | None) -> Subscription:
    language = text.language
    if isinstance(text.given, str):
        context = Context(types, text.selection, text.name)
        found: Subscription = language.read(text.given, text.options, context)
        return found
    subscription: Subscription = language.accept(text.given)
    if subscription is not text.given:  # built in Python, and without a name so far
        subscription = replace(subscription, name=text.name)
    return wanting(subscription, text.selection)


def warnings(text: NamedText, known: KnownEvents) -> list[PatternError]:
    """Warnings about patterns that never match, or that get stuck."""
    (subscription,) = read([text], known)
    automata = compile([subscription]).automata
    return [*never(subscription, known.types), *dead_ends(subscription, automata)]


FAMILY = Family(read, warnings)
