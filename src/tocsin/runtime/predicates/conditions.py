"""Conditions on single values or on whole matches, as nested tuples that travel with a plan.

`("and", c, …)`, `("or", c, …)`, `("not", c)`, `("compare", relation, operand, operand)`; an operand is `("literal", v)`,
`("attribute", name)` or `("role", role, name)`. An empty tuple is always true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tocsin.values import Relation, Value, all_of, any_of, compare, negate

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
            relation = Relation(condition[1])
            left, right = (_values(operand, values) for operand in condition[2:])
            pairs = [compare(a, relation, b) for a in left for b in right]
            return all_of(pairs) if pairs else None
        case other:
            raise TypeError(f"unknown condition {other!r}")


def _values(operand: tuple[Any, ...], values: Lookup) -> list[Value]:
    return [operand[1]] if operand[0] == "literal" else values(operand)
