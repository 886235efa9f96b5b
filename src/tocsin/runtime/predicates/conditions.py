"""Conditions on single values or on whole matches, as nested tuples that travel with a plan.

`("and", c, …)`, `("or", c, …)`, `("not", c)`, `("compare", relation, operand, operand)`, `("null", operand)`,
`("like", operand, pattern)`; an operand is `("literal", v)`, `("attribute", name)` or `("role", role, name)`. An empty tuple is
always true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tocsin.values import Relation, Value, all_of, any_of, compare, compare_constant, like, negate

Lookup = Callable[[tuple[Any, ...]], list[Value]]


def truth(condition: tuple[Any, ...], values: Lookup) -> bool | None:
    """The truth of a condition; `values` returns every value that an operand stands for.

    A comparison holds if it holds for each of them, and is unknown if there is none.

    >>> truth(("compare", "<", ("attribute", "x"), ("literal", 3)), lambda operand: [2])
    True
    """
    if not condition:
        return True
    match condition[0]:
        case "and":
            return all_of(truth(part, values) for part in condition[1:])
        case "or":
            return any_of(truth(part, values) for part in condition[1:])
        case "not":
            return negate(truth(condition[1], values))
        case "compare":
            relation, (_, _, left, right) = Relation(condition[1]), condition
            asked = compare_constant if right[0] == "literal" else compare
            return _of_all(
                asked(a, relation, b) for a in _values(left, values) for b in _values(right, values)
            )
        case "null":
            return _of_all(value is None for value in values(condition[1]))
        case "like":
            return _of_all(like(value, condition[2]) for value in values(condition[1]))
        case other:
            raise TypeError(f"unknown condition {other!r}")


def _of_all(truths: Iterable[bool | None]) -> bool | None:
    found = list(truths)
    return all_of(found) if found else None


def _values(operand: tuple[Any, ...], values: Lookup) -> list[Value]:
    return [operand[1]] if operand[0] == "literal" else values(operand)
