"""Why a pattern does not match: how far its partial matches got among the events of one key.

The reference semantics of each family is watched as it runs; `account` has the values, and a module per family fills them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError
from tocsin.events import Catalog, Event, trace
from tocsin.languages.language import Language
from tocsin.languages.registry import DEFAULT, parse
from tocsin.languages.registry import language as language_named
from tocsin.values import Value
from tocsin.why_not.account import Answer, Asked, Attempt, Happened, WhyNot, in_order

__all__ = ["Answer", "Asked", "Attempt", "Happened", "WhyNot", "account_of", "happened"]

MOST_EVENTS = 20_000  # the reference is slow


def account_of(
    text: Any,
    events: Sequence[Event],
    language: str | Language = DEFAULT,
    *,
    options: Any = None,
    catalog: Catalog | None = None,
    selection: Selection | None = None,
    key: Mapping[str, Value] | None = None,
    at: int | None = None,
) -> WhyNot:
    """How far the partial matches of a pattern got among the events of one key.

    >>> from tocsin.events import Interval
    >>> events = [Event(n, frozenset({t}), Interval(n, n)) for n, t in enumerate("ACB")]
    >>> account = account_of("[A] [B in {B, C}]", events)
    >>> [(one.outcome, one.ended_by.type, one.waits_for) for one in account.attempts]
    [('ended', 'C', ('B',))]

    Args:
        selection: which matches are wanted unless the text says so.
        at: the moment to look at, in microseconds: later events are left out; by default that of the last event.
    """
    own = language_named(language)
    ordered = [event for event in trace(events) if at is None or event.interval.end <= at]
    if len(ordered) > MOST_EVENTS:
        message = f"{len(ordered):,} events are too many to follow every partial match"
        raise InputError("too-many-events", message, hint="give a shorter span of time")
    chosen = own.options_of(options)
    value = text
    if isinstance(text, str):
        value = parse(text, own, options=chosen, catalog=catalog, selection=selection)
    until = at if at is not None else max((event.interval.end for event in ordered), default=0)
    answer: Answer = own.on("why")(Asked(own, value, chosen, ordered, until, catalog))
    found = Answer(in_order(answer.attempts), answer.waits_for, answer.notes)
    shown = text if isinstance(text, str) else own.text_of(value)
    return WhyNot(shown.strip(), own.name, key or {}, tuple(map(happened, ordered)), until, found)


def happened(event: Event, type: str | None = None) -> Happened:
    """An event as accounts show it."""
    interval = event.interval
    name = type or ", ".join(sorted(event.types))
    return Happened(name, interval.start, interval.end, event.id, dict(event.attributes))
