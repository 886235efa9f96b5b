"""Sequence: as concatenation, but the moves are strong, and every later event of a part stays behind its link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.pattern import Pattern
from tocsin.automata.tokens.fragment import Context, Draft, Fragment, Way


def sequence(
    draft: Draft,
    parts: tuple[Pattern, ...],
    context: Context,
    construct: Callable[[Draft, Pattern, Context], Fragment],
) -> Fragment:
    """`C1 ; C2`. Paper: 003, Fig. 14c."""
    first = last = construct(draft, parts[0], context)
    for part in parts[1:]:
        link = draft.link()
        following = construct(draft, part, replace(context, behind=(*context.behind, link)))
        draft.connect(last.end, following.start, Way(strong=True, enters=frozenset({link})))
        last = following
    return Fragment(first.start, last.end)
