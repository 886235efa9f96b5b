"""Conditions on a composite event as a whole, evaluated right after it is detected.

This is the paper's own way to relate events to each other: detect every pair, keep those that fit. A comparison holds if
it holds for every constituent of the names it uses.

Paper: 003, "Limitations of Automata".
"""

from __future__ import annotations

from tocsin.algebra.predicate import And, Compare, Filter, IsNull, Like, Literal, Not, Or, RoleAttribute
from tocsin.events import Composite, TimerEvent
from tocsin.values import Value, all_of, any_of, compare, compare_constant, like, negate


def keeps(where: Filter | None, composite: Composite) -> bool:
    """Whether a composite event passes its `where` condition."""
    return where is None or _truth(where, composite) is True


def _truth(where: Filter, composite: Composite) -> bool | None:
    match where:
        case And(parts):
            return all_of(_truth(part, composite) for part in parts)
        case Or(parts):
            return any_of(_truth(part, composite) for part in parts)
        case Not(part):
            return negate(_truth(part, composite))
        case Compare(RoleAttribute() as left, relation, RoleAttribute() | Literal() as right):
            asked = compare_constant if isinstance(right, Literal) else compare
            pairs = [(a, b) for a in _values(left, composite) for b in _values(right, composite)]
            return all_of(asked(a, relation, b) for a, b in pairs) if pairs else None
        case IsNull(RoleAttribute() as operand):
            found = _values(operand, composite)
            return all(value is None for value in found) if found else None
        case Like(RoleAttribute() as operand, pattern):
            found = _values(operand, composite)
            return all_of(like(value, pattern) for value in found) if found else None
        case _:
            raise TypeError(f"{where} cannot be asked of a composite event")


def _values(side: RoleAttribute | Literal, composite: Composite) -> list[Value]:
    if isinstance(side, Literal):
        return [side.value]
    own = [c.event for c in composite.leaves() if c.role == side.role]
    return [event.attributes.get(side.name) for event in own if not isinstance(event, TimerEvent)]
