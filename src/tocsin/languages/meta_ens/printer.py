"""Writes profiles; `parse(show(p)) == p`, whatever the unit of bare numbers."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.pairs.expression import (
    After,
    At,
    Chain,
    Composition,
    Conjunction,
    Disjunction,
    During,
    Each,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Several,
    Simultaneity,
    Timeframe,
    Unbounded,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    ALL,
    ONE,
    Concurrency,
    Coupling,
    Detection,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
from tocsin.algebra.pairs.profile import Notify, Profile
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or
from tocsin.errors import PatternError, Span
from tocsin.events import MICROSECONDS
from tocsin.languages.lexis import is_name
from tocsin.languages.meta_ens.words import BETWEEN, CALLED, PICKS, RESERVED, SIGNS
from tocsin.values import as_text

_UNITS = ("d", "h", "min", "s", "ms", "us")


def show(profile: Profile) -> str:
    """The text of a profile.

    >>> from tocsin.algebra.pairs.operators import negation, sequence
    >>> show(Profile("p", sequence("Door", negation("Temp", 300_000_000), within=300_000_000, pairs="unique")))
    '(Door ; !(Temp)_5min)_5min{unique}'
    """
    if profile.notify != Notify():
        raise _cannot("how often, in which format and to whom notifications go", profile.span)
    text = show_expression(profile.expression)
    actions = " AND ".join(_action(one.name, one.arguments) for one in profile.actions)
    return f"{text} : {actions}" if actions else text


def _action(name: str, arguments: tuple[str, ...]) -> str:
    return f"{_name(name)}({', '.join(map(_argument, arguments))})" if arguments else _name(name)


def _argument(text: str) -> str:
    return text if is_name(text) else "'" + text.replace("'", "''") + "'"


def show_expression(expression: Expression) -> str:
    """An expression alone."""
    match expression:
        case Primitive(name, filter):
            return _name(name) if filter is None else f"{_name(name)}({_filter(filter)})"
        case At(time):
            return f"at({'-' if time < 0 else ''}{_duration(abs(time))})"
        case After(body, delay):
            return f"after({show_expression(body)}, {_duration(delay)})"
        case Every(period, since, until):
            parts = [_duration(period), *(show_expression(part) for part in (since, until) if part)]
            return f"every({', '.join(parts)})"
        case Negation(body, timeframe):
            return f"!{_body(body)}{_timeframe(timeframe)}"
        case Selection(body, pick):
            return f"{show_expression(body)}[{_pick(pick, expression.span)}]"
        case Framed(body, timeframe):
            return f"({show_expression(body)}){_timeframe(timeframe)}"
        case Disjunction() | Conjunction() | Ordered() | Simultaneity():
            return _composition(expression)
        case Several() | Chain() | During() | Each():
            raise _cannot(f"the operator {type(expression).__name__.lower()}", expression.span)
        case _:
            assert_never(expression)


def _body(body: Expression) -> str:
    """What a negation negates: an operator without parameters needs no more parentheses than its own."""
    text = show_expression(body)
    bare = isinstance(body, Disjunction | Conjunction | Ordered | Simultaneity)
    return text if bare and text.startswith("(") and text.endswith(")") else f"({text})"


def _composition(expression: Composition) -> str:
    how = expression.how
    parameters: list[str] = []
    if isinstance(how, Views):
        text = _infix(expression)
        picks = (("z", how.first), ("w", how.second))
        parameters += [f"{name}={_pick(pick, expression.span)}" for name, pick in picks if pick != ALL]
        parameters += ["unique"] * (how.pairing is Pairing.UNIQUE) + ["dup=equal"] * how.equal
    else:
        parameters += _modes(how)
        if _is_plain(how):
            text = _infix(expression)
            first, second = how.modes[0].selection, how.modes[-1].selection
            chosen = (("z", first), ("w", second))
            parameters = [
                *(f"{name}={_selection(one, expression.span)}" for name, one in chosen if one != ALL),
                f"consume={how.modes[0].consumption}",
                *parameters,
            ]
        else:
            text = _prefix(expression, how)
    if isinstance(expression, Ordered) and expression.without is not None:
        absent = show_expression(expression.without)
        # The sign of a simultaneity begins as the one before it ends.
        parameters.append(f"without=({absent})" if absent.startswith("=") else f"without={absent}")
    if isinstance(expression, Simultaneity) and expression.tolerance:
        parameters.append(f"tolerance={_duration(expression.tolerance)}")
    suffix = "{" + ", ".join(parameters) + "}" if parameters else ""
    return f"{text}{_timeframe(expression.timeframe)}{suffix}"


def _is_plain(how: Detection) -> bool:
    """Whether the modes can be written with z and w: one of the first operand, one of all others."""
    others = {mode.selection for mode in how.modes[1:]}
    alike = len({mode.consumption for mode in how.modes}) == 1 and len(others) == 1
    return alike and all(mode.delimiter == ONE for mode in how.modes)


def _infix(expression: Composition) -> str:
    return f"({BETWEEN[type(expression)].join(map(show_expression, expression.operands))})"


def _prefix(expression: Composition, how: Detection) -> str:
    operands = [
        f"{_mode(mode, expression.span)}{CALLED[mode.consumption]}({show_expression(operand)})"
        for operand, mode in zip(expression.operands, how.modes, strict=True)
    ]
    return f"{SIGNS[type(expression)]}({', '.join(operands)})"


def _mode(mode: Mode, span: Span | None) -> str:
    if mode.delimiter == ONE:
        return "" if mode.selection == ALL else f"{_selection(mode.selection, span)}: "
    delimiter = _pick(Pick(mode.delimiter.least, mode.delimiter.most), span)
    return f"{_selection(mode.selection, span)}[{delimiter}]: "


def _modes(how: Detection) -> list[str]:
    usual = (Traversal.LEFT_TO_RIGHT, Coupling.NON_CONTINUOUS, Concurrency.OVERLAPPING)
    given = (how.traversal, how.coupling, how.concurrency)
    names = ("traverse", "coupling", "concurrency")
    return [f"{name}={one}" for name, one, other in zip(names, given, usual, strict=True) if one != other]


def _selection(selection: Pick | Gather, span: Span | None) -> str:
    return selection.value if isinstance(selection, Gather) else _pick(selection, span)


def _pick(pick: Pick, span: Span | None) -> str:
    for word, known in PICKS.items():
        if pick == known:
            return word
    if pick.low is None:
        raise _cannot("a range that begins with the last duplicate", span)
    if pick.high is None:
        return f"{pick.low}..length"
    return str(pick.low) if pick.low == pick.high else f"{pick.low}..{pick.high}"


def _timeframe(timeframe: Timeframe | None) -> str:
    if timeframe is None:
        return ""
    return "_inf" if isinstance(timeframe, Unbounded) else f"_{_duration(timeframe)}"


def _duration(microseconds: int) -> str:
    unit = next((u for u in _UNITS if microseconds % MICROSECONDS[u] == 0), "us") if microseconds else "s"
    return f"{microseconds // MICROSECONDS[unit]}{unit}"


def _name(name: str) -> str:
    plain = is_name(name) and "_" not in name and name not in RESERVED
    return name if plain else "`" + name.replace("`", "``") + "`"


def _attribute(name: str) -> str:
    return name if is_name(name) and name not in RESERVED else "`" + name.replace("`", "``") + "`"


def _filter(filter: Filter) -> str:
    match filter:
        case Compare(Attribute(name), relation, Literal(value)):
            return f"{_attribute(name)} {relation.value} {_literal(value)}"
        case And(parts):
            return " AND ".join(f"({_filter(p)})" if isinstance(p, And | Or) else _filter(p) for p in parts)
        case Or(parts):
            return " OR ".join(f"({_filter(p)})" if isinstance(p, And | Or) else _filter(p) for p in parts)
        case Not(IsNull(Attribute(name))):
            return f"{_attribute(name)} IS NOT NULL"
        case Not(part):
            return f"NOT ({_filter(part)})"
        case IsNull(Attribute(name)):
            return f"{_attribute(name)} IS NULL"
        case Like(Attribute(name), pattern):
            return f"{_attribute(name)} LIKE {_literal(pattern)}"
        case _:
            raise _cannot("a comparison of several events", getattr(filter, "span", None))


def _literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return as_text(value) or ""  # type: ignore[arg-type]  # numbers and booleans


def _cannot(what: str, span: Span | None) -> PatternError:
    return PatternError("not-expressible", f"the notation of the Meta-ENS cannot write {what}", span)
