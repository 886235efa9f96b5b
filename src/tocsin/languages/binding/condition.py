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

    def _compared(self, relation: Relation, other: object) -> Condition:
        left = Attribute(self.name) if self.of is None else RoleAttribute(self.of, self.name)
        return Condition(Compare(left, relation, _right(other, self)))

    def __repr__(self) -> str:
        return f'attribute("{self.name}"' + ("" if self.of is None else f', of="{self.of}"') + ")"


def _right(other: object, left: Operand) -> Literal | Variable | RoleAttribute:
    if isinstance(other, Variable):
        return other
    if isinstance(other, Operand) and other.of is not None and left.of is not None:
        return RoleAttribute(other.of, other.name)
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
    """An attribute of the event at hand, or of an event that the whole pattern has taken.

    >>> attribute("temp") < 15
    attribute("temp") < 15
    """
    for part in (*name.split("."), *(() if of is None else (of,))):
        check_name(part)
    return Operand(name, of)


def variable(name: str) -> Variable:
    """A value bound by the first event that uses it, and compared with by later events.

    >>> variable("x")
    Variable(name='x')
    """
    check_name(name)
    return Variable(name)


def check_name(name: str) -> None:
    """Refuse a text that is not a valid name."""
    if not is_name(name):
        hint = "a name has letters, digits and _, and starts with no digit"
        raise PatternError("bad-name", f"{name!r} is no name", None, hint)
