"""The result of compilation for every family: a plan, and the predicates to evaluate on each event before the shuffle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

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
from tocsin.runtime import program as rt


@dataclass(frozen=True, slots=True)
class BitTest:
    """A predicate on one event: it is of this type, and the filter is true (or, for `truth=False`, false)."""

    type: str | None
    filter: Filter | None
    truth: bool = True


@dataclass(frozen=True, slots=True)
class FieldTest:
    """A predicate on one event in the completion family: two-valued, and the type is a field like any other."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Compiled:
    """A plan for the runtime, and the predicates and attributes of each event that it needs."""

    plan: rt.Plan
    tests: tuple[tuple[int, BitTest | FieldTest], ...]  # bit -> predicate, for primitive events
    attributes: frozenset[str]  # attributes that predicates, variables, conditions and outputs name


def condition(filter: Filter | None) -> tuple[Any, ...]:
    """A filter without variables as nested tuples, for the runtime's `conditions`."""
    match filter:
        case None:
            return ()
        case And(parts):
            return ("and", *(condition(part) for part in parts))
        case Or(parts):
            return ("or", *(condition(part) for part in parts))
        case Not(part):
            return ("not", condition(part))
        case Compare(left, relation, right):
            return ("compare", str(relation), _operand(left), _operand(right))
        case IsNull(operand):
            return ("null", _operand(operand))
        case Like(operand, pattern):
            return ("like", _operand(operand), pattern)
        case Unify():
            raise TypeError("unification is code, not a condition")
        case _:
            assert_never(filter)


def _operand(operand: Attribute | RoleAttribute | Literal | Variable) -> tuple[Any, ...]:
    match operand:
        case Attribute(name):
            return ("attribute", name)
        case RoleAttribute(role, name):
            return ("role", role, name)
        case Literal(value):
            return ("literal", value)
        case Variable(name):
            raise TypeError(f"${name} cannot stand in a condition on a single event")
        case _:
            assert_never(operand)
