"""`(C1|C2)|C3` is `C1|C2|C3`: a fork of a fork is a fork."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.pattern import AnyOf, Pattern


def nested_alternatives(pattern: Pattern, number: Callable[[Pattern], int]) -> Pattern:
    """An alternation without alternations directly inside it."""
    if not isinstance(pattern, AnyOf) or not any(isinstance(option, AnyOf) for option in pattern.options):
        return pattern
    options = (
        inner
        for option in pattern.options
        for inner in (option.options if isinstance(option, AnyOf) else (option,))
    )
    return replace(pattern, options=tuple(options))
