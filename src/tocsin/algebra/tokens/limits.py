"""Limits on the length of a match reach into its parallel parts, each of which is a detector of its own.

In `(C1 || C2) within 5s` the first event is the earliest of both sides, and the last the latest. So neither side can last
longer than the limit, and nor can both together. Written out like this, the composite of a parallel part is never longer than
the limits around it.
"""

from __future__ import annotations

from tocsin.algebra.tokens.pattern import AllOf, Atom, Pattern, Within, rebuilt


def written_out(pattern: Pattern, limit: int | None = None) -> Pattern:
    """The pattern with a limit on every parallel part that lies inside one, and on both its sides.

    >>> from tocsin.algebra.tokens.pattern import EventSpec, Repeat
    >>> a = Atom((EventSpec("A"),))
    >>> written_out(Within(AllOf(a, Repeat(a)), 5)) == Within(AllOf(a, Within(Repeat(a), 5)), 5)
    True
    """
    match pattern:
        case Within(Within(body, inner), own):
            return written_out(Within(body, min(inner, own), pattern.span), limit)
        case Within(AllOf() as body, own):
            return written_out(body, own if limit is None else min(own, limit))
        case Within(body, own):
            least = own if limit is None else min(own, limit)
            return Within(written_out(body, least), own, pattern.span)
        case AllOf(left, right) if limit is not None:
            first, second = (_limited(written_out(side, limit), limit) for side in (left, right))
            return Within(AllOf(first, second, pattern.span), limit, pattern.span)
        case _:
            return rebuilt(pattern, lambda part: written_out(part, limit))


def _limited(side: Pattern, limit: int) -> Pattern:
    known = isinstance(side, Atom) or (isinstance(side, Within) and side.limit <= limit)
    return side if known else Within(side, limit, side.span)


def parallel(pattern: Pattern) -> AllOf | None:
    """The parallel part that a pattern is, perhaps with a limit; None if it is something else."""
    part = pattern.body if isinstance(pattern, Within) else pattern
    return part if isinstance(part, AllOf) else None
