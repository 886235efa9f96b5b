"""Alternation: a state from which each option is entered by a token of its own."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.tokens.pattern import Pattern
from tocsin.automata.tokens.fragment import Context, Draft, Fork, Fragment, Way


def any_of(
    draft: Draft,
    options: tuple[Pattern, ...],
    context: Context,
    construct: Callable[[Draft, Pattern, Context], Fragment],
) -> Fragment:
    """`C1 | C2`. Paper: 003, Fig. 14e."""
    fragments = [construct(draft, option, context) for option in options]
    start, end = draft.node(), draft.node()
    draft.nodes[start] = Fork(tuple((Way(), fragment.start) for fragment in fragments))
    for fragment in fragments:
        draft.connect(fragment.end, end)
    return Fragment(start, end)
