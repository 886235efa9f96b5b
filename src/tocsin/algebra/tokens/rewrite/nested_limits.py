"""`(C within d) within e` is `C within` the lesser of the two, and one event always ends when it ends."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.tokens.pattern import Atom, Pattern, Within


def nested_limits(pattern: Pattern, number: Callable[[Pattern], int]) -> Pattern:
    """A limit with no other limit directly inside it; the event itself if there is only one."""
    match pattern:
        case Within(Within(body, inner), outer):
            return Within(body, min(inner, outer), pattern.span)
        case Within(Atom() as event):
            return event
        case _:
            return pattern
