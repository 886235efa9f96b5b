"""Timing: the move from the first part to the second starts a timer that every state of the second part reacts to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.pattern import Pattern, Timer
from tocsin.automata.tokens.fragment import Context, Draft, Fragment, Way


def timed(
    draft: Draft,
    first: Pattern,
    second: Pattern,
    timer: Timer,
    context: Context,
    construct: Callable[[Draft, Pattern, Context], Fragment],
) -> Fragment:
    """`(C1, C2)_{T=…}`. Paper: 003, Fig. 14f."""
    before = construct(draft, first, context)
    number = draft.timer(timer, timer.span)
    inside = replace(
        context, timers={**context.timers, timer.name: number}, running=context.running | {number}
    )
    after = construct(draft, second, inside)
    draft.connect(before.end, after.start, Way(arms=frozenset({number})))
    return Fragment(before.start, after.end)
