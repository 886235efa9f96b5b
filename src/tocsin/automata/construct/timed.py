"""Timing: the move from the first part to the second starts a timer, which every state of the second part hears."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.pattern import Pattern, Timer
from tocsin.automata.fragment import Context, Draft, Fragment, Way


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
    number = len(draft.timers)
    draft.timers.append(timer)
    inside = replace(
        context, timers={**context.timers, timer.name: number}, running=context.running | {number}
    )
    after = construct(draft, second, inside)
    draft.connect(before.end, after.start, Way(arms=frozenset({number})))
    return Fragment(before.start, after.end)
