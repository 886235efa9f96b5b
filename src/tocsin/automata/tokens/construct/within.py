"""Limits: the first event of a part starts a timer that closes all other states of the part.

Which event is the first depends on the way into its state: in `([A]*[B]) within 5s` a match begins with an A, and others
may follow. So the states that can take a first event exist twice: as they are entered from outside, where the timer does not
run yet, and as they are reached from inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.pattern import Pattern, Timer
from tocsin.automata.tokens.fragment import Context, Draft, Fork, Fragment, Loop, Read, Skip, Way
from tocsin.errors import Span
from tocsin.events import format_duration


def within(
    draft: Draft,
    body: Pattern,
    limit: int,
    span: Span | None,
    context: Context,
    construct: Callable[[Draft, Pattern, Context], Fragment],
) -> Fragment:
    """`C within d`."""
    number = draft.timer(Timer(f"within {format_duration(limit)}", after=limit), span)
    draft.limits.add(number)
    inside = construct(draft, body, replace(context, running=context.running | {number}))
    return Fragment(_entrance(draft, inside, number), inside.end)


def _entrance(draft: Draft, inside: Fragment, number: int) -> int:
    """A copy of what can be reached from the start without an event; its events start the timer."""
    copies: dict[int, int] = {inside.end: inside.end}
    waiting = [inside.start]

    def copied(node: int) -> int:
        if node not in copies:
            copies[node] = draft.node()
            waiting.append(node)
        return copies[node]

    start = copied(waiting.pop())
    while waiting:
        original = waiting.pop()
        own, node = copies[original], draft.nodes[original]
        draft.spans[own] = draft.spans.get(original)
        draft.spend(1, original)
        match node:
            case Read(_, context, target):
                started = draft.node()
                draft.connect(started, target, Way(arms=frozenset({number})))
                outside = replace(context, running=context.running - {number})
                draft.nodes[own] = replace(node, context=outside, target=started)
            case Fork(ways):
                draft.nodes[own] = Fork(tuple((way, copied(target)) for way, target in ways))
            case Loop(body, past):
                draft.nodes[own] = Loop(copied(body), copied(past))
            case Skip(body, past):
                draft.nodes[own] = Skip(copied(body), copied(past))
    return start
