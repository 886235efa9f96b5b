"""Other names for the event types of a pattern; everything else stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from tocsin.algebra.tokens.pattern import AllOf, AnyOf, Atom, EventSpec, Pattern, Repeat, Sequence, Timed


def renamed(pattern: Pattern, names: Mapping[str, str]) -> Pattern:
    """The pattern with other names for some event types.

    >>> renamed(Atom((EventSpec("A"), EventSpec("B"))), {"A": "C"}) == Atom((EventSpec("C"), EventSpec("B")))
    True
    """
    match pattern:
        case Atom(accept, domain):
            return replace(pattern, accept=_specs(accept, names), domain=_specs(domain, names))
        case Sequence(parts):
            return replace(pattern, parts=tuple(renamed(part, names) for part in parts))
        case Repeat(body):
            return replace(pattern, body=renamed(body, names))
        case AnyOf(options):
            return replace(pattern, options=tuple(renamed(option, names) for option in options))
        case AllOf(left, right):
            return replace(pattern, left=renamed(left, names), right=renamed(right, names))
        case Timed(first, second):
            return replace(pattern, first=renamed(first, names), second=renamed(second, names))
        case _:
            assert_never(pattern)


def _specs(found: tuple[EventSpec, ...], names: Mapping[str, str]) -> tuple[EventSpec, ...]:
    return tuple(replace(spec, name=names.get(spec.name, spec.name)) for spec in found)
