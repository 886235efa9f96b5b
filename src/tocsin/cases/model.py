"""What a test case is to the runner: a handler for each kind, which says what was expected and what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Case = Mapping[str, Any]
Handler = Callable[[Case, str], tuple[object, object]]  # the case and an engine -> expected, got


class Skip(Exception):
    """An engine makes no sense for this case; the text says why."""
