"""Conditions on attributes, written in Python and kept as data: `attribute("temp") < 15`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

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
    Variable,
)
from tocsin.errors import PatternError
from tocsin.languages.binding.printer import show_filter
from tocsin.languages.lexis import MAX_INTEGER, is_name
from tocsin.values import Relation

Comparable = int | float | str | bool


@dataclass(frozen=True, slots=True, repr=False)
class Condition:
    """A condition on an event. Conditions are combined with `&`, `|` and `~`.

    >>> (attribute("temp") < 15) & ~(attribute("room") == "FE02")
    (attribute("temp") < 15) & (~(attribute("room") == "FE02"))
    """

    filter: Filter

    def __and__(self, other: Condition) -> Condition:
        left = self.filter.parts if isinstance(self.filter, And) else (self.filter,)
        return Condition(And((*left, other.filter)))

    def __or__(self, other: Condition) -> Condition:
        left = self.filter.parts if isinstance(self.filter, Or) else (self.filter,)
        return Condition(Or((*left, other.filter)))

    def __invert__(self) -> Condition:
        return Condition(Not(self.filter))

    def __bool__(self) -> NoReturn:
        # Python calls this for `a and b`, `not a` and `1 < a < 2`, and would then drop half of it.
        hint = "join conditions with &, | and ~, each in parentheses"
        raise PatternError("no-truth", "a condition is true or false only of an event", None, hint)

    def __repr__(self) -> str:
        return show_filter(self.filter)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operand:
    """An attribute to compare; with `of`, that of an event the pattern has taken under this name.

    >>> attribute("room", of="Open") == attribute("room", of="Close")
    attribute("room", of="Open") == attribute("room", of="Close")
    """

    name: str
    of: str | None = None

    # Comparing gives a condition and not a bool, so an attribute cannot be in a set or be a key.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared(Relation.EQ, other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return self._compared(Relation.NE, other)

    def __lt__(self, other: object) -> Condition:
        return self._compared(Relation.LT, other)

    def __le__(self, other: object) -> Condition:
        return self._compared(Relation.LE, other)

    def __gt__(self, other: object) -> Condition:
        return self._compared(Relation.GT, other)

    def __ge__(self, other: object) -> Condition:
        return self._compared(Relation.GE, other)

    def is_null(self) -> Condition:
        """Whether the attribute is missing."""
        return Condition(IsNull(self._side()))

    def like(self, pattern: str) -> Condition:
        """Whether a text is like a pattern of SQL: `%` is any text, `_` one character."""
        if not isinstance(pattern, str):
            raise PatternError("bad-value", f"{pattern!r} is not a pattern", None, 'write .like("pay%")')
        return Condition(Like(self._side(), pattern))

    def is_in(self, *values: Comparable) -> Condition:
        """Whether the attribute has one of these values."""
        if not values:
            raise PatternError("bad-value", "no value is among none", None, "write .is_in(1, 2)")
        parts = tuple(Compare(self._side(), Relation.EQ, literal(value)) for value in values)
        return Condition(parts[0] if len(parts) == 1 else Or(parts))

    def between(self, least: Comparable, most: Comparable) -> Condition:
        """Whether the attribute lies between two values, or is one of them."""
        bounds = ((Relation.GE, least), (Relation.LE, most))
        return Condition(
            And(tuple(Compare(self._side(), relation, literal(value)) for relation, value in bounds))
        )

    def _side(self) -> Attribute | RoleAttribute:
        return Attribute(self.name) if self.of is None else RoleAttribute(self.of, self.name)

    def _compared(self, relation: Relation, other: object) -> Condition:
        return Condition(Compare(self._side(), relation, _right(other, self)))

    def __repr__(self) -> str:
        return f'attribute("{self.name}"' + ("" if self.of is None else f', of="{self.of}"') + ")"


def _right(other: object, left: Operand) -> Literal | Variable | RoleAttribute | Attribute:
    if isinstance(other, Variable):
        return other
    if isinstance(other, Operand) and other.of is not None and left.of is not None:
        return RoleAttribute(other.of, other.name)
    if isinstance(other, Operand) and other.of is None and left.of is None:
        return Attribute(other.name)
    if isinstance(other, Operand):
        hint = 'bind the first with == variable("x") and compare the second with variable("x")'
        raise PatternError("bad-value", "two attributes cannot be compared directly", None, hint)
    return literal(other)


def literal(value: object) -> Literal:
    """A constant to compare with."""
    if not isinstance(value, Comparable):
        message = f"an attribute cannot be compared with {value!r}"
        raise PatternError("bad-value", message, None, "compare it with a number, a text or a truth value")
    if isinstance(value, float) and not math.isfinite(value):
        raise PatternError("bad-number", f"nothing compares with {value}", None, "use a finite number")
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        hint = f"whole numbers go up to {MAX_INTEGER}"
        raise PatternError("bad-number", "this number is too large", None, hint)
    return Literal(value)


def attribute(name: str, of: str | None = None) -> Operand:
    """An attribute of the current event, or of an event that the whole pattern has taken.

    >>> attribute("temp") < 15
    attribute("temp") < 15
    """
    if not isinstance(name, str) or not name:
        hint = 'write attribute("temp"), with the name of a column or, with dots, of a field in it'
        raise PatternError("bad-name", f"{name!r} is not the name of an attribute", None, hint)
    if of is not None:
        check_name(of)
    return Operand(name, of)


def variable(name: str) -> Variable:
    """A value bound by the first event that uses it, and compared with by later events.

    >>> variable("x")
    Variable(name='x')
    """
    check_name(name)
    return Variable(name)


def check_name(name: object) -> None:
    """Refuse what is not a valid name for something that a pattern defines: a composite, a variable."""
    if not isinstance(name, str) or not is_name(name):
        hint = "a name has letters, digits and _, and starts with no digit"
        raise PatternError("bad-name", f"{name!r} is not a name", None, hint)
