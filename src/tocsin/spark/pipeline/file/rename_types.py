"""Other names for the event types of a pattern; everything else stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern, rebuilt


def renamed(pattern: Pattern, names: Mapping[str, str]) -> Pattern:
    """The pattern with other names for some event types.

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
