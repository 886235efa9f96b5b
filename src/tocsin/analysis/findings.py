"""Warnings about the subscriptions of a text: those that never fire, always fire, or get stuck."""

from __future__ import annotations

from collections.abc import Iterable

from tocsin.algebra.completion.expression import Program, Subscription
from tocsin.analysis.answer import Answer, WitnessedError, show_trace
from tocsin.analysis.budget import Budget
from tocsin.analysis.guards import overlapping_guards
from tocsin.analysis.live import live
from tocsin.analysis.subject import subjects
from tocsin.analysis.trivial import trivial
from tocsin.analysis.vacuous import vacuous
from tocsin.errors import LimitError, PatternError, Span


def findings(
    program: Program, types: Iterable[frozenset[str]] | None = None, budget: Budget | None = None
) -> list[PatternError]:
    """The warnings for a text, as errors that are not raised; one budget covers all of it.

    >>> from tocsin.algebra.completion.expression import FALSE, Predicate
    >>> print(findings(Program((Subscription("S", Predicate(FALSE)),)))[0])
    never-fires: 'S' accepts no trace of events

    Args:
        types: for each type of events, that type and those it is a subtype of.
    """
    types = None if types is None else list(types)
    budget = budget or Budget()
    found: list[PatternError] = []
    for subscription in program.subscriptions:
        try:
            found += overlapping_guards(subscription.expression, budget)
            (subject,) = subjects(
                subscription.expression, types=types, interpretation=program.interpretation, budget=budget
            )
            answers = vacuous(subject, budget), trivial(subject), live(subject, budget)
        except LimitError as error:
            message = f"{_name(subscription)} is too large to analyse: {error.message}"
            found.append(PatternError("not-analysed", message, subscription.span))
            continue
        found += worth_a_warning(_name(subscription), subscription.span, *answers)
    return found


def worth_a_warning(
    name: str, span: Span | None, vacuous: Answer, trivial: Answer, live: Answer
) -> list[PatternError]:
    """The warning that follows from these results, if any."""
    if vacuous:
        return [PatternError("never-fires", f"{name} accepts no trace of events", span)]
    if trivial:
        return [PatternError("always-fires", f"{name} accepts every event", span)]
    if live.witness is not None:
        message = f"{name} gets stuck: after {show_trace(live.witness)} it can accept nothing any more"
        return [WitnessedError("gets-stuck", message, span, "start it again with repeat {…}", live.witness)]
    return []


def _name(subscription: Subscription) -> str:
    return "the expression" if subscription.name is None else repr(subscription.name)
