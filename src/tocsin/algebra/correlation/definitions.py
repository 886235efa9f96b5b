"""The paper's definitions of a correlation, taken literally: match, shortest match, aborted parts, guards.

Definitions 1 and 2 try every split of a sequence, 3 tries every prefix, 8 leaves out the aborted parts, 9 leaves
out aborted labels in a guard. Nothing here is fast; `semantics` builds the meaning of whole correlations on it.

Paper: 001, sections 3.2 and 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from tocsin.algebra.correlation.expression import (
    Accumulation,
    And,
    Atom,
    Collection,
    Expression,
    Guard,
    Is,
    Labelled,
    Not,
    Or,
)
from tocsin.algebra.correlation.expression import Sequence as Then

Labels = frozenset[str]


def matches(expression: Expression, trace: Sequence[str]) -> bool:
    """Whether a sequence of events matches an expression.

    >>> matches(Accumulation(Atom("a"), Atom("b")), "bbca"), matches(Then(Atom("a"), Atom("b")), "bbca")
    (True, False)

    Paper: 001, Definitions 1 and 2.
    """
    match expression:
        case Atom(event):
            return event in trace
        case Accumulation(left, right):
            return matches(left, trace) and matches(right, trace)
        case Collection(left, right):
            return matches(left, trace) or matches(right, trace)
        case Then(left, right):
            return any(
                matches(left, trace[:cut]) and matches(right, trace[cut:]) for cut in range(len(trace) + 1)
            )
        case Labelled(_, body):
            return matches(body, trace)
        case _:
            assert_never(expression)


def is_shortest(expression: Expression, trace: Sequence[str]) -> bool:
    """Whether a sequence matches and no proper prefix of it does. Paper: 001, Definition 3."""
    return matches(expression, trace) and not any(
        matches(expression, trace[:end]) for end in range(len(trace))
    )


def without(expression: Expression, aborted: Labels) -> Expression | None:
    """The expression with its aborted parts left out; None if nothing is left.

    >>> without(Accumulation(Labelled("l", Atom("a")), Atom("b")), frozenset({"l"}))
    Atom(event='b')

    Paper: 001, Definition 8.
    """
    match expression:
        case Atom():
            return expression
        case Labelled(label, body):
            kept = None if label in aborted else without(body, aborted)
            return None if kept is None else Labelled(label, kept)
        case Accumulation(left, right) | Collection(left, right) | Then(left, right):
            first, second = without(left, aborted), without(right, aborted)
            return type(expression)(first, second) if first and second else first or second
        case _:
            assert_never(expression)


def holds(guard: Guard, active: Iterable[str], aborted: Iterable[str] = ()) -> bool:
    """Whether a guard is true; literals of aborted labels are left out, and a guard left empty is false.

    >>> both = And((Is("l1"), Is("l2")))
    >>> holds(both, active={"l1"}), holds(both, active={"l1"}, aborted={"l2"})
    (False, True)

    Paper: 001, Definition 9.
    """
    left = _dropped(_pushed_in(guard), frozenset(aborted))
    return left is not None and _true(left, frozenset(active))


def _pushed_in(guard: Guard, negated: bool = False) -> Guard:
    """Negation normal form, because the definition covers only literals."""
    match guard:
        case Is():
            return Not(guard) if negated else guard
        case Not(part):
            return _pushed_in(part, not negated)
        case And(parts) | Or(parts):
            inner = tuple(_pushed_in(part, negated) for part in parts)
            return And(inner) if isinstance(guard, And) != negated else Or(inner)
        case _:
            assert_never(guard)


def _dropped(guard: Guard, aborted: Labels) -> Guard | None:
    match guard:
        case Is(label) | Not(Is(label)):
            return None if label in aborted else guard
        case And(parts) | Or(parts):
            kept = tuple(left for part in parts if (left := _dropped(part, aborted)) is not None)
            return type(guard)(kept) if kept else None
        case Not():
            raise TypeError(f"{guard} is not in negation normal form")
        case _:
            assert_never(guard)


def _true(guard: Guard, active: Labels) -> bool:
    match guard:
        case Is(label):
            return label in active
        case Not(part):
            return not _true(part, active)
        case And(parts):
            return all(_true(part, active) for part in parts)
        case Or(parts):
            return any(_true(part, active) for part in parts)
        case _:
            assert_never(guard)
