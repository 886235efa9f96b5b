"""Writes a pattern in the pretty language; `parse(show(p)) == p` for every pattern the language can express.

Timers get new names when the sentence is parsed: T1, T2, …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Within,
)
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.events import format_duration
from tocsin.languages.quoted_conditions import show_filter
from tocsin.languages.recognise import as_event, as_not_followed_by, not_expressible, runs

# How tightly each construct binds; what binds no tighter than its surroundings is put in parentheses.
_SENTENCE, _AND, _OR, _CHAIN, _FACT, _REPEATED = range(6)  # an event is repeated once; more needs parentheses


def show_subscription(subscription: Subscription, names: Mapping[str, str] | None = None) -> str:
    """The sentence of a subscription that is nothing but a pattern.

    >>> show_subscription(Subscription(Atom((EventSpec("Event_A"),))), {"Event A": "Event_A"})
    '"Event A"'
    """
    extras = {
        "named composites": subscription.definitions,
        "`where`": subscription.where,
        "which matches are wanted": str(subscription.selection),
        "a detection policy": subscription.detection,
        "a distribution policy": subscription.distribution,
    }
    for what, extra in extras.items():
        if extra:
            raise not_expressible("pretty", what, None, "write it in the core language")
    return show(subscription.pattern, names)


def show(pattern: Pattern, names: Mapping[str, str] | None = None) -> str:
    """The sentence of a pattern; raises `PatternError` if there is none.

    >>> show(Sequence((Atom((EventSpec("A"),)), Atom((EventSpec("B"),))), Order.STRONG))
    '"A" followed by "B"'

    Args:
        names: the table of names that `parse` takes; event types are written by their names in it.
    """
    return _show(pattern, _SENTENCE, {name: quoted for quoted, name in (names or {}).items()})


def _show(pattern: Pattern, outside: int, names: Mapping[str, str]) -> str:
    text, strength = _text(pattern, names)
    return text if strength >= outside else f"({text})"


def _text(pattern: Pattern, names: Mapping[str, str]) -> tuple[str, int]:
    match pattern:
        case Atom():
            return _atom(pattern, names), _FACT
        case Sequence():
            return _sequence(pattern, names)
        case AnyOf(options):
            return " or ".join(_show(option, _CHAIN, names) for option in options), _OR
        case AllOf(left, right):
            return f"{_show(left, _AND, names)} and {_show(right, _OR, names)}", _AND
        case Timed():
            return _timed(pattern, names), _SENTENCE
        case Within(Atom()):
            raise not_expressible("pretty", "that one event comes within some time", pattern.span)
        case Within(body, limit):
            return f'{_show(body, _AND, names)} within "{format_duration(limit)}"', _SENTENCE
        case Repeat(body):
            return _repeated(body, "at least 0 times", names), _FACT
        case Optional(body, most):
            return _repeated(body, f"at most {most} times", names), _FACT
        case _:
            assert_never(pattern)


def _sequence(sequence: Sequence, names: Mapping[str, str]) -> tuple[str, int]:
    if sequence.order is Order.STRONG:
        facts = [(part, 1) for part in sequence.parts]
    elif sequence.order is Order.WEAK:
        facts = list(runs(sequence.parts))
    else:
        raise not_expressible("pretty", f"a {sequence.order.value} sequence", sequence.span)
    words = []
    for number, (part, times) in enumerate(facts):
        if times > 1:
            words.append(_repeated(part, f"{times} times", names))
        else:
            # Links bind to the left, so a chain can continue another one.
            words.append(_show(part, _CHAIN if number == 0 else _FACT, names))
    link = " followed by " if sequence.order is Order.STRONG else " then "
    return link.join(words), _CHAIN if len(words) > 1 else _FACT


def _repeated(part: Pattern, how_often: str, names: Mapping[str, str]) -> str:
    if isinstance(part, Atom):
        return _atom(part, names, f" repeated {how_often}")
    return f"{_show(part, _REPEATED, names)} repeated {how_often}"


def _timed(timed: Timed, names: Mapping[str, str]) -> str:
    if timed.timer.after is None:
        hint = "write it in the core language: ( … , … )_{T1@2004-01-31T19:00:00}"
        raise not_expressible("pretty", "a timer at a fixed time", timed.span, hint)
    limit = f' within "{format_duration(timed.timer.after)}"'
    if (stoppers := as_not_followed_by(timed)) is not None:
        events = " or ".join(_event(spec, names) for spec in stoppers)
        what = events if len(stoppers) == 1 else f"({events})"
        return f"{_show(timed.first, _FACT, names)} not followed by {what}{limit}"
    hint = "only `not followed by` waits for a timer; `within` limits a whole pattern"
    raise not_expressible("pretty", f"what the timer {timed.timer.name} is for", timed.span, hint)


def _atom(atom: Atom, names: Mapping[str, str], how_often: str = "") -> str:
    event = as_event(atom)
    if event is None:
        what = "what is not in a set" if atom.negated else "several events in one"
        hint = "write it in the core language" if atom.negated else "join them with `or`"
        raise not_expressible("pretty", what, atom.span, hint)
    own, stoppers = event
    return _event(own, names) + how_often + "".join(f" without {_event(spec, names)}" for spec in stoppers)


def _event(spec: EventSpec, names: Mapping[str, str]) -> str:
    event = _quoted(names.get(spec.name, spec.name))
    return event if spec.filter is None else f"{event} where {_quoted(show_filter(spec.filter))}"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
