"""What is said when a detection would take too much memory."""

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


def shown_key(key: tuple[Any, ...]) -> str:
    """A key in words."""
    return ", ".join(map(repr, key)) if key else "the whole stream"
