"""Predicates as data: conditions on the attributes of an event.

Truth has three values, as in SQL: a comparison with a missing attribute is unknown (`None`), and so is its negation.
An event satisfies a filter only if the filter is true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from tocsin.errors import Span
from tocsin.values import (
    Relation,
    Value,
    all_of,
    any_of,
    canonical,
    compare,
    compare_constant,
    identity,
    like,
    negate,
)


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the current event."""

    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class RoleAttribute:
    """An attribute of the constituents that a pattern took under a name, as in `Open.room`."""

    role: str
    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. Equality also compares the kind: `1` is not `true`."""

    value: int | float | str | bool
    span: Span | None = _span()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and identity(self.value) == identity(other.value)

    def __hash__(self) -> int:
        return hash(identity(self.value))


@dataclass(frozen=True, slots=True)
class Variable:
    """A value bound by the first event that uses it, and compared with afterwards: `$x`."""

    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison."""

    left: Attribute | RoleAttribute
    relation: Relation
    right: Literal | Variable | RoleAttribute | Attribute
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether an attribute is missing; never unknown."""

    operand: Attribute | RoleAttribute
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Like:
    """Whether a text is like a pattern of SQL: `%` is any text, `_` one character, a backslash makes either plain."""

    operand: Attribute | RoleAttribute
    pattern: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class And:
    """True if all parts are."""

    parts: tuple[Filter, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Or:
    """True if one part is."""

    parts: tuple[Filter, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Not:
    """True if the part is false."""

    part: Filter
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Unify:
    """The event's attribute of this name and the variable of this name agree, as far as both are known.

    It joins the two sides of a parallel pattern that share a variable.
    """

    name: str
    span: Span | None = _span()


Filter = Compare | IsNull | Like | And | Or | Not | Unify


def evaluate(filter: Filter, attributes: Mapping[str, Value], bound: dict[str, Value]) -> bool | None:
    """The truth of a filter; `bound` gains the variables that it binds.

    >>> bound = {}
    >>> evaluate(Compare(Attribute("room"), Relation.EQ, Variable("x")), {"room": 2}, bound), bound
    (True, {'x': 2})
    """
    match filter:
        case Compare(Attribute(name), relation, Literal(value)):
            return compare_constant(attributes.get(name), relation, value)
        case Compare(Attribute(name), relation, Variable(variable)):
            own = canonical(attributes.get(name))
            if variable not in bound and relation is Relation.EQ and own is not None:
                bound[variable] = own
            return compare(own, relation, bound.get(variable))
        case Compare(Attribute(name), relation, Attribute(other)):
            return compare(attributes.get(name), relation, attributes.get(other))
        case IsNull(Attribute(name)):
            return attributes.get(name) is None
        case Like(Attribute(name), pattern):
            return like(attributes.get(name), pattern)
        case Compare() | IsNull() | Like():
            raise TypeError(f"{filter} asks about constituents; it cannot be asked of one event")
        case And(parts):
            return all_of(evaluate(part, attributes, bound) for part in parts)
        case Or(parts):
            return any_of(evaluate(part, attributes, dict(bound)) for part in parts)
        case Not(part):
            return negate(evaluate(part, attributes, dict(bound)))
        case Unify(name):
            own = canonical(attributes.get(name))
            return True if own is None else compare(own, Relation.EQ, bound.setdefault(name, own))
        case _:
            assert_never(filter)


def leaves(filter: Filter | None) -> Iterator[Compare | IsNull | Like]:
    """The leaves of a filter, in textual order: comparisons, null tests and LIKE."""
    match filter:
        case None | Unify():
            return
        case Compare() | IsNull() | Like():
            yield filter
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            assert_never(filter)


def comparisons(filter: Filter | None) -> Iterator[Compare]:
    """Every comparison of a filter, in textual order."""
    return (leaf for leaf in leaves(filter) if isinstance(leaf, Compare))


def variables(filter: Filter | None) -> frozenset[str]:
    """The variables a filter names."""
    if isinstance(filter, And | Or):
        return frozenset().union(*(variables(part) for part in filter.parts))
    if isinstance(filter, Not):
        return variables(filter.part)
    if isinstance(filter, Unify):
        return frozenset({filter.name})
    return frozenset(c.right.name for c in comparisons(filter) if isinstance(c.right, Variable))


def attributes(filter: Filter | None) -> frozenset[str]:
    """The attributes of the current event that a filter names."""
    return frozenset(operand.name for operand in operands(filter) if isinstance(operand, Attribute))


def operands(filter: Filter | None) -> Iterator[Attribute | RoleAttribute]:
    """Every attribute that a filter names, in textual order."""
    for leaf in leaves(filter):
        if isinstance(leaf, Compare):
            yield leaf.left
            if isinstance(leaf.right, Attribute | RoleAttribute):
                yield leaf.right
        else:
            yield leaf.operand
