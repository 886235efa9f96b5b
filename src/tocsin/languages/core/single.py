"""Single events as the core language writes them: a type, and perhaps a filter, without brackets."""

from __future__ import annotations

import re

_TYPE_WITH_FILTER = re.compile(r"\s*[A-Za-z_]\w*\s*(\(.*\))?\s*", re.DOTALL)


def single_event(text: str) -> str | None:
    """The pattern that matches the one event a text describes; None if the text is a pattern already.

    >>> single_event("Temp(temp < 15)"), single_event("[Door];[Temp]")
    ('[Temp(temp < 15)]', None)
    """
    return f"[{text}]" if _TYPE_WITH_FILTER.fullmatch(text) is not None else None
