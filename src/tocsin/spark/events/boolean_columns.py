"""Conjunctions and disjunctions of any number of Spark columns.

Spark plans and compiles expressions by recursion, and turns even a balanced tree of `OR`s into a long chain when it compares
plans: a few hundred operands overflow the stack of a Java thread. An array of them is one level deep, however many there
are, and Spark generates no code for a function that goes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from tocsin.algebra.predicate import And, Filter, Not, Or
from tocsin.runtime.predicates.formula import Formula, truth

DEEPEST = (
    16  # operators inside each other that Spark is given; each takes a part of the stack of Java's threads
)
_FEW = 8  # operands for which Spark's own operators are used, which stop at the first that decides


def all_of(parts: Iterable[Column], few: int = _FEW) -> Column:
    """Return the conjunction of columns in three truth values; true if there are none."""
    columns = list(parts)
    if not columns:
        return F.lit(True)
    return _balanced(columns, False) if len(columns) <= few else F.forall(F.array(*columns), lambda one: one)


def any_of(parts: Iterable[Column], few: int = _FEW) -> Column:
    """Return the disjunction of columns in three truth values; false if there are none."""
    columns = list(parts)
    if not columns:
        return F.lit(False)
    # Not by `exists`, for which a setting of Spark makes the unknown false.
    return _balanced(columns, True) if len(columns) <= few else ~F.forall(F.array(*columns), lambda one: ~one)


def _balanced(columns: Sequence[Column], disjunction: bool) -> Column:
    if len(columns) == 1:
        return columns[0]
    half = len(columns) // 2
    left, right = _balanced(columns[:half], disjunction), _balanced(columns[half:], disjunction)
    return left | right if disjunction else left & right


def filter_truth(filter: Filter, leaf: Callable[[Filter], Column]) -> Column:
    """Return the truth of a filter, given that of its leaves. Workers put those of a deeply nested one together."""
    if depth(filter) > DEEPEST:
        return _by_workers(filter, leaf)
    match filter:
        case And(parts):
            return all_of(filter_truth(part, leaf) for part in parts)
        case Or(parts):
            return any_of(filter_truth(part, leaf) for part in parts)
        case Not(part):
            return ~filter_truth(part, leaf)
        case _:
            return leaf(filter)


def depth(filter: Filter) -> int:
    """Return how many operators of a filter are inside each other."""
    match filter:
        case And(parts) | Or(parts):
            return 1 + max(map(depth, parts), default=0)
        case Not(part):
            return 1 + depth(part)
        case _:
            return 0


def leaves(filter: Filter) -> Iterator[Filter]:
    """Return the parts of a filter that are neither conjunction, disjunction nor negation, in textual order."""
    match filter:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield filter


def _by_workers(filter: Filter, leaf: Callable[[Filter], Column]) -> Column:
    numbers = count()

    def formula(part: Filter) -> Formula:
        match part:
            case And(parts):
                return ("and", *map(formula, parts))
            case Or(parts):
                return ("or", *map(formula, parts))
            case Not(inner):
                return ("not", formula(inner))
            case _:
                return ("answer", next(numbers))

    whole = formula(filter)

    # Spark infers the kind of UDF from the type hints. Defined here, it takes nothing of this module along to the workers.
    def find(answers: pa.Array) -> pa.Array:
        return truth(whole, answers)

    find_truth = arrow_udf(find, "boolean")  # type: ignore[call-overload]
    found: Column = find_truth(F.array(*map(leaf, leaves(filter))))
    return found
