"""What a text is told: the code of each mistake and the characters that are underlined."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tocsin.algebra.tokens.subscription import Subscription
from tocsin.errors import PatternErrors


def mistakes(parse: Callable[[], Subscription]) -> list[tuple[str, str]]:
    """The mistakes that reading a text reports, in the order they are shown."""
    with pytest.raises(PatternErrors) as caught:
        parse()
    shown = str(caught.value)
    for error in caught.value.errors:
        # Everything that is noted is also shown, with carets wherever the place is known.
        assert error.message in shown
        assert error.span is None or "^" in str(error)
    return [(e.code, e.span.text[e.span.start : e.span.end] if e.span else "") for e in caught.value.errors]
