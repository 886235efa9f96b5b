"""Conjunctions inside disjunctions inside conjunctions, of answers that Spark has found.

Spark's planner is recursive. A deeply nested filter would overflow the stack of Java's threads, so Spark answers the single
comparisons and a worker puts them together.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Formula = tuple[Any, ...]
"""`("and", f, …)`, `("or", f, …)`, `("not", f)`, or `("answer", NUMBER)`."""


def truth(formula: Formula, answers: pa.ListArray) -> pa.BooleanArray:
    """The truth of a formula for each row, in three truth values, given as many answers for each row."""
    flat = answers.flatten()
    size = len(flat) // max(1, len(answers))
    return _truth(formula, lambda number: flat.take(pa.array(range(number, len(flat), size))), len(answers))


def _truth(formula: Formula, answer: Any, rows: int) -> pa.BooleanArray:
    match formula:
        case ("answer", number):
            return answer(number)
        case ("not", inner):
            return pc.invert(_truth(inner, answer, rows))
        case ("and" | "or" as word,):
            return pa.array([word == "and"] * rows)
        case ("and" | "or" as word, *parts):
            join = pc.and_kleene if word == "and" else pc.or_kleene
            return reduce(join, (_truth(part, answer, rows) for part in parts))
        case _:
            raise TypeError(f"unknown formula {formula!r}")
