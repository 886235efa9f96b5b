"""Reads expressions, infix with timeframes and parameters, and prefix with the modes of Unland and Zimmer."""

from __future__ import annotations

from typing import Any

from tocsin.algebra.pairs.expression import (
    INFINITE,
    After,
    At,
    Composition,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Simultaneity,
    Timeframe,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    ALL,
    ONE,
    Consumption,
    Delimiter,
    Detection,
    Gather,
    Mode,
    Pick,
)
from tocsin.languages.lexis import Failure, Reader, Token
from tocsin.languages.meta_ens.attribute_filter import condition
from tocsin.languages.meta_ens.parameters import Suffix, bounds, selection, suffix
from tocsin.languages.meta_ens.scope import Scope, duration, name, primitive, timeframe, with_span
from tocsin.languages.meta_ens.words import CONSUMPTION, INFIX, PREFIX, TIMES


def starts_operator(reader: Reader) -> bool:
    """Whether an operator in prefix notation follows."""
    if reader.at_word("not", "v"):
        return reader.ahead().kind == "("
    return reader.at(";", "^", "==")


def expression(reader: Reader, scope: Scope) -> Expression:
    """An expression, perhaps with a selection: `(e1 ; e2)[2]`."""
    with reader.nested():
        start = reader.here
        found = _prefix(reader, scope) if starts_operator(reader) else _plain(reader, scope)
        while reader.accept("["):
            pick = bounds(reader, scope)
            reader.expect("]", "']'")
            found = Selection(found, pick, reader.span_from(start))
        return found


def _plain(reader: Reader, scope: Scope) -> Expression:
    start = reader.here
    if reader.accept("!"):
        body = _inside(reader, scope, start)[0] if reader.at("(") else _atom(reader, scope)
        return Negation(body, timeframe(reader, scope), reader.span_from(start))
    if reader.at("("):
        found, operator = _inside(reader, scope, start)
        if operator is None:
            return _framed(reader, scope, found, start)
        return _with_parameters(reader, scope, operator, found, start)
    found = _atom(reader, scope)
    return _framed(reader, scope, found, start)


def _framed(reader: Reader, scope: Scope, body: Expression, start: Token) -> Expression:
    frame = timeframe(reader, scope)
    return body if frame is None else Framed(body, frame, reader.span_from(start))


def _inside(reader: Reader, scope: Scope, start: Token) -> tuple[Any, type[Composition] | None]:
    """What stands in parentheses: an expression, or operands with one operator between them.

    Of a negation the operands are put together here, for what follows them belongs to the negation.
    """
    opening = reader.expect("(", "'('")
    operands = [expression(reader, scope)]
    operator: type[Composition] | None = None
    sign = ""
    while not reader.at(")"):
        if not reader.at(*INFIX) or (sign and reader.here.kind != sign):
            if sign and reader.at(*INFIX):
                reader.fail(repr(sign), "one operator between parentheses: nest the others")
            if reader.at("end"):
                reader.note("open-bracket", "this '(' is never closed", opening.span, "close it with ')'")
                raise Failure
            reader.fail("an operator or ')'", "| or, , and, ; then, : at the same time")
        sign = reader.advance().kind
        operator = INFIX[sign]
        operands.append(expression(reader, scope))
    reader.advance()
    if operator is None:
        return operands[0], None
    if start.kind == "!":
        return operator(tuple(operands), span=reader.span_from(opening)), operator
    return tuple(operands), operator


def _with_parameters(
    reader: Reader, scope: Scope, operator: type[Composition], operands: tuple[Expression, ...], start: Token
) -> Expression:
    frame = timeframe(reader, scope)
    found = suffix(reader, scope, expression) if reader.at("{") else Suffix()
    return _built(reader, operator, operands, (frame, found.evaluation(len(operands)), found), start)


def _built(
    reader: Reader,
    operator: type[Composition],
    operands: tuple[Expression, ...],
    given: tuple[Timeframe | None, Any, Suffix],
    start: Token,
) -> Expression:
    frame, how, found = given
    span = reader.span_from(start)
    if operator is Ordered:
        if found.tolerance is not None:
            reader.note("bad-parameter", "only a simultaneity has a tolerance", span)
        return Ordered(operands, frame, how, found.without, span)
    if found.without is not None:
        reader.note(
            "bad-parameter", "only a sequence is without something", span, "write (e1 ; e2){without=e3}"
        )
    if operator is Simultaneity:
        return Simultaneity(operands, frame, how, found.tolerance or 0, span)
    if found.tolerance is not None:
        reader.note("bad-parameter", "only a simultaneity has a tolerance", span)
    return operator(operands, frame, how, span=span)


def _atom(reader: Reader, scope: Scope) -> Expression:
    start = reader.here
    if reader.at_word(*TIMES) and reader.ahead().kind == "(":
        return _time_event(reader, scope)
    token = name(reader, "an event type, '(' or '!'")
    known = scope.expressions.get(token.text)
    if not reader.at("("):
        return primitive(known, token)
    if known is not None:
        reader.note(
            "not-an-event", f"{token.text!r} is defined as an expression, which has no condition", token.span
        )
    reader.advance()
    filter = condition(reader)
    reader.expect(")", "AND, OR or ')'")
    return Primitive(str(token.value), filter, reader.span_from(start))


def _time_event(reader: Reader, scope: Scope) -> Expression:
    """`at(2024-01-30T08:00)`, `after(e, 5min)`, `every(5min, e1, e2)`"""
    start = reader.advance()
    reader.expect("(", "'('")
    found: Expression
    if start.text == "at":
        minus = reader.accept("-") is not None
        moment = int(reader.advance().value) if reader.at("time") else duration(reader, scope)
        found = At(-moment if minus else moment)
    elif start.text == "after":
        body = expression(reader, scope)
        reader.expect(",", "',' and how long after it")
        found = After(body, duration(reader, scope))
    else:
        period = duration(reader, scope)
        reader.expect(",", "',' and what starts it")
        since = expression(reader, scope)
        found = Every(period, since, expression(reader, scope) if reader.accept(",") else None)
    reader.expect(")", "')'")
    return with_span(found, reader.span_from(start))


# --- prefix -------------------------------------------------------------------------------------------------


def _prefix(reader: Reader, scope: Scope) -> Expression:
    """`;(last: shared(E1), first: exclusive_parameter(E2), E3)`"""
    start = reader.advance()
    reader.expect("(", "'(' and the operands")
    if start.text == "not":
        body = expression(reader, scope)
        reader.expect(")", "')'")
        return Negation(body, timeframe(reader, scope) or INFINITE, reader.span_from(start))
    operands: list[Expression] = []
    modes: list[Mode] = []
    while True:
        mode, operand = _operand(reader, scope)
        operands.append(operand)
        modes.append(mode)
        if not reader.accept(","):
            break
    reader.expect(")", "',' or ')'")
    frame = timeframe(reader, scope)
    found = suffix(reader, scope, expression) if reader.at("{") else Suffix()
    if found.chooses:
        message = "in prefix notation each operand says what is chosen and consumed"
        reader.note("two-evaluations", message, reader.span_from(start), "write ;(first: exclusive(E1), E2)")
    how = Detection(tuple(modes), found.traversal, found.coupling, found.concurrency)
    return _built(
        reader,
        PREFIX[start.kind if start.kind != "name" else start.text],
        tuple(operands),
        (frame, how, found),
        start,
    )


def _operand(reader: Reader, scope: Scope) -> tuple[Mode, Expression]:
    chosen: Pick | Gather = ALL
    delimiter = ONE
    if _has_selection(reader):
        chosen = selection(reader, scope)
        if reader.accept("["):
            between = bounds(reader, scope)
            reader.expect("]", "']'")
            delimiter = Delimiter(between.low or 1, between.high)
        reader.expect(":", "':' and the operand")
    consumption = Consumption.KEEP
    if reader.at_word(*CONSUMPTION) and reader.ahead().kind == "(":
        consumption = CONSUMPTION[reader.advance().text]
        reader.advance()
        found = expression(reader, scope)
        reader.expect(")", "')'")
    else:
        found = expression(reader, scope)
    return Mode(chosen, consumption, delimiter), found


def _has_selection(reader: Reader) -> bool:
    """Whether a word or number with a colon after it stands before the operand."""
    if not reader.at("name", "number"):
        return False
    distance = 1
    while reader.ahead(distance).kind in ("..", "number", "name", "[", "]") and distance < 9:
        distance += 1
    return reader.ahead(distance).kind == ":"
