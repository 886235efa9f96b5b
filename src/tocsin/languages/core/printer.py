"""Writes a pattern in the Cambridge core language, as a person would: `parse(show(p)) == p`."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
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
    Timer,
    Within,
)
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.errors import PatternError, Span
from tocsin.events import format_duration, format_timestamp
from tocsin.languages.core.words import RESERVED, shown_attribute, shown_type
from tocsin.languages.lexis import is_name

# How tightly each construct binds; a part that binds no tighter than its surroundings is put in parentheses.
_WITHIN, _PARALLEL, _ALTERNATION, _STRONG, _WEAK, _REPEAT, _PRIMARY = range(7)


def show_subscription(subscription: Subscription) -> str:
    """The whole text: definitions, pattern, condition and policies.

    >>> show_subscription(Subscription(Atom((EventSpec("A"),)), distribution="minimum-load"))
    '[A] with distribution = minimum-load'
    """
    lines = [f"{_name(d.name, d.span)} := ({show(d.pattern)});" for d in subscription.definitions]
    last = show(subscription.pattern)
    if subscription.where is not None:
        last += f" where {show_filter(subscription.where)}"
    policies = [str(subscription.selection)] if str(subscription.selection) else []
    if (detection := subscription.detection) is not None:
        threshold = "" if detection.threshold is None else f"({detection.threshold!r})"
        policies.append(f"detection = {detection.mode}{threshold}")
    if subscription.distribution is not None:
        policies.append(f"distribution = {subscription.distribution}")
    if policies:
        last += " with " + ", ".join(policies)
    return "\n".join([*lines, last])


def show(pattern: Pattern) -> str:
    """The text of a pattern.

    >>> show(Sequence((Atom((EventSpec("A"),)), Repeat(Atom((EventSpec("B"),)))), Order.STRONG))
    '[A];[B]*'
    """
    return _show(pattern, _WITHIN)


def _show(pattern: Pattern, outside: int) -> str:
    text, strength = _text(pattern)
    return text if strength >= outside else f"({text})"


def _text(pattern: Pattern) -> tuple[str, int]:
    match pattern:
        case Atom():
            return _atom(pattern), _PRIMARY
        case Sequence((*_, Optional(body, most)) as parts, Order.WEAK) if parts[:-1] == (body,) * (
            len(parts) - 1
        ):
            least = len(parts) - 1
            return f"{_show(body, _REPEAT)}{{{least},{least + most}}}", _REPEAT
        case Sequence(parts, Order.WEAK):
            return "".join(_weak_parts(parts)), _WEAK
        case Sequence(parts, Order.STRONG):
            return ";".join(_show(part, _WEAK) for part in parts), _STRONG
        case Sequence():
            message = f"the core language has no {pattern.order.value} sequence"
            raise PatternError("not-expressible", message, pattern.span)
        case Repeat(body):
            return f"{_show(body, _REPEAT)}*", _REPEAT
        case Optional(body, 1):
            return f"{_show(body, _REPEAT)}?", _REPEAT
        case Optional(body, most):
            return f"{_show(body, _REPEAT)}{{0,{most}}}", _REPEAT
        case Within(body, limit):
            return f"{_show(body, _STRONG)} within {format_duration(limit)}", _WITHIN
        case AnyOf(options):
            return " | ".join(_show(option, _STRONG) for option in options), _ALTERNATION
        case AllOf(left, right):
            return f"{_show(left, _PARALLEL)} || {_show(right, _ALTERNATION)}", _PARALLEL
        case Timed(first, second, timer):
            return f"({show(first)}, {show(second)})_{{{_timer(timer)}}}", _PRIMARY
        case _:
            assert_never(pattern)


def _weak_parts(parts: tuple[Pattern, ...]) -> Iterator[str]:
    """The parts of a concatenation. Equal optional parts in a row would be read as one, so they get parentheses."""
    for number, part in enumerate(parts):
        text = _show(part, _REPEAT)
        before = parts[number - 1] if number else None
        same = isinstance(part, Optional) and isinstance(before, Optional) and part.body == before.body
        yield f"({text})" if same else text


def _timer(timer: Timer) -> str:
    name = _name(timer.name, timer.span)
    if timer.after is not None:
        return f"{name}={format_duration(timer.after)}"
    assert timer.at is not None
    return f"{name}@{format_timestamp(timer.at)}"


def _atom(atom: Atom) -> str:
    accept = ", ".join(show_spec(spec) for spec in atom.accept)
    domain = ""
    if len(atom.domain) == 1:
        domain = f" in {show_spec(atom.domain[0])}"
    elif atom.domain:
        domain = " in {" + ", ".join(show_spec(spec) for spec in atom.domain) + "}"
    return f"[{'!' if atom.negated else ''}{accept}{domain}]"


def show_spec(spec: EventSpec) -> str:
    """The text of one event specification."""
    name = shown_type(spec.name) if spec.name else _name(spec.name, spec.span)
    return name if spec.filter is None else f"{name}({show_filter(spec.filter)})"


def _name(name: str, span: Span | None) -> str:
    if not is_name(name) or name in RESERVED:
        message = f"the core language cannot write the name {name!r}"
        hint = "a name has letters, digits and _, and is not a keyword"
        raise PatternError("not-expressible", message, span, hint)
    return name


def show_filter(filter: Filter) -> str:
    """The text of a filter."""
    match filter:
        case Compare(left, relation, right):
            return f"{_operand(left)} {relation} {_operand(right)}"
        case IsNull(operand):
            return f"{_operand(operand)} IS NULL"
        case Like(operand, pattern):
            return f"{_operand(operand)} LIKE {_literal(pattern)}"
        case And(parts):
            return " AND ".join(_part(part, And | Or) for part in parts)
        case Or(parts):
            return " OR ".join(_part(part, Or) for part in parts)
        case Not(part):
            return f"NOT {_part(part, And | Or)}"
        case Unify(name):
            message = f"the core language cannot say that {name!r} is the same on both sides"
            raise PatternError("not-expressible", message, filter.span)
        case _:
            assert_never(filter)


def _part(part: Filter, looser: type | UnionType) -> str:
    """A part of a filter, in parentheses if it is one of those that do not bind tighter."""
    return f"({show_filter(part)})" if isinstance(part, looser) else show_filter(part)


def _operand(operand: Attribute | RoleAttribute | Literal | Variable) -> str:
    match operand:
        case Attribute(name):
            return shown_attribute(name)
        case RoleAttribute(role, name):
            return f"{shown_type(role)}.{shown_attribute(name)}"
        case Variable(name):
            return f"${name}"
        case Literal():
            return _literal(operand.value)


def _literal(value: int | float | str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    # Digits that parse back to the same number, and to a float if it is one.
    return repr(value)
