"""`(C*)*` is `C*`, unless C forks a token.

With an alternation in C the outer star joins different options in one place. An event that one of them takes keeps such a
place alive where the other option alone would fail, or what follows the star would: a start, or a match that may leave events
out, then continues with the other option. So those stars stay.
"""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.tokens.pattern import AnyOf, Pattern, Repeat, children


def star_of_star(pattern: Pattern, number: Callable[[Pattern], int]) -> Pattern:
    """An iteration whose body is not an iteration."""
    if not isinstance(pattern, Repeat) or not isinstance(pattern.body, Repeat):
        return pattern
    inner = pattern.body.body
    # Two stars inside that have not been merged stay, and so does this one.
    if isinstance(inner, Repeat) or forks(inner):
        return pattern
    return Repeat(inner, pattern.span)


def forks(body: Pattern) -> bool:
    """Whether there is an alternation anywhere in a pattern."""
    waiting = [body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, AnyOf):
            return True
        waiting += children(part)
    return False
