"""Optional parts: a state from which the body can be entered or left out, both at once."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.tokens.pattern import Pattern
from tocsin.automata.tokens.fragment import Context, Draft, Fragment, Skip


def optional(
    draft: Draft,
    body: Pattern,
    most: int,
    context: Context,
    construct: Callable[[Draft, Pattern, Context], Fragment],
) -> Fragment:
    """`C?` and `C{0,n}`: as iteration, with a way on instead of the way back."""
    start, end = draft.node(), draft.node()
    at = start
    for number in range(most):
        inside = construct(draft, body, context)
        draft.nodes[at] = Skip(inside.start, end)
        at = end if number == most - 1 else draft.node()
        draft.connect(inside.end, at)
    return Fragment(start, end)
