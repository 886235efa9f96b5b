"""The phrase for a pattern: the inverse of `phrases`, for the printers of higher-level languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern, Timed
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


def as_not_followed_by(timed: Timed) -> tuple[EventSpec, ...] | None:
    """The events that must not happen before the timer runs out; None if it is something else."""
    own = EventSpec(timed.timer.name)
    match timed.second:
        case Atom((spec,), _, False) as atom if spec == own and timed.timer.after is not None:
            return tuple(spec for spec in atom.domain if spec != own) or None
        case _:
            return None


def runs(parts: tuple[Pattern, ...]) -> Iterator[tuple[Pattern, int]]:
    """Each part with how often it comes in a row.

    >>> a, b = Atom((EventSpec("A"),)), Atom((EventSpec("B"),))
    >>> [times for _, times in runs((a, b, b))]
    [1, 2]
    """
    for part, group in groupby(parts):
        yield part, len(list(group))
