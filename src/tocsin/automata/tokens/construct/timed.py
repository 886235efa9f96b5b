"""Timing: the move from the first part to the second starts a timer that every state of the second part reacts to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.bounds import MAX_OF_A_KIND
from tocsin.algebra.tokens.pattern import Pattern, Timer
from tocsin.automata.tokens.fragment import Context, Draft, Fragment, Way
from tocsin.errors import LimitError


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
    if number == MAX_OF_A_KIND:
        message = f"the pattern has more than {MAX_OF_A_KIND} timers"
        raise LimitError("too-many-timers", message, timer.span, "name a part of it as a composite")
    draft.timers.append(timer)
    inside = replace(
        context, timers={**context.timers, timer.name: number}, running=context.running | {number}
    )
    after = construct(draft, second, inside)
    draft.connect(before.end, after.start, Way(arms=frozenset({number})))
    return Fragment(before.start, after.end)
