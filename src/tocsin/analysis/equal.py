"""Do two expressions, or an expression and a machine written by hand, do the same?"""

from __future__ import annotations

from collections import Counter
from functools import cache

from tocsin.algebra.completion.output import Emit, Output
from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.budget import Budget
from tocsin.analysis.subject import Subject, told_apart

# Outputs, and how often each.
_Bag = frozenset[tuple[Output, int]]


def equal(left: Subject, right: Subject, budget: Budget | None = None) -> Answer:
    """Whether both push the same after every event, and complete alike; the witness shows a difference.

    Outputs of one event are compared without their order, because that follows from the number of internal
    steps. A machine written without final states has no status: then only the outputs are compared.

    >>> from tocsin.algebra.completion.expression import TRUE, Fail, Predicate
    >>> from tocsin.analysis.subject import subjects
    >>> equal(*subjects(Fail(Fail(Predicate(TRUE))), Predicate(TRUE))).holds
    True

    Paper: 000, section 6, "Analysis": "checking correlation expressions against event-loops for equivalence".
    """
    complete = left.has_final_states and right.has_final_states
    pushed: dict[_Bag, int] = {}
    of_left, of_right = _numbered(left, pushed), _numbered(right, pushed)

    def same_status(a: int, b: int) -> bool:
        return not complete or left.status[a] is right.status[b]

    def step(at: tuple[int, int, bool], symbol: int) -> tuple[int, int, bool]:
        a, b, _ = at
        x, y = left.column[symbol], right.column[symbol]
        alike = of_left[a][x] == of_right[b][y]
        a, b = left.after[a][x], right.after[b][y]
        return a, b, alike and same_status(a, b)

    start = (0, 0, same_status(0, 0))
    word = shortest(start, step, told_apart(left, right), lambda at: not at[2], budget)
    return Answer(True) if word is None else Answer(False, left.trace(word))


def _numbered(subject: Subject, pushed: dict[_Bag, int]) -> list[list[int]]:
    """For each cell, a number that identifies its outputs as a multiset."""

    @cache
    def number(cell: tuple[Emit, ...]) -> int:
        bag = frozenset(Counter(emit.output for emit in cell).items())
        return pushed.setdefault(bag, len(pushed))

    return [[number(cell) for cell in row] for row in subject.emits]
