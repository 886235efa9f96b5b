"""Patterns of the token family: each text is a subscription."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tocsin.algebra.tokens.check import check, wanting
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import CompiledTokens, compile
from tocsin.automata.tokens.needs import dead_ends
from tocsin.automata.tokens.never import never
from tocsin.compile.family import Family, KnownEvents, NamedText
from tocsin.errors import PatternError, PatternErrors
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
        if errors := check(subscription, types):
            raise PatternErrors(errors)
    return wanting(subscription, text.selection)


def warnings(text: NamedText, known: KnownEvents) -> list[PatternError]:
    """Warnings about patterns that never match, or that get stuck."""
    (subscription,) = read([text], known)
    automata = compile([subscription]).automata
    return [*never(subscription, known.types), *dead_ends(subscription, automata)]


def stuck(compiled: Compiled) -> Iterator[tuple[str, PatternError]]:
    """The patterns of a plan that an event can end for good, by name, with the warnings about that."""
    if not isinstance(compiled, CompiledTokens):
        return
    detectors = compiled.graph.detectors
    for subscription, output in compiled.graph.outputs:
        used, waiting = {output: None}, [output]
        while waiting:
            new = [number for number in detectors[waiting.pop()].inputs if number not in used]
            used |= dict.fromkeys(new)
            waiting += new
        for problem in dead_ends(subscription, [compiled.automata[number] for number in used]):
            yield subscription.name, problem


FAMILY = Family(read, warnings)
