"""How a language writes the pieces of a pattern."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tocsin.algebra.predicate import And, Filter, Unify
from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern, rebuilt
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.plan import composite_detector
from tocsin.languages.language import Language
from tocsin.languages.registry import with_parts


@dataclass(frozen=True, slots=True)
class Printers:
    """The printers of a language: of subscriptions, patterns, event specifications and filters."""

    subscription: Callable[[Subscription], str]
    pattern: Callable[[Pattern], str]
    spec: Callable[[EventSpec], str]
    filter: Callable[[Filter], str]


def printers_of(own: Language) -> Printers:
    """The printers of a language, or those of the first language of the family if some are missing."""
    parts = "show-pattern", "show-event", "show-filter"
    writer = with_parts(own, *parts)
    return Printers(writer.text_of, *map(writer.part, parts))


def detector_name(number: int) -> str:
    """The name of a detector, which is also the event type of its composites."""
    return f"D{number}"


def spec_text(spec: EventSpec, printers: Printers) -> str:
    """An event specification of a detector; composites of other detectors have the names of those."""
    shared = _shared(spec)
    return printers.spec(_plain(spec)) + (f"(same {', '.join(shared)})" if shared else "")


def pattern_text(pattern: Pattern, printers: Printers) -> str:
    """The pattern of a detector."""

    def plain(part: Pattern) -> Pattern:
        if isinstance(part, Atom):
            return replace(part, accept=_all_plain(part.accept), domain=_all_plain(part.domain))
        return rebuilt(part, plain)

    return printers.pattern(plain(pattern))


def _all_plain(specs: Sequence[EventSpec]) -> tuple[EventSpec, ...]:
    return tuple(map(_plain, specs))


def _plain(spec: EventSpec) -> EventSpec:
    """The specification in terms that a language can express."""
    number = composite_detector(spec.name)
    if number is None:
        return spec
    return EventSpec(detector_name(number), None if _shared(spec) else spec.filter)


def _shared(spec: EventSpec) -> list[str]:
    """The variables in which a composite must agree with its surroundings; no language has a word for that."""
    parts = spec.filter.parts if isinstance(spec.filter, And) else ()
    return [part.name for part in parts if isinstance(part, Unify)]
