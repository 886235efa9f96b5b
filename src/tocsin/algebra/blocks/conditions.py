"""Predicates over variables, with arithmetic.

A comparison is one of numbers if both sides are numbers, otherwise one of texts. Arithmetic with something that is no
number, or with a result that is none, makes its comparison not hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context as Precision
from decimal import Decimal
from functools import lru_cache
from typing import Any, assert_never
from typing import Literal as OneOf

from tocsin.errors import Span
from tocsin.runtime.xml_tree import Content, plain_text

Relation = OneOf["=", "!=", "<", "<=", ">", ">="]
Sign = OneOf["+", "-", "*", "/"]
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_LONGEST = 400  # digits of a number; a longer text is a text
_ARITHMETIC = Precision(prec=34)


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a variable."""

    variable: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, or a number as it was written."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two values combined."""

    sign: Sign
    left: Expression
    right: Expression


Expression = Value | Constant | Arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    """A relation of two values."""

    relation: Relation
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Every:
    """All parts hold."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Opposite:
    """The part does not hold."""

    part: Predicate


Predicate = Comparison | Every | Some | Opposite
Row = Mapping[str, Content]  # the values of variables

_RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SIGNS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": _ARITHMETIC.add,
    "-": _ARITHMETIC.subtract,
    "*": _ARITHMETIC.multiply,
    "/": _ARITHMETIC.divide,
}


def holds(predicate: Predicate, row: Row) -> bool:
    """Whether a predicate holds for a row.

    >>> less = Comparison("<", Arithmetic("*", Value("x"), Constant("2", False)), Constant("10", False))
    >>> holds(less, {"x": ("4.5",)}), holds(less, {"x": ("many",)})
    (True, False)
    """
    match predicate:
        case Comparison(relation, left, right):
            return _compared(relation, _value(left, row), _value(right, row))
        case Every(parts):
            return all(holds(part, row) for part in parts)
        case Some(parts):
            return any(holds(part, row) for part in parts)
        case Opposite(part):
            return not holds(part, row)
        case _:
            assert_never(predicate)


def _compared(relation: Relation, left: str | Decimal | None, right: str | Decimal | None) -> bool:
    if left is None or right is None:
        return False
    one, other = _as_number(left), _as_number(right)
    compare = _RELATIONS[relation]
    return compare(str(left), str(right)) if one is None or other is None else compare(one, other)


def _value(expression: Expression, row: Row) -> str | Decimal | None:
    """The value of an expression; None if it has none."""
    match expression:
        case Value(variable):
            return text_of(row.get(variable, ()))
        case Constant(text, _):
            return text
        case Arithmetic(sign, left, right):
            operands = _as_number(_value(left, row)), _as_number(_value(right, row))
            if operands[0] is None or operands[1] is None:
                return None
            try:
                return _SIGNS[sign](operands[0], operands[1])
            except ArithmeticError:
                return None
        case _:
            assert_never(expression)


def text_of(content: Content) -> str:
    """What a value is compared as: the text in it, trimmed."""
    return plain_text(content).strip()


def _as_number(value: str | Decimal | None) -> Decimal | None:
    return number_of(value) if isinstance(value, str) else value


def number_of(text: str) -> Decimal | None:
    """The number that a text is; None if it is none.

    >>> number_of("007"), number_of("1e3"), number_of("7 kg")
    (Decimal('7'), Decimal('1E+3'), None)
    """
    return _number(text.strip()) if len(text) <= _LONGEST else None


@lru_cache(maxsize=10_000)
def _number(text: str) -> Decimal | None:
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def values(predicate: Predicate) -> Iterator[Value]:
    """Every use of a variable in a predicate."""
    match predicate:
        case Comparison(_, left, right):
            yield from _values(left)
            yield from _values(right)
        case Every(parts) | Some(parts):
            for part in parts:
                yield from values(part)
        case Opposite(part):
            yield from values(part)
        case _:
            assert_never(predicate)


def _values(expression: Expression) -> Iterator[Value]:
    match expression:
        case Value():
            yield expression
        case Constant():
            pass
        case Arithmetic(_, left, right):
            yield from _values(left)
            yield from _values(right)
        case _:
            assert_never(expression)


def variables_of(predicate: Predicate) -> frozenset[str]:
    """The variables that a predicate is about."""
    return frozenset(value.variable for value in values(predicate))
