"""`C* C*` is `C*`, where one star follows the other weakly and C does not fork a token (see `star_of_star`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.pattern import Order, Pattern, Repeat, Sequence
from tocsin.algebra.tokens.rewrite.star_of_star import forks


def adjacent_stars(pattern: Pattern, number: Callable[[Pattern], int]) -> Pattern:
    """A concatenation in which no iteration directly follows an equal one."""
    if not isinstance(pattern, Sequence) or pattern.order is not Order.WEAK:
        return pattern
    parts: list[Pattern] = []
    for part in pattern.parts:
        again = bool(parts) and isinstance(part, Repeat) and number(part) == number(parts[-1])
        if not again or forks(part):
            parts.append(part)
    if len(parts) == len(pattern.parts):
        return pattern
    return parts[0] if len(parts) == 1 else replace(pattern, parts=tuple(parts))
