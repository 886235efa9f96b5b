"""The error about a row that a pattern looks at and that is not an event."""

from __future__ import annotations

from tocsin.errors import InputError


def unreadable_event(reason: str) -> InputError:
    """The error for a row that lacks something, with what to do."""
    hint = "leave such rows out with tocsin.Run(unreadable='drop'), on the command line --unreadable drop"
    return InputError("unreadable-event", reason, hint=hint)
