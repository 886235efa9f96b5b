"""The errors for a detection that would take too much memory."""

from __future__ import annotations

from typing import Any

from tocsin.errors import LimitError


def too_many_partial_matches(limit: int, key: tuple[Any, ...]) -> LimitError:
    """The error for a key with more partial matches than are allowed."""
    return LimitError(
        "too-many-partial-matches",
        f"more than {limit:,} partial matches wait at once (key: {shown_key(key)})",
        hint="bound the pattern by a timer, as in ([A], [B])_{T1=1h}, or choose a finer key",
    )


def out_of_memory(events: int, matches: int | None = None, waiting: int = 0) -> LimitError:
    """The error for a machine without enough memory for the matches; how many there are is not always known."""
    found = (
        ""
        if matches is None
        else f": {matches:,} matches are found and {waiting:,} partial matches of a key wait"
    )
    return LimitError(
        "out-of-memory",
        f"there is no memory for more matches of these {events:,} events{found}",
        hint="bound the pattern by a timer, take = first 10 or count instead of all, or lower max_partial_matches",
    )


def shown_key(key: tuple[Any, ...]) -> str:
    """A key as text."""
    return ", ".join(map(repr, key)) if key else "the whole stream"


def cannot_go_back(take: str) -> LimitError:
    """The error for an event out of order, where partial matches are not kept one by one."""
    return LimitError(
        "cannot-go-back",
        f"an event comes before others that are counted or ranked already (take = {take})",
        hint="give events in the order of their ends, or take = all, which also works as they arrive",
    )
