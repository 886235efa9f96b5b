"""Describe the matches that a subscription selects, and what that costs."""

from __future__ import annotations

from tocsin.algebra.tokens.selection import Selection
from tocsin.explain.contents import Matches

_WANTED = {
    "each": "each start with the first events that go on from it; every completion (each)",
    "any": "every way to pick events, also past some that would do (any)",
    "next": "of each first event only the first completion (next)",
    "leftmost": "the one that begins first, and then none that begins before it is over (leftmost)",
    "adjacent": "only events with no other event of the key between them (adjacent)",
}
_COSTS = {
    "each": "a partial match for each start, until it is complete or fails",
    "any": "the matches can double with every event that could be left out; take = count lists none of them",
    "next": "as each, and a partial match ends with its first completion",
    "leftmost": "as next; a match waits until no earlier partial match is left, so a timer makes it come sooner",
    "adjacent": "few partial matches, but every event travels: none can be dropped because no pattern looks at it",
}


def matches(selection: Selection) -> Matches:
    """Return the selected matches, those reported of one moment, and the cost."""
    return Matches(
        selection.matches,
        selection.take,
        selection.limit,
        _WANTED[selection.matches],
        _taken(selection),
        _COSTS[selection.matches],
    )


def _taken(selection: Selection) -> str:
    match selection.take:
        case "all":
            return "all that one event, or one moment of timers, completes"
        case "first":
            which = "the first" if selection.limit == 1 else f"the first {selection.limit}"
            return f"{which} of those that one event, or one moment of timers, completes"
        case "last":
            return "the last of those that one event, or one moment of timers, completes"
        case "count":
            return "how many one event, or one moment of timers, completes; not the matches themselves"
