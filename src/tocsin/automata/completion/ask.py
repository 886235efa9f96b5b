"""Evaluate many predicates on an event at once.

Most predicates compare one field with one constant for equality; those are looked up by the value of the field, and only
the others are evaluated one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tocsin.algebra.completion.fields import Field, Fields, holds
from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal
from tocsin.values import Relation, Time, Value, identity, read_constant

_Key = tuple[str, Value]


@dataclass(frozen=True, slots=True)
class Predicates:
    """Numbered predicates, prepared for evaluation; the results are bits."""

    filters: tuple[Filter, ...]
    equal: Mapping[str, Mapping[_Key, int]]  # for each field and value, the predicates it satisfies
    rest: tuple[tuple[int, Filter], ...]


def predicates(filters: Iterable[Filter]) -> Predicates:
    """Prepare predicates for evaluation; a duplicate is evaluated once."""
    distinct = tuple(dict.fromkeys(filters))
    equal: dict[str, dict[_Key, int]] = {}
    rest: list[tuple[int, Filter]] = []
    for i, filter in enumerate(distinct):
        match filter:
            case Compare(Attribute(name), Relation.EQ, Literal(value)):
                equal.setdefault(name, {})[identity(value)] = 1 << i
            case _:
                rest.append((1 << i, filter))
    return Predicates(distinct, equal, tuple(rest))


def answers(asked: Predicates, event: Fields) -> int:
    """The predicates that an event satisfies, as bits.

    >>> from tocsin.algebra.completion.expression import FALSE, TRUE
    >>> answers(predicates([FALSE, Compare(Attribute("type"), Relation.EQ, Literal("a")), TRUE]), {"type": "a"})
    6
    """
    found = 0
    for name in asked.equal:
        found |= equal_to(asked, name, event.get(name))
    for bit, filter in asked.rest:
        if holds(filter, event):
            found |= bit
    return found


def equal_to(asked: Predicates, name: str, field: Field) -> int:
    """The equality predicates on a field that its value satisfies, as bits."""
    values = asked.equal.get(name, {})
    if isinstance(field, Time):
        # Several texts can spell one time.
        return sum(bit for (_, text), bit in values.items() if read_constant(text, True) == field)
    if not isinstance(field, frozenset):
        return values.get(identity(field), 0)
    found = 0
    for value in field:
        found |= values.get(identity(value), 0)
    return found
