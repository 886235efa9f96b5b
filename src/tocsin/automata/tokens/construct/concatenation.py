"""Concatenation: an empty weak move from the end of each part to the start of the next."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tocsin.algebra.tokens.pattern import Pattern
from tocsin.automata.tokens.fragment import Context, Draft, Fragment


def concatenation(
    draft: Draft,
    parts: tuple[Pattern, ...],
    context: Context,
    construct: Callable[[Draft, Pattern, Context], Fragment],
) -> Fragment:
    """`C1 C2`. Paper: 003, Fig. 14b."""
    fragments = [construct(draft, part, context) for part in parts]
    for before, after in pairwise(fragments):
        draft.connect(before.end, after.start)
    return Fragment(fragments[0].start, fragments[-1].end)
