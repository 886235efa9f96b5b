"""Reads filters and guards.

A label binds tightest, then `;`, then `+`, then `|`, and `||` stands outermost only.

Paper: 001, sections 3.1 and 4.2; the figures with the grammars are lost, the README has ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tocsin.algebra.correlation import (
    Accumulation,
    And,
    Atom,
    Branches,
    Collection,
    Expression,
    Guard,
    Is,
    Labelled,
    Not,
    Or,
    Sequence,
)
from tocsin.algebra.correlation_check import check_filter
from tocsin.errors import PatternError, PatternErrors
from tocsin.languages.ksu.words import SYMBOLS, name
from tocsin.languages.lexis import Failure, Reader

_T = TypeVar("_T")
_Pair = type[Accumulation] | type[Collection] | type[Sequence]


def parse_filter(text: str) -> Branches:
    """The branches of a filter; raises `PatternErrors` with all mistakes.

    >>> parse_filter("a+b || c")
    (Accumulation(left=Atom(event='a'), right=Atom(event='b')), Atom(event='c'))
    """
    reader = Reader(text, SYMBOLS)
    branches = _whole(reader, lambda: read_filter(reader, []))
    errors = [*reader.errors, *check_filter(branches or ())]
    if branches is None or errors:
        raise PatternErrors(errors)
    return branches


def parse_guard(text: str) -> Guard:
    """The guard a text stands for; raises `PatternErrors` with all mistakes.

    >>> parse_guard("l1 & !l2")
    And(parts=(Is(label='l1'), Not(part=Is(label='l2'))))
    """
    reader = Reader(text, SYMBOLS)
    guard = _whole(reader, lambda: read_guard(reader))
    if guard is None or reader.errors:
        raise PatternErrors(reader.errors)
    return guard


def _whole(reader: Reader, read: Callable[[], _T]) -> _T | None:
    """What `read` finds if it reads the text to its end."""
    try:
        found = read()
        if not reader.at("end"):
            hint = f"this {reader.here.text!r} closes nothing" if reader.at(")", "}") else None
            reader.fail("an operator or the end of the text", hint)
    except Failure:
        return None
    return found


# --- filters ----------------------------------------------------------------------------------------


def read_filter(reader: Reader, warnings: list[PatternError]) -> Branches:
    """The filter at this place of a text; what is worth a warning is added to `warnings`."""
    branches = [_collection(reader, warnings)]
    while reader.accept("||"):
        branches.append(_collection(reader, warnings))
    return tuple(branches)


def _collection(reader: Reader, warnings: list[PatternError]) -> Expression:
    return _chain(reader, "|", Collection, lambda: _accumulation(reader, warnings))[0]


def _accumulation(reader: Reader, warnings: list[PatternError]) -> Expression:
    bare: list[Expression] = []

    def operand() -> Expression:
        found, parts = _chain(reader, ";", Sequence, lambda: _primary(reader, warnings))
        if parts > 1:
            bare.append(found)
        return found

    whole, parts = _chain(reader, "+", Accumulation, operand)
    warnings += [_mixed(sequence) for sequence in bare if parts > 1]
    return whole


def _mixed(sequence: Expression) -> PatternError:
    span = sequence.span
    text = span.text[span.start : span.end] if span else "…"
    return PatternError(
        "mixed-operators", "';' binds tighter than '+'", span, f"write ({text}) to make that plain"
    )


def _chain(
    reader: Reader, symbol: str, pair: _Pair, operand: Callable[[], Expression]
) -> tuple[Expression, int]:
    """Operands joined by one symbol, grouped to the left, and how many there are."""
    start = reader.here
    whole = operand()
    parts = 1
    while reader.accept(symbol):
        reader.nest(1)  # each operator makes the tree one level deeper
        parts += 1
        whole = pair(whole, operand(), reader.span_from(start))
    reader.nest(1 - parts)
    return whole, parts


def _primary(reader: Reader, warnings: list[PatternError]) -> Expression:
    if reader.at("name") and reader.ahead().kind == ":":
        label = name(reader, "a label")
        reader.advance()
        reader.nest(1)
        body = _primary(reader, warnings)
        reader.nest(-1)
        return Labelled(label.text, body, reader.span_from(label))
    if reader.accept("("):
        reader.nest(1)
        inner = _collection(reader, warnings)
        while reader.at("||"):
            hint = "write | for a choice, or lift the || out of the parentheses"
            reader.note("nested-parallel", "|| is allowed at top level only", reader.advance().span, hint)
            inner = Collection(inner, _collection(reader, warnings))
        reader.nest(-1)
        reader.expect(")", "')' or an operator")
        return inner
    event = name(reader, "an event, a label or '('")
    return Atom(event.text, event.span)


# --- guards -----------------------------------------------------------------------------------------


def read_guard(reader: Reader) -> Guard:
    """The guard at this place of a text."""
    start = reader.here
    parts = [_conjunction(reader)]
    while reader.accept("|"):
        parts.append(_conjunction(reader))
    return parts[0] if len(parts) == 1 else Or(tuple(parts), reader.span_from(start))


def _conjunction(reader: Reader) -> Guard:
    start = reader.here
    parts = [_literal(reader)]
    while reader.accept("&"):
        parts.append(_literal(reader))
    return parts[0] if len(parts) == 1 else And(tuple(parts), reader.span_from(start))


def _literal(reader: Reader) -> Guard:
    start = reader.here
    reader.nest(1)
    try:
        if reader.accept("!"):
            return Not(_literal(reader), reader.span_from(start))
        if reader.accept("("):
            inner = read_guard(reader)
            reader.expect(")", "')', '&' or '|'")
            return inner
    finally:
        reader.nest(-1)
    hint = "in a guard 'or' is written |" if reader.at("||") else None
    if not reader.at("name"):
        reader.fail("a label, '!' or '('", hint)
    label = name(reader, "a label")
    return Is(label.text, label.span)
