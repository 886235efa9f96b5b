"""Rename the event types of a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern, rebuilt


def renamed(pattern: Pattern, names: Mapping[str, str]) -> Pattern:
    """Return the pattern with some event types renamed.

    >>> renamed(Atom((EventSpec("A"), EventSpec("B"))), {"A": "C"}) == Atom((EventSpec("C"), EventSpec("B")))
    True
    """
    match pattern:
        case Atom(accept, domain):
            return replace(pattern, accept=_specs(accept, names), domain=_specs(domain, names))
        case _:
            return rebuilt(pattern, lambda part: renamed(part, names))


def _specs(found: tuple[EventSpec, ...], names: Mapping[str, str]) -> tuple[EventSpec, ...]:
    return tuple(replace(spec, name=names.get(spec.name, spec.name)) for spec in found)
