"""Expressions as text, for debugging; the notation is that of the paper in ASCII (Part B.6).

>>> from tocsin.algebra.pairs.expression import Conjunction, Negation, Primitive
>>> show(Conjunction((Primitive("a"), Negation(Primitive("b"), 5)), 30))
'(a, !(b)_5)_30'
"""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.pairs.expression import (
    After,
    At,
    Chain,
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
    FIRST,
    LAST,
    ONE,
    Concurrency,
    Consumption,
    Coupling,
    Delimiter,
    Detection,
    Evaluation,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
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
from tocsin.values import as_text

_BETWEEN = {Disjunction: " | ", Conjunction: ", ", Ordered: " ; ", Simultaneity: " : "}


def show(expression: Expression) -> str:
    """The expression in the notation of the paper. Operators without a notation there are written as words."""
    match expression:
        case Primitive(name, filter):
            return name if filter is None else f"{name}({_filter(filter)})"
        case At(time):
            return f"at({time})"
        case After(body, delay):
            return f"after({show(body)}, {delay})"
        case Every(period, since, until):
            return f"every({', '.join([str(period), show(since), *([show(until)] if until else [])])})"
        case Negation(body, timeframe):
            return f"!{_in_parentheses(body)}{_timeframe(timeframe)}"
        case Selection(body, pick):
            return f"{show(body)}[{_pick(pick)}]"
        case Framed(body, timeframe):
            return f"({show(body)}){_timeframe(timeframe)}"
        case Several(operands, count, timeframe, how):
            inside = ", ".join([str(count), *(show(operand) for operand in operands)])
            return f"any({inside}){_timeframe(timeframe)}{{{','.join(_parameters(how))}}}"
        case Chain(operands, by):
            inside = " . ".join(show(operand) for operand in operands)
            return f"({inside})" + (f"{{by={by}}}" if by else "")
        case During(body, since, until):
            return f"during({show(body)}, {since}, {until})"
        case Each(body, by):
            return f"each({show(body)}, {by})"
        case Disjunction() | Conjunction() | Ordered() | Simultaneity():
            inside = _BETWEEN[type(expression)].join(show(operand) for operand in expression.operands)
            parameters = _parameters(expression.how)
            if isinstance(expression, Ordered) and expression.without is not None:
                parameters.append(f"without={show(expression.without)}")
            if isinstance(expression, Simultaneity) and expression.tolerance:
                parameters.append(f"tolerance={expression.tolerance}")
            suffix = "{" + ",".join(parameters) + "}" if parameters else ""
            return f"({inside}){_timeframe(expression.timeframe)}{suffix}"
        case _:
            assert_never(expression)


def _in_parentheses(body: Expression) -> str:
    text = show(body)
    composed = isinstance(body, Disjunction | Conjunction | Ordered | Simultaneity)
    return text if composed and text.endswith(")") else f"({text})"


def _timeframe(timeframe: Timeframe | None) -> str:
    if timeframe is None:
        return ""
    return "_inf" if isinstance(timeframe, Unbounded) else f"_{timeframe}"


def _pick(pick: Pick) -> str:
    for word, known in (("first", FIRST), ("last", LAST), ("all", ALL)):
        if pick == known:
            return word
    low, high = ("length" if n is None else str(n) for n in (pick.low, pick.high))
    return low if low == high else f"{low}..{high}"


def _selection(selection: Pick | Gather) -> str:
    return selection.value if isinstance(selection, Gather) else _pick(selection)


def _parameters(how: Evaluation) -> list[str]:
    if isinstance(how, Views):
        picks = [f"{name}={_pick(p)}" for name, p in (("z", how.first), ("w", how.second)) if p != ALL]
        unique = ["unique"] if how.pairing is Pairing.UNIQUE else []
        return [*picks, *unique, *(["dup=equal"] if how.equal else [])]
    return [*_modes(how), *_operator_modes(how)]


def _modes(how: Detection) -> list[str]:
    """The modes of the operands: short if there are two that consume alike, else one word for each operand."""
    consumptions = {mode.consumption for mode in how.modes}
    plain = len(how.modes) == 2 and len(consumptions) == 1 and {m.delimiter for m in how.modes} == {ONE}
    if not plain:
        return ["modes=" + "/".join(_mode(mode) for mode in how.modes)]
    chosen = zip("zw", how.modes, strict=True)
    picks = [f"{name}={_selection(mode.selection)}" for name, mode in chosen if mode.selection != ALL]
    return [*picks, f"consume={consumptions.pop().value}"]


def _mode(mode: Mode) -> str:
    least, most = mode.delimiter.least, mode.delimiter.most
    number = "" if mode.delimiter == Delimiter() else f"*{least}..{'length' if most is None else most}"
    consumption = "" if mode.consumption is Consumption.KEEP else f":{mode.consumption.value}"
    return f"{_selection(mode.selection)}{number}{consumption}"


def _operator_modes(how: Detection) -> list[str]:
    modes = (
        ("traverse", how.traversal, Traversal.LEFT_TO_RIGHT),
        ("coupling", how.coupling, Coupling.NON_CONTINUOUS),
        ("concurrency", how.concurrency, Concurrency.OVERLAPPING),
    )
    return [f"{name}={value.value}" for name, value, usual in modes if value != usual]


def _filter(filter: Filter) -> str:
    match filter:
        case Compare(left, relation, right):
            return f"{_term(left)}{relation.value}{_term(right)}"
        case And(parts):
            return " AND ".join(_part(part) for part in parts)
        case Or(parts):
            return " OR ".join(_part(part) for part in parts)
        case Not(part):
            return f"NOT {_part(part)}"
        case IsNull(operand):
            return f"{_term(operand)} IS NULL"
        case Like(operand, pattern):
            return f"{_term(operand)} LIKE {_term(Literal(pattern))}"
        case Unify(name):
            return f"{name}=${name}"
        case _:
            assert_never(filter)


def _part(filter: Filter) -> str:
    return f"({_filter(filter)})" if isinstance(filter, And | Or) else _filter(filter)


def _term(term: Attribute | RoleAttribute | Literal | Variable) -> str:
    match term:
        case Attribute(name):
            return name
        case RoleAttribute(role, name):
            return f"{role}.{name}"
        case Variable(name):
            return f"${name}"
        case Literal(value):
            return repr(value) if isinstance(value, str) else as_text(value) or ""
        case _:
            assert_never(term)
