"""Expressions of the event algebra in words, as syntax trees."""

from __future__ import annotations

from collections.abc import Callable
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
    Sequence,
    Several,
    Simultaneity,
    Timeframe,
    parts,
)
from tocsin.algebra.pairs.parameters import Detection, Pairing, Views
from tocsin.events import format_duration, format_timestamp
from tocsin.explain.contents import Tree

_WORDS = {
    Disjunction: "one of them",
    Conjunction: "all, in any order",
    Sequence: "one after the other",
    Simultaneity: "all at the same time",
}
_CONSUMED = {
    "keep": "a match uses nothing up",
    "delete": "a match deletes everything up to its end",
    "delete_reapply": "a match deletes what took part",
    "own": "a match deletes what took part, but not for the operators around it",
}


def syntax_tree(expression: Expression, show: Callable[[Expression], str]) -> Tree:
    """The syntax tree of an expression; `show` writes its leaves."""
    span = expression.span
    return Tree(
        _words(expression, show),
        type(expression).__name__.lower(),
        tuple(syntax_tree(part, show) for part in parts(expression)),
        None if span is None else (span.start, span.end),
    )


def _words(expression: Expression, show: Callable[[Expression], str]) -> str:
    match expression:
        case Primitive():
            return show(expression)
        case At(time):
            return f"at {format_timestamp(time)}"
        case After(_, delay):
            return f"{format_duration(delay)} after it"
        case Every(period, _, until):
            end = "for ever" if until is None else "until the second occurs"
            return f"every {format_duration(period)} after the first, {end}"
        case Negation(_, timeframe):
            return f"nothing of it{_within(timeframe, ' for ')}"
        case Selection(_, pick):
            high = "the last" if pick.high is None else str(pick.high)
            low = "the last" if pick.low is None else str(pick.low)
            return f"number {low} of them" if low == high else f"numbers {low} to {high} of them"
        case Framed(_, timeframe):
            return f"with a timeframe for the negations in it{_within(timeframe, ': ')}"
        case Disjunction() | Conjunction() | Sequence() | Simultaneity():
            return _composition(expression)
        case Several(_, count, timeframe, how):
            return f"any {count} of them{_within(timeframe, ', within ')}; per terminator: {_consumed(how)}"
        case Chain(_, by):
            also = "" if by is None else f" and of {by}"
            return f"the first of each, in the order of time{also}"
        case During(_, since, until):
            return f"what happens from {format_timestamp(since)} to {format_timestamp(until)}"
        case Each(_, by):
            return f"for each value of {by} by itself"
        case _:
            assert_never(expression)


def _composition(expression: Composition) -> str:
    words = _WORDS[type(expression)] + _within(expression.timeframe, ", within ")
    how = expression.how
    if isinstance(how, Views):
        pairs = ", each view of duplicates in one pair" if how.pairing is Pairing.UNIQUE else ""
        return f"{words}; over trace views{pairs}"
    return f"{words}; per terminator: {_consumed(how)}"


def _consumed(how: Detection) -> str:
    modes = dict.fromkeys(mode.consumption.value for mode in how.modes)
    return "; ".join(_CONSUMED[mode] for mode in modes)


def _within(timeframe: Timeframe | None, before: str) -> str:
    if timeframe is None:
        return ""
    return before + (format_duration(timeframe) if isinstance(timeframe, int) else "any time")
