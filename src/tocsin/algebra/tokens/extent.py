"""The size of a subscription, and the errors for one that is too large."""

from __future__ import annotations

from collections.abc import Mapping

from tocsin.algebra.tokens.bounds import (
    MAX_COMPOSITE_DEPTH,
    MAX_DEFINITIONS,
    MAX_DEPTH,
    MAX_WRITTEN_OUT,
)
from tocsin.algebra.tokens.pattern import AllOf, Atom, Pattern, children, specs, walk
from tocsin.algebra.tokens.subscription import Definition, Subscription
from tocsin.errors import PatternError


def depth(pattern: Pattern) -> int:
    """Number of levels of a pattern. Not recursive, because callers do not know yet whether recursion is safe.

    >>> from tocsin.algebra.tokens.pattern import EventSpec, Repeat
    >>> depth(Repeat(Atom((EventSpec("A"),))))
    2
    """
    deepest = 0
    waiting = [(pattern, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level + 1) for child in children(node)]
    return deepest


def extent_errors(subscription: Subscription) -> list[PatternError]:
    """An error for each part of a subscription that is too large; without any, the rest of Tocsin may recurse into it."""
    if len(subscription.definitions) > MAX_DEFINITIONS:
        message = f"there are {len(subscription.definitions):,} definitions; the limit is {MAX_DEFINITIONS:,}"
        return [PatternError("too-many-definitions", message, subscription.definitions[MAX_DEFINITIONS].span)]
    patterns = [*(d.pattern for d in subscription.definitions), subscription.pattern]
    if deep := [pattern for pattern in patterns if depth(pattern) > MAX_DEPTH]:
        return [_too_deep(pattern) for pattern in deep]
    return _composite_errors(subscription)


def _too_deep(pattern: Pattern) -> PatternError:
    return PatternError(
        "too-deep",
        f"the pattern has more than {MAX_DEPTH} levels",
        pattern.span,
        "every operator inside another is a level, and so is every further side of ||; name parts of it",
    )


def _composite_errors(subscription: Subscription) -> list[PatternError]:
    """The error for the first composite made of too many others, or nested too deeply."""
    levels: dict[str, int] = {}
    written_out: dict[str, int] = {}
    whole = Definition("", subscription.pattern, subscription.pattern.span)
    for definition in (*subscription.definitions, whole):
        name, pattern = definition.name, definition.pattern
        used = {spec.name for spec in specs(pattern)} & levels.keys()
        levels[name] = 1 + _levels(pattern, levels)
        written_out[name] = sum(1 for _ in walk(pattern)) + sum(written_out[other] for other in used)
        if levels[name] > MAX_COMPOSITE_DEPTH:
            message = f"composites are made of composites over more than {MAX_COMPOSITE_DEPTH} levels here"
            hint = "each definition that names the one before is a level, and so is ||"
            return [PatternError("too-deep", message, definition.span, hint)]
        if written_out[name] > MAX_WRITTEN_OUT:
            message = f"with the composites that it names this has {written_out[name]:,} parts"
            hint = f"at most {MAX_WRITTEN_OUT:,}: split it, or let fewer definitions name several others"
            return [PatternError("too-large", message, definition.span, hint)]
    return []


def _levels(pattern: Pattern, known: Mapping[str, int]) -> int:
    """Over how many levels a pattern reads composites: those it names, and those of its parallel parts."""
    if isinstance(pattern, Atom):
        return max((known.get(spec.name, 0) for spec in (*pattern.accept, *pattern.domain)), default=0)
    below = max(_levels(child, known) for child in children(pattern))
    return below + 1 if isinstance(pattern, AllOf) else below
