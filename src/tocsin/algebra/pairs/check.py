"""Mistakes in a profile: unknown names, numbers out of range, missing timeframes.

All are returned at once, each with its place in the text.

>>> from tocsin.algebra.pairs.operators import negation, sequence
>>> [error.code for error in check(sequence("a", negation("b")))]
['timeframe-missing']
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tocsin.algebra.pairs.expression import (
    After,
    At,
    Chain,
    Composition,
    Conjunction,
    Disjunction,
    During,
    Each,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Several,
    Simultaneity,
    Timeframe,
    parts,
    walk,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    FIRST,
    LAST,
    ONE,
    Detection,
    Mode,
    Pick,
    Views,
)
from tocsin.algebra.predicate import Attribute, Compare, Literal, Variable, comparisons, variables
from tocsin.errors import PatternError, Span, did_you_mean
from tocsin.events import Catalog, parse_timestamp
from tocsin.values import kind

MAX_DEPTH = 100
_EXAMPLES = {
    "string": "a string in quotes",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "timestamp": "an ISO time in quotes",
}
Errors = Iterator[PatternError]
OPERATOR_NAMES = {
    Disjunction: "disjunction",
    Conjunction: "conjunction",
    Ordered: "sequence",
    Simultaneity: "simultaneity",
}


def check(expression: Expression, catalog: Catalog | None = None) -> list[PatternError]:
    """Every mistake in an expression; an empty list if it can run."""
    if depth(expression) > MAX_DEPTH:
        return [
            PatternError(
                "too-deep",
                f"the expression has more than {MAX_DEPTH} levels",
                expression.span,
                "name parts of it and build on the names",
            )
        ]
    known = Catalog() if catalog is None else catalog
    return [*(e for part in walk(expression) for e in _check(part, known)), *_timeframes(expression, None)]


def depth(expression: Expression) -> int:
    """How many levels an expression has."""
    deepest, waiting = 0, [(expression, 1)]
    while waiting:
        part, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(inner, level + 1) for inner in parts(part)]
    return deepest


def _check(expression: Expression, catalog: Catalog) -> Errors:
    span = expression.span
    match expression:
        case Primitive():
            yield from _primitive(expression, catalog)
        case Several():
            yield from _timeframe(expression.timeframe, span)
            yield from _several(expression)
        case Chain(operands):
            if len(operands) < 2:
                yield PatternError("operand-missing", "a chain has two events or more", span)
        case During(_, since, until):
            if until < since:
                yield PatternError("empty-interval", "the interval ends before it starts", span)
            yield from _no_moment(expression)
        case Each():
            yield from _no_moment(expression)
        case At():
            pass
        case After(_, delay):
            if delay < 0:
                yield PatternError("bad-delay", f"the delay is {delay}", span, "a delay is 0 or more")
        case Every(period):
            if period < 1:
                yield PatternError("bad-period", f"the period is {period}", span, "a period is 1 or more")
        case Selection(_, pick):
            yield from _pick(pick, span)
        case Negation(_, timeframe) | Framed(_, timeframe):
            yield from _timeframe(timeframe, span)
        case Disjunction() | Conjunction() | Ordered() | Simultaneity():
            yield from _timeframe(expression.timeframe, span)
            yield from _composition(expression)
        case _:
            assert_never(expression)


def _primitive(primitive: Primitive, catalog: Catalog) -> Errors:
    name, span = primitive.name, primitive.span
    if not catalog.knows(name):
        yield PatternError(
            "unknown-type", f"there is no event type {name!r}", span, did_you_mean(name, catalog.names)
        )
        return
    for comparison in comparisons(primitive.filter):
        yield from _comparison(comparison, name, catalog, comparison.span or span)
    compared = {c.right.name for c in comparisons(primitive.filter) if isinstance(c.right, Variable)}
    if variables(primitive.filter) - compared:
        yield _of_several(span)


def _comparison(comparison: Compare, name: str, catalog: Catalog, span: Span | None) -> Errors:
    left, right = comparison.left, comparison.right
    attributes = catalog.attributes(name)
    if not isinstance(left, Attribute) or not isinstance(right, Literal):
        yield _of_several(span)
    elif catalog.describes(name) and left.name not in attributes:
        yield PatternError(
            "unknown-attribute",
            f"{name} has no attribute {left.name!r}",
            left.span or span,
            did_you_mean(left.name, attributes),
        )
    elif left.name in attributes and not _comparable(attributes[left.name], right):
        declared = attributes[left.name]
        yield PatternError(
            "type-mismatch",
            f"{name}.{left.name} is {declared}, but is compared with a {kind(right.value)}",
            right.span or span,
            "compare it with " + _EXAMPLES[declared],
        )


def _of_several(span: Span | None) -> PatternError:
    return PatternError(
        "not-of-one-event",
        "a filter of a primitive event compares its attributes with constants",
        span,
        "write the constant instead of the variable or the other event",
    )


def _comparable(declared: str, literal: Literal) -> bool:
    """Whether an attribute of a declared type can be compared with a constant."""
    value = literal.value
    if declared == "timestamp":
        return isinstance(value, str) and parse_timestamp(value) is not None
    return kind(value) == ("number" if declared in ("int", "float") else declared)


def _timeframe(timeframe: Timeframe | None, span: Span | None) -> Errors:
    if isinstance(timeframe, int) and timeframe < 0:
        yield PatternError(
            "bad-timeframe", f"the timeframe is {timeframe}", span, "a timeframe is 0 or more, or inf"
        )


def _timeframes(expression: Expression, around: Timeframe | None) -> Errors:
    """Negations that have no timeframe and find none around them."""
    own = getattr(expression, "timeframe", None)
    frame = around if own is None else own
    if isinstance(expression, Negation) and frame is None:
        yield PatternError(
            "timeframe-missing",
            "nothing says for how long the event may not occur",
            expression.span,
            "give the negation a timeframe, such as !(e)_5, or _inf for never so far",
        )
    for part in parts(expression):
        yield from _timeframes(part, frame)


def _pick(pick: Pick, span: Span | None) -> Errors:
    low, high = pick.low, pick.high
    if low is not None and low < 1:
        yield PatternError("bad-choice", f"there is no duplicate number {low}", span, "the first is number 1")
    elif high is not None and (low is None or high < low):
        start = "the last" if low is None else str(low)
        yield PatternError(
            "bad-choice", f"from {start} to {high} is nothing", span, "write the smaller number first"
        )


def _composition(expression: Composition) -> Errors:
    count, name, span = len(expression.operands), OPERATOR_NAMES[type(expression)], expression.span
    if count < 2:
        yield PatternError("operand-missing", f"a {name} has two operands or more, not {count}", span)
    if isinstance(expression, Simultaneity) and expression.tolerance < 0:
        yield PatternError(
            "bad-tolerance", f"the tolerance is {expression.tolerance}", span, "0 means at the same time"
        )
    if isinstance(expression, Ordered) and expression.timeframe == 0:
        yield PatternError(
            "never-matches",
            "a sequence within 0 never occurs, for its operands do not occur at the same time",
            span,
            "give it a longer timeframe, or write a simultaneity",
        )
    match expression.how:
        case Views(first, second):
            yield from (*_pick(first, span), *_pick(second, span))
            if count > 2 and not isinstance(expression, Disjunction):
                yield PatternError(
                    "too-many-operands",
                    f"over trace views a {name} has two operands, not {count}",
                    span,
                    "nest it, or evaluate it per terminator",
                )
        case Detection(modes):
            if len(modes) != count:
                yield PatternError(
                    "modes-missing",
                    f"there are {len(modes)} modes for {count} operands",
                    span,
                    "give one for each",
                )
            for mode in dict.fromkeys(modes):
                yield from _mode(mode, span)
        case _:
            assert_never(expression.how)


def _several(expression: Several) -> Errors:
    number, count, span = len(expression.operands), expression.count, expression.span
    if not 1 <= count <= number:
        yield PatternError("bad-count", f"{count} of {number} cannot occur", span, f"from 1 to {number}")
    if len(expression.how.modes) != number:
        yield PatternError("modes-missing", f"there are {len(expression.how.modes)} modes for {number}", span)
    for mode in dict.fromkeys(expression.how.modes):
        yield from _mode(mode, span)


def _no_moment(expression: Expression) -> Errors:
    """A fixed moment belongs to no part of what is observed."""
    for part in walk(expression):
        if isinstance(part, At):
            hint = "put the moment outside"
            yield PatternError(
                "misplaced-moment", "a fixed moment inside an interval or group", part.span, hint
            )


def _mode(mode: Mode, span: Span | None) -> Errors:
    least, most = mode.delimiter.least, mode.delimiter.most
    if least < 1 or (most is not None and most < least):
        yield PatternError(
            "bad-delimiter",
            f"a match cannot take {least} to {most} instances",
            span,
            "the least number is 1 or more, and the greatest not below it",
        )
    elif mode.delimiter != ONE and isinstance(mode.selection, Pick) and mode.selection not in (FIRST, LAST):
        yield PatternError(
            "bad-delimiter",
            "a delimiter goes with first, last, cumulative or combinations",
            span,
            "write combinations_minimum for every choice of so many instances",
        )
    if isinstance(mode.selection, Pick):
        yield from _pick(mode.selection, span)
