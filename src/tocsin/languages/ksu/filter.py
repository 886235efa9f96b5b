"""Parses filters and guards.

A label binds tightest, then `;`, then `+`, then `|`; `||` is allowed only at the outermost level.

Paper: 001, sections 3.1 and 4.2; the figures with the grammars are lost, the README has ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tocsin.algebra.correlation.check import check_filter
from tocsin.algebra.correlation.expression import (
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
    parts,
)
from tocsin.errors import PatternError, PatternErrors
from tocsin.languages.ksu.words import SYMBOLS, name
from tocsin.languages.lexis import Failure, Reader

_T = TypeVar("_T")
MAX_DEPTH = 200
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
    """Parse a text to a guard; raises `PatternErrors` with all mistakes.

    >>> parse_guard("l1 & !l2")
    And(parts=(Is(label='l1'), Not(part=Is(label='l2'))))
    """
    reader = Reader(text, SYMBOLS)
    guard = _whole(reader, lambda: read_guard(reader))
    if guard is None or reader.errors:
        raise PatternErrors(reader.errors)
    return guard


def _whole(reader: Reader, read: Callable[[], _T]) -> _T | None:
    """The result of `read` if it consumes the whole text."""
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
    """Parse the filter at this place of a text; warnings are appended to `warnings`."""
    branches = [_branch(reader, warnings)]
    while reader.accept("||"):
        branches.append(_branch(reader, warnings))
    return tuple(branches)


def _branch(reader: Reader, warnings: list[PatternError]) -> Expression:
    branch = _collection(reader, warnings)
    # A long row of operands is a deep tree, because all operators are binary; the rest of Tocsin recurses into it.
    level, depth = [branch], 0
    while level:
        depth += 1
        level = [part for parent in level for part in parts(parent)]
    if depth > MAX_DEPTH:
        reader.note("too-deep", f"more than {MAX_DEPTH} operators inside each other", branch.span)
        raise Failure
    return branch


def _collection(reader: Reader, warnings: list[PatternError]) -> Expression:
    return _chain(reader, "|", Collection, lambda: _accumulation(reader, warnings))[0]


def _accumulation(reader: Reader, warnings: list[PatternError]) -> Expression:
    bare: list[Expression] = []

    def operand() -> Expression:
        found, count = _chain(reader, ";", Sequence, lambda: _primary(reader, warnings))
        if count > 1:
            bare.append(found)
        return found

    whole, count = _chain(reader, "+", Accumulation, operand)
    warnings += [_mixed(sequence) for sequence in bare if count > 1]
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
    count = 1
    while reader.accept(symbol):
        whole = pair(whole, operand(), reader.span_from(start))
        count += 1
    return whole, count


def _primary(reader: Reader, warnings: list[PatternError]) -> Expression:
    with reader.nested():
        if reader.at("name") and reader.ahead().kind == ":":
            label = name(reader, "a label")
            reader.advance()
            return Labelled(label.text, _primary(reader, warnings), reader.span_from(label))
        if reader.accept("("):
            inner = _collection(reader, warnings)
            while reader.at("||"):
                hint = "write | for a choice, or lift the || out of the parentheses"
                reader.note("nested-parallel", "|| is allowed at top level only", reader.advance().span, hint)
                inner = Collection(inner, _collection(reader, warnings))
            reader.expect(")", "')' or an operator")
            return inner
    event = name(reader, "an event, a label or '('")
    return Atom(event.text, event.span)


# --- guards -----------------------------------------------------------------------------------------


def read_guard(reader: Reader) -> Guard:
    """Parse the guard at this place of a text."""
    start = reader.here
    operands = [_conjunction(reader)]
    while reader.accept("|"):
        operands.append(_conjunction(reader))
    if reader.at("||"):
        reader.fail("'&' or '|'", "in a guard 'or' is written |")
    return operands[0] if len(operands) == 1 else Or(tuple(operands), reader.span_from(start))


def _conjunction(reader: Reader) -> Guard:
    start = reader.here
    operands = [_literal(reader)]
    while reader.accept("&"):
        operands.append(_literal(reader))
    return operands[0] if len(operands) == 1 else And(tuple(operands), reader.span_from(start))


def _literal(reader: Reader) -> Guard:
    start = reader.here
    with reader.nested():
        if reader.accept("!"):
            return Not(_literal(reader), reader.span_from(start))
        if reader.accept("("):
            inner = read_guard(reader)
            reader.expect(")", "')', '&' or '|'")
            return inner
    label = name(reader, "a label, '!' or '('")
    return Is(label.text, label.span)
