"""The phrase for a pattern: the inverse of `phrases`, for the printers of higher-level languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern, Timed, atoms, rebuilt
from tocsin.errors import PatternError, Span


def not_expressible(language: str, what: str, span: Span | None, hint: str | None = None) -> PatternError:
    """The error for a pattern that a language cannot express."""
    return PatternError("not-expressible", f"the {language} language cannot say {what}", span, hint)


def as_event(atom: Atom) -> tuple[EventSpec, tuple[EventSpec, ...]] | None:
    """The one event an atom takes, and the events that end it; None if it is more than that.

    >>> as_event(Atom((EventSpec("A"),), (EventSpec("A"), EventSpec("B"))))[1]
    (EventSpec(name='B', filter=None),)
    """
    if atom.negated or len(atom.accept) != 1:
        return None
    own = atom.accept[0]
    return own, tuple(spec for spec in atom.domain if spec != own)


def as_within(timed: Timed) -> Pattern | None:
    """What must happen before the timer runs out, without the timer; None if the timer is waited for."""
    second = _untimed(timed.second, EventSpec(timed.timer.name))
    named = any(spec.name == timed.timer.name for atom in atoms(second) for spec in atom.accept)
    return None if named or timed.timer.after is None else second


def as_not_followed_by(timed: Timed) -> tuple[EventSpec, ...] | None:
    """The events that must not happen before the timer runs out; None if it is something else."""
    own = EventSpec(timed.timer.name)
    match timed.second:
        case Atom((spec,), _, False) as atom if spec == own and timed.timer.after is not None:
            return tuple(spec for spec in atom.domain if spec != own) or None
        case _:
            return None


def _untimed(pattern: Pattern, timer: EventSpec) -> Pattern:
    match pattern:
        case Atom(accept, domain) if timer in domain and timer not in accept:
            rest = tuple(spec for spec in domain if spec != timer)
            return replace(pattern, domain=() if rest == accept else rest)
        case Timed(first, _, own) if own.name == timer.name:
            # Inside, the name means the inner timer.
            return replace(pattern, first=_untimed(first, timer))
        case _:
            return rebuilt(pattern, lambda part: _untimed(part, timer))


def runs(parts: tuple[Pattern, ...]) -> Iterator[tuple[Pattern, int]]:
    """Each part with how often it comes in a row.

    >>> a, b = Atom((EventSpec("A"),)), Atom((EventSpec("B"),))
    >>> [times for _, times in runs((a, b, b))]
    [1, 2]
    """
    for part, group in groupby(parts):
        yield part, len(list(group))
