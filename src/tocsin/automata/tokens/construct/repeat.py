"""Iteration: a state from which the body can be entered again or left behind, both at once."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.tokens.pattern import Pattern
from tocsin.automata.tokens.fragment import Context, Draft, Fragment, Loop


def repeat(
    draft: Draft, body: Pattern, context: Context, construct: Callable[[Draft, Pattern, Context], Fragment]
) -> Fragment:
    """`C*`. Paper: 003, Fig. 14d."""
    inside = construct(draft, body, context)
    start, end = draft.node(), draft.node()
    draft.nodes[start] = Loop(inside.start, end)
    draft.connect(inside.end, start)
    return Fragment(start, end)
