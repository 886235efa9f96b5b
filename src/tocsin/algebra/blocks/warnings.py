"""What is allowed in a query, and is probably not meant."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.query import Context, Query
from tocsin.algebra.blocks.semantics import shared
from tocsin.algebra.blocks.temporal import (
    Absent,
    Both,
    Composition,
    Of,
    OneOfTwo,
    Related,
    parts_of,
    tree_of,
)
from tocsin.errors import PatternError

KEEPS_ALL: tuple[Context, ...] = ("chronicle", "continuous", "cumulative")


def tree_with_all(query: Query) -> Composition:
    """The event tree of a query, with the blocks that EVENT leaves out."""
    return tree_of(query.where.composition, tuple(block.name for block in query.blocks))


def warnings(query: Query) -> list[PatternError]:
    """Warnings about a query."""
    context = query.where.context or "recent"
    operators = [one for one in _every(tree_with_all(query)) if not isinstance(one, Of | OneOfTwo)]
    found: list[PatternError] = []
    unbounded = [one for one in operators if limit_of(one) is None]
    if context in KEEPS_ALL and unbounded:
        word = context.upper()
        message = f"with {word} and without WITHIN an operator keeps what never finds a partner"
        hint = "say WITHIN after BEFORE, AFTER, CONCURRENT or DURING"
        found.append(PatternError("unbounded-state", message, query.where.span, hint))
    if context == "recent_per_key":
        evaluation = Evaluation(query)
        if any(not shared(*sides(one), evaluation) for one in operators):
            message = "the sides of an operator have no variable in common, so that all have one key"
            hint = "use a variable in the blocks of both sides"
            found.append(PatternError("no-key", message, query.where.span, hint))
    return found


def limit_of(operator: Composition) -> int | None:
    """How long an operator waits for a partner, in microseconds; None if for ever."""
    return operator.within if isinstance(operator, Related) else None


def sides(operator: Composition) -> tuple[Composition, Composition]:
    """The two operands of an operator that wait for each other; the first waits for the second."""
    match operator:
        case Related("AFTER", left, right):
            return right, left
        case Related(_, left, right) | Both(left, right) | OneOfTwo(left, right):
            return left, right
        case Absent(_, first, last):
            return first, last
        case Of():
            raise ValueError("a block has no operands")


def _every(tree: Composition) -> Iterator[Composition]:
    yield tree
    for part in parts_of(tree):
        yield from _every(part)
