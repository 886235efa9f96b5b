"""Parses expressions, including predicates. The grammar is in the README beside this file.

After a mistake inside braces, parsing resumes after the next comma or brace, so that one run reports every
mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tocsin.algebra.completion.expression import (
    FALSE,
    MAX_DEPTH,
    TRUE,
    Accumulate,
    DoUnless,
    Expression,
    Fail,
    Loop,
    Mode,
    Modes,
    Named,
    Parallel,
    Persist,
    Predicate,
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
)
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or
from tocsin.errors import Span, did_you_mean
from tocsin.languages.ecl.terms import comparison, output
from tocsin.languages.ecl.words import AND, NOT, OPENING, OPERATORS, OR, RESERVED
from tocsin.languages.lexis import Failure, Reader, Token
from tocsin.values import Relation

# Placeholder for a part that could not be parsed; a predicate, so that it causes no further errors.
BROKEN = Predicate(TRUE)
_LISTS: Mapping[str, type[Accumulate | Sequential | Parallel]] = {
    "accumulate": Accumulate,
    "sequential": Sequential,
    "parallel": Parallel,
}
_BLOCKS: Mapping[str, type[Repeat | Persist | Loop]] = {"repeat": Repeat, "persist": Persist, "loop": Loop}


@dataclass
class Scope:
    """The names in scope, those defined later, the words that are not events, and the depth."""

    defined: Mapping[str, Expression] = field(default_factory=dict)
    later: frozenset[str] = frozenset()
    reserved: frozenset[str] = RESERVED
    depth: int = 0


def expression(reader: Reader, scope: Scope) -> Expression:
    """An expression; a predicate is one too, and only predicates are joined by and, or, not."""
    scope.depth += 1
    try:
        if scope.depth > MAX_DEPTH:
            reader.note("too-deep", f"more than {MAX_DEPTH} levels of nesting", reader.here.span)
            raise Failure
        start = reader.here
        either: list[Expression] = []
        both: list[Expression] = [_operand(reader, scope)]
        while reader.at(*AND, *OR):
            if reader.advance().kind in OR:
                either.append(_joined(reader, And, both, start))
                both = []
            both.append(_operand(reader, scope))
        either.append(_joined(reader, And, both, start))
        return _joined(reader, Or, either, start)
    finally:
        scope.depth -= 1


def predicate(reader: Reader, scope: Scope, where: str) -> Filter:
    """An expression that must be a predicate."""
    start = reader.here
    return _filter(reader, expression(reader, scope), where, reader.span_from(start))


def _joined(reader: Reader, join: type[And | Or], parts: list[Expression], start: Token) -> Expression:
    if len(parts) == 1:
        return parts[0]
    what = "an operand of " + ("and" if join is And else "or")
    filters = tuple(_filter(reader, part, what, part.span) for part in parts)
    return Predicate(join(filters, reader.span_from(start)), reader.span_from(start))


def _filter(reader: Reader, part: Expression, where: str, span: Span | None) -> Filter:
    while isinstance(part, Named):
        part = part.body
    if isinstance(part, Predicate):
        return part.filter
    hint = "one event decides it: combine events with /\\, \\/ and !"
    reader.note("not-a-predicate", f"{where} must be a predicate, not an expression", span, hint)
    return TRUE


def _operand(reader: Reader, scope: Scope) -> Expression:
    start = reader.here
    if reader.at(*NOT):
        reader.advance()
        inner = (
            _operand(reader, scope) if reader.at(*NOT) and _not_too_many(reader) else _plain(reader, scope)
        )
        filter = _filter(reader, inner, "what is negated", inner.span)
        return Predicate(Not(filter, reader.span_from(start)), reader.span_from(start))
    return _plain(reader, scope)


def _not_too_many(reader: Reader) -> bool:
    """Check the length of a row of negations, which counts as nesting too."""
    if all(reader.ahead(i).kind in NOT for i in range(MAX_DEPTH)):
        reader.note("too-deep", f"more than {MAX_DEPTH} negations in a row", reader.here.span)
        raise Failure
    return True


def _plain(reader: Reader, scope: Scope) -> Expression:
    start = reader.here
    if reader.accept("("):
        inner = expression(reader, scope)
        reader.expect(")", "')'", _single_hint(reader.here))
        return inner
    if reader.at(*OPENING):
        return Predicate(comparison(reader), reader.span_from(start))
    if not reader.at("name"):
        reader.fail("an expression", _single_hint(reader.here))
    word = reader.here.text
    if word in ("true", "false"):
        reader.advance()
        return Predicate(TRUE if word == "true" else FALSE, start.span)
    if word in OPERATORS:
        return _operator(reader, scope)
    if word in scope.reserved:
        reader.fail(
            "an expression", f'{word!r} is a word of the language; an event of this type is <type = "{word}">'
        )
    return _name(reader, scope)


def _single_hint(token: Token) -> str | None:
    if token.kind in ("&", "|"):
        return f"write {token.kind * 2}"
    return None


def _name(reader: Reader, scope: Scope) -> Expression:
    token = reader.advance()
    if reader.at("{") or (reader.at("(") and reader.ahead(2).kind == ")" and reader.ahead(3).kind == "{"):
        message = f"there is no operator {token.text!r}"
        reader.note("unknown-operator", message, token.span, did_you_mean(token.text, OPERATORS))
        raise Failure
    if token.text in scope.defined:
        return Named(token.text, scope.defined[token.text], token.span)
    if token.text in scope.later:
        hint = "a definition comes before its use, and cannot contain itself"
        reader.note("used-before-defined", f"{token.text!r} is not defined yet", token.span, hint)
        return BROKEN
    return Predicate(_type_is(token.text, token.span), token.span)


def _type_is(name: str, span: Span) -> Compare:
    return Compare(Attribute("type", span), Relation.EQ, Literal(name, span), span)


# --- operators ------------------------------------------------------------------------------------


def _operator(reader: Reader, scope: Scope) -> Expression:
    start = reader.advance()
    match start.text:
        case "in":
            return _modes(reader, scope, start)
        case "do":
            body = _block(reader, scope)
            if not reader.accept_word("unless"):
                reader.fail("'unless'", "write do {…} unless {…}")
            return DoUnless(body, _block(reader, scope), reader.span_from(start))
        case "fail":
            return Fail(_block(reader, scope), reader.span_from(start))
        case "push":
            reader.expect("(", "'(' and what to push", "write push(x) {…}")
            pushed = output(reader)
            reader.expect(")", "')'")
            return Push(pushed, _block(reader, scope), reader.span_from(start))
        case "repeat" | "persist" | "loop":
            times = _times(reader) if reader.at("(") else None
            return _BLOCKS[start.text](_block(reader, scope), times, reader.span_from(start))
        case "select":
            star = reader.at("*") and reader.here.span.start == start.span.end
            if reader.at("*") and not star:
                reader.fail("'{'", "write select* without a blank")
            if star:
                reader.advance()
            parts = tuple(braced(reader, scope, many=True))
            return (SelectStar if star else Select)(parts, reader.span_from(start))
        case _:
            return _LISTS[start.text](tuple(braced(reader, scope, many=True)), reader.span_from(start))


def _modes(reader: Reader, scope: Scope, start: Token) -> Modes:
    modes: list[Mode] = []
    first: Token | None = start
    while first is not None:
        reader.expect("(", "'(' and a guard", "write in (p) do {…}")
        guard = predicate(reader, scope, "a guard")
        reader.expect(")", "')'", _single_hint(reader.here))
        if not reader.accept_word("do"):
            reader.fail("'do'", "write in (p) do {…}")
        modes.append(Mode(guard, _block(reader, scope), reader.span_from(first)))
        first = reader.accept_word("in")
    return Modes(tuple(modes), reader.span_from(start))


def _times(reader: Reader) -> int | None:
    reader.advance()
    number = reader.expect("number", "how many times, at least once", "write repeat(3) {…}")
    if not isinstance(number.value, int) or number.value < 1:
        reader.note("bad-bound", "the bound must be a whole number, 1 or more", number.span)
    reader.expect(")", "')'")
    return max(1, int(number.value))


def _block(reader: Reader, scope: Scope) -> Expression:
    return braced(reader, scope, many=False)[0]


def braced(reader: Reader, scope: Scope, *, many: bool) -> list[Expression]:
    """`{…}` with one expression or, separated by commas, several."""
    opening = reader.expect("{", "'{'", _star_hint(reader))
    noted = len(reader.errors)
    parts: list[Expression] = []
    while True:
        try:
            parts.append(expression(reader, scope))
            if not reader.at("}") and not (many and reader.at(",")):
                reader.fail("',' or '}'" if many else "'}'", _single_hint(reader.here))
        except Failure:
            parts.append(BROKEN)
            skip(reader, (",", "}"))
        if reader.accept("}"):
            return parts
        if not reader.accept(","):
            # A brace that is never closed explains all other mistakes found up to the end.
            del reader.errors[noted:]
            reader.note("open-bracket", "this '{' is never closed", opening.span, "close it with '}'")
            raise Failure


def _star_hint(reader: Reader) -> str | None:
    return "only select has a variant with *" if reader.at("*") else None


def skip(reader: Reader, stops: Sequence[str]) -> None:
    """Skip to the next of `stops` that is not inside brackets opened on the way."""
    depth = 0
    while not reader.at("end"):
        if depth == 0 and reader.here.kind in stops:
            return
        if reader.at("{", "("):
            depth += 1
        elif reader.at("}", ")"):
            depth = max(0, depth - 1)
        reader.advance()
