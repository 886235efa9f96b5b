"""The fields of an event as one mapping, and predicates over them with two truth values.

A field compares with a constant or with another field. A comparison with an absent field does not hold, `!=` included, so the
negation of one does.

>>> small = Compare(Attribute("altitude"), Relation.LT, Literal(500))
>>> holds(small, {"type": "DATA"}), holds(Not(small), {"type": "DATA"})
(False, True)

Paper: 000, section 2, "Basic Constructs"; the project's grammar B.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or, Unify
from tocsin.events import Event
from tocsin.values import Relation, Value, compare, compare_constant

# The field `type` may hold every type an event belongs to, where types have subtypes.
Field = Value | frozenset[str]
Fields = Mapping[str, Field]


def fields_of(event: Event) -> dict[str, Field]:
    """The fields of an event that predicates can test: its attributes, and `type`, `timestamp` and `source`."""
    fields: dict[str, Field] = {**event.attributes, "type": event.types, "timestamp": event.interval.end}
    if event.source is not None:
        fields["source"] = event.source
    return fields


def holds(filter: Filter, fields: Fields) -> bool:
    """Whether an event satisfies a predicate."""
    match filter:
        case Compare(Attribute(name), relation, Literal(value)):
            return _compare(fields.get(name), relation, value)
        case Compare(Attribute(name), relation, Attribute(other)):
            return _compare_fields(fields.get(name), relation, fields.get(other))
        case And(parts):
            return all(holds(part, fields) for part in parts)
        case Or(parts):
            return any(holds(part, fields) for part in parts)
        case Not(part):
            return not holds(part, fields)
        case Compare() | IsNull() | Like() | Unify():
            raise TypeError(f"{filter} compares with other events; it cannot be asked of one")
        case _:
            assert_never(filter)


def _compare_fields(left: Field, relation: Relation, right: Field) -> bool:
    if isinstance(left, frozenset) or isinstance(right, frozenset):
        raise TypeError("an event has several types, so its type compares with a constant only")
    return compare(left, relation, right) is True


def _compare(field: Field, relation: Relation, value: Value) -> bool:
    if not isinstance(field, frozenset):
        return compare_constant(field, relation, value) is True
    if relation is Relation.NE:
        return bool(field) and value not in field
    return any(compare(member, relation, value) is True for member in field)
