"""`C|C` is `C`: two tokens that wait for the same events find the same matches, and a match is reported once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.pattern import AnyOf, Pattern


def equal_alternatives(pattern: Pattern, number: Callable[[Pattern], int]) -> Pattern:
    """An alternation with each of its options once; the option itself if only one is left."""
    if not isinstance(pattern, AnyOf):
        return pattern
    different: dict[int, Pattern] = {}
    for option in pattern.options:
        different.setdefault(number(option), option)
    if len(different) == len(pattern.options):
        return pattern
    left = tuple(different.values())
    return left[0] if len(left) == 1 else replace(pattern, options=left)
