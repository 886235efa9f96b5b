"""Writes a pattern as Python code that builds it, and that `parse` also reads.

Timers get new names when the code is run or parsed: T1, T2, …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    RoleAttribute,
    Unify,
    Variable,
)
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
from tocsin.languages.recognise import as_event, as_not_followed_by, not_expressible, runs
from tocsin.values import Relation

_SIGNS = {Relation.EQ: "=="}
Named = Mapping[str, Pattern]


def show_subscription(subscription: Subscription) -> str:
    """The code of a subscription that is nothing but a pattern with named parts.

    >>> show_subscription(Subscription(Atom((EventSpec("A"),))))
    'event("A")'
    """
    extras = {
        "`where`": subscription.where,
        "which matches are wanted": str(subscription.selection),
        "a detection policy": subscription.detection,
        "a distribution policy": subscription.distribution,
    }
    for what, extra in extras.items():
        if extra:
            hint = "give it to .subscription( … ), or write it in the core language"
            raise not_expressible("binding", what, None, hint)
    return show(subscription.pattern, {d.name: d.pattern for d in subscription.definitions})


def show(pattern: Pattern, named: Named | None = None) -> str:
    """The code of a pattern; raises `PatternError` if there is none.

    >>> show(Sequence((Atom((EventSpec("A"),)), Atom((EventSpec("B"),))), Order.STRONG))
    'event("A").followed_by(event("B"))'

    Args:
        named: the named patterns that it uses.
    """
    return _show(pattern, named or {})


def _show(pattern: Pattern, named: Named) -> str:
    match pattern:
        case Atom():
            return _atom(pattern, named)
        case Sequence():
            return _sequence(pattern, named)
        case Repeat(body):
            return f"{_show(body, named)}.any_number()"
        case Optional(body, most):
            often = "optional()" if most == 1 else f"repeated(0, {most})"
            return f"{_show(body, named)}.{often}"
        case Within(Atom()):
            raise not_expressible("binding", "that one event comes within some time", pattern.span)
        case Within(body, limit):
            return f'{_show(body, named)}.within("{format_duration(limit)}")'
        case AnyOf((first, *rest)):
            return _show(first, named) + "".join(f".or_({_show(option, named)})" for option in rest)
        case AllOf(left, right):
            return f"{_show(left, named)}.and_({_show(right, named)})"
        case Timed():
            return _timed(pattern, named)
        case _:
            raise TypeError(f"{pattern} is not a pattern")


def _sequence(sequence: Sequence, named: Named) -> str:
    facts = list(runs(sequence.parts)) if sequence.order is Order.WEAK else [(p, 1) for p in sequence.parts]
    shown = [_show(part, named) + ("" if times == 1 else f".repeated({times})") for part, times in facts]
    method = "followed_by" if sequence.order is Order.STRONG else "then"
    return shown[0] + "".join(f".{method}({text})" for text in shown[1:])


def _timed(timed: Timed, named: Named) -> str:
    if timed.timer.after is None:
        hint = "write it in the core language: ( … , … )_{T1@2004-01-31T19:00:00}"
        raise not_expressible("binding", "a timer at a fixed time", timed.span, hint)
    limit = f'"{format_duration(timed.timer.after)}"'
    first = _show(timed.first, named)
    if (stoppers := as_not_followed_by(timed)) is not None:
        events = [_event(spec, named) for spec in stoppers]
        return (
            f"{first}.not_followed_by({events[0]}{''.join(f'.or_({e})' for e in events[1:])}, within={limit})"
        )
    hint = "only .not_followed_by( … ) waits for a timer; .within( … ) limits a whole pattern"
    raise not_expressible("binding", f"what the timer {timed.timer.name} is for", timed.span, hint)


def _atom(atom: Atom, named: Named) -> str:
    event = as_event(atom)
    if event is None:
        what = "what is not in a set" if atom.negated else "several events in one"
        hint = "write it in the core language" if atom.negated else "join them with .or_( … )"
        raise not_expressible("binding", what, atom.span, hint)
    own, stoppers = event
    return _event(own, named) + "".join(f".unless({_event(spec, named)})" for spec in stoppers)


def _event(spec: EventSpec, named: Named) -> str:
    text = f"event({_literal(spec.name)})"
    if spec.name in named:
        text = f'{_show(named[spec.name], named)}.named("{spec.name}")'
    if spec.filter is None:
        return text
    conditions = spec.filter.parts if isinstance(spec.filter, And) else (spec.filter,)
    return f"{text}.where({', '.join(show_filter(condition) for condition in conditions)})"


def show_filter(filter: Filter) -> str:
    """The code of a condition."""
    match filter:
        case Compare(left, relation, right):
            return f"{_operand(left)} {_SIGNS.get(relation, relation)} {_operand(right)}"
        case IsNull(operand):
            return f"{_operand(operand)}.is_null()"
        case Like(operand, pattern):
            return f"{_operand(operand)}.like({_literal(pattern)})"
        case And(parts):
            return " & ".join(f"({show_filter(part)})" for part in parts)
        case Or(parts):
            return " | ".join(f"({show_filter(part)})" for part in parts)
        case Not(part):
            return f"~({show_filter(part)})"
        case Unify(name):
            raise not_expressible("binding", f"that {name!r} is the same on both sides", filter.span)
        case _:
            assert_never(filter)


def _operand(operand: Attribute | RoleAttribute | Literal | Variable) -> str:
    match operand:
        case Attribute(name):
            return f"attribute({_literal(name)})"
        case RoleAttribute(role, name):
            return f'attribute({_literal(name)}, of="{role}")'
        case Variable(name):
            return f'variable("{name}")'
        case Literal():
            return _literal(operand.value)


def _literal(value: int | float | str | bool) -> str:
    if not isinstance(value, str):
        return repr(value)
    # Quotes inside are doubled, as in all languages here; avoided where possible, for Python's sake.
    quote = "'" if '"' in value and "'" not in value else '"'
    return quote + value.replace(quote, quote * 2) + quote
