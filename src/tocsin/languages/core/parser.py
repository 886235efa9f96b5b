"""Parses the Cambridge core language. The grammar is in the README beside this file.

After a mistake, parsing resumes after the enclosing bracket or at the next operator, so that one run reports
every mistake in a text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.algebra.tokens.bounds import MAX_LENGTH
from tocsin.algebra.tokens.check import UNREADABLE, check
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
)
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Definition, Interpretation, Subscription
from tocsin.errors import PatternErrors
from tocsin.events import Catalog
from tocsin.languages.core.condition import attribute_comparison, condition, role_comparison
from tocsin.languages.core.policy import Policies, policies
from tocsin.languages.core.words import RESERVED, SYMBOLS, name
from tocsin.languages.lexis import CLOSING, UNITS, Failure, Reader, Token, duration


def parse(
    text: str,
    catalog: Catalog | None = None,
    *,
    interpretation: Interpretation | None = None,
    selection: Selection | None = None,
    name: str = "pattern",
) -> Subscription:
    """Parse a text to a subscription; raises `PatternErrors` with all mistakes.

    >>> parse("[A];[B]").pattern.order
    <Order.STRONG: 'strong'>

    Args:
        selection: which matches are wanted unless the text says so.
    """
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    program = _program(reader, selection or Selection())
    subscription = replace(program, name=name, interpretation=interpretation or Interpretation())
    errors = reader.errors + check(subscription, catalog)
    if errors:
        raise PatternErrors(errors)
    return subscription


def _program(reader: Reader, otherwise: Selection) -> Subscription:
    definitions = []
    while reader.at("name") and reader.ahead().kind == ":=":
        definitions.append(_definition(reader))
    pattern = _whole(reader)
    where, said = None, Policies()
    if reader.accept_word("where"):
        try:
            where = condition(reader, role_comparison)
        except Failure:
            while not (reader.at("end") or reader.at_word("with")):
                reader.advance()
    try:
        if reader.accept_word("with"):
            said = policies(reader)
        if not reader.at("end"):
            reader.fail("the end of the text", _stray_hint(reader.here))
    except Failure:
        pass
    return Subscription(
        pattern,
        tuple(definitions),
        where,
        said.detection,
        said.distribution,
        selection=said.selection(otherwise),
    )


def _whole(reader: Reader) -> Pattern:
    """The pattern to detect. Text after it is wrong, but is parsed too, to report the mistakes in it."""
    parts = [_expression(reader)]
    while not reader.at("end") and not reader.at_word("where", "with"):
        reader.unexpected("an operator or the end of the pattern", _stray_hint(reader.here))
        reader.advance()
        while not reader.at("end", "[", "(") and not reader.at_word("where", "with"):
            reader.advance()
        if reader.at("[", "("):
            parts.append(_expression(reader))
    return parts[0] if len(parts) == 1 else Sequence((*parts, UNREADABLE), Order.WEAK)


def _stray_hint(token: Token) -> str | None:
    if token.kind in CLOSING.values():
        return f"this {token.text!r} closes nothing"
    if token.kind == ":=":
        return "definitions come first: NAME := ( … ) ;"
    if token.kind == ",":
        return "a part with a timer stands in parentheses: ( … , … )_{T1=5min}"
    if token.kind == "name" and token.text not in RESERVED:
        return f"an event is written in brackets: [{token.text}]"
    return None


def _definition(reader: Reader) -> Definition:
    if reader.at_word(*RESERVED):
        reader.unexpected("the name of a composite", f"{reader.here.text!r} is a word of the language")
    own = reader.advance()
    reader.advance()
    pattern: Pattern = UNREADABLE
    try:
        if not reader.at("("):
            reader.fail("'('", f"write {own.text} := ( … ) ;")
        pattern = _primary(reader)
        reader.expect(";", "';' after the definition", f"write {own.text} := ( … ) ;")
    except Failure:
        _skip_definition(reader)
    return Definition(own.text, pattern, own.span)


def _skip_definition(reader: Reader) -> None:
    """Skip past the next `;` that is not inside a bracket opened on the way."""
    depth = 0
    while not reader.at("end"):
        token = reader.advance()
        if depth == 0 and token.kind == ";":
            return
        if token.kind in CLOSING:
            depth += 1
        elif token.kind in CLOSING.values():
            depth = max(0, depth - 1)


def _listed(reader: Reader, part: Callable[[Reader], Pattern], symbol: str) -> tuple[list[Pattern], Token]:
    start = reader.here
    parts = [part(reader)]
    while reader.accept(symbol):
        parts.append(part(reader))
    return parts, start


def _expression(reader: Reader) -> Pattern:
    with reader.nested():
        parts, start = _listed(reader, _alternation, "||")
    pattern = parts[0]
    for part in parts[1:]:
        pattern = AllOf(pattern, part, reader.span_from(start))
    return pattern


def _alternation(reader: Reader) -> Pattern:
    options, start = _listed(reader, _sequence, "|")
    return options[0] if len(options) == 1 else AnyOf(tuple(options), reader.span_from(start))


def _sequence(reader: Reader) -> Pattern:
    parts, start = _listed(reader, _concatenation, ";")
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts), Order.STRONG, reader.span_from(start))


def _concatenation(reader: Reader) -> Pattern:
    start = reader.here
    parts = [_repeated(reader)]
    while reader.at("[", "("):
        parts.append(_repeated(reader))
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts), Order.WEAK, reader.span_from(start))


def _repeated(reader: Reader) -> Pattern:
    start = reader.here
    pattern = _primary(reader)
    while reader.accept("*"):
        pattern = Repeat(pattern, reader.span_from(start))
    return pattern


def _primary(reader: Reader) -> Pattern:
    if reader.at("["):
        return _recovering(reader, _atom)
    if reader.at("("):
        return _recovering(reader, _group)
    hint = f"an event is written in brackets: [{reader.here.text}]" if reader.at("name") else None
    reader.unexpected("an event in brackets or '('", hint)
    # An operator or a bracket here is left to the caller; a word is skipped, with the filter after it.
    if reader.at("name") and not reader.at_word("where", "with"):
        reader.advance()
        if reader.at("("):
            reader.skip_bracket()
    elif reader.at("number", "string", "duration", "time"):
        reader.advance()
    return UNREADABLE


def _recovering(reader: Reader, part: Callable[[Reader], Pattern]) -> Pattern:
    """Parse a bracketed part; after a mistake in it, resume after its closing bracket."""
    start = reader.index
    try:
        return part(reader)
    except Failure:
        reader.leave(start)
        return UNREADABLE


def _atom(reader: Reader) -> Pattern:
    start = reader.expect("[", "'['")
    negated = reader.accept("!") is not None
    accept = _specs(reader)
    domain = _domain(reader) if reader.accept_word("in") else ()
    reader.expect("]", "']', ',' or 'in'" if not domain else "']'")
    atom = Atom(accept, domain, negated, reader.span_from(start))
    if negated and not domain:
        names = ", ".join(spec.name for spec in accept)
        reader.note(
            "negation-without-domain",
            "a negation needs the set it is taken from",
            atom.span,
            f"write [!{names} in {{{names}, …}}]: any other event of that set then matches",
        )
    return atom


def _specs(reader: Reader) -> tuple[EventSpec, ...]:
    found = [_spec(reader)]
    while reader.accept(","):
        found.append(_spec(reader))
    return tuple(found)


def _domain(reader: Reader) -> tuple[EventSpec, ...]:
    if not reader.accept("{"):
        return (_spec(reader),)
    found = _specs(reader)
    reader.expect("}", "'}' or ','")
    return found


def _spec(reader: Reader) -> EventSpec:
    own = name(reader, "the name of an event type")
    filter = None
    if reader.accept("("):
        filter = condition(reader, attribute_comparison)
        reader.expect(")", "')', AND or OR")
    return EventSpec(own.text, filter, reader.span_from(own))


def _group(reader: Reader) -> Pattern:
    index, start = reader.index, reader.expect("(", "'('")
    first = _expression(reader)
    second = _expression(reader) if reader.accept(",") else None
    if not reader.accept(")"):
        # The contents were parsed, so they are kept and checked, whatever is wrong with the end.
        reader.unexpected("')' or an operator")
        reader.leave(index)
        return first if second is None else Sequence((first, second, UNREADABLE), Order.WEAK)
    if second is None:
        return first
    wanted = "write ( … , … )_{T1=5min} or ( … , … )_{T1@2004-01-31T19:00:00}"
    reader.expect("_", "'_{' with the timer", wanted)
    brace = reader.index
    try:
        reader.expect("{", "'{'")
        timer = _timer(reader)
        reader.expect("}", "'}'")
    except Failure:
        reader.leave(brace)
        return Sequence((first, UNREADABLE), Order.WEAK)
    return Timed(first, second, timer, reader.span_from(start))


def _timer(reader: Reader) -> Timer:
    own = name(reader, "the name of the timer")
    if reader.accept("@"):
        at = reader.expect("time", "a time such as 2004-01-31T19:00:00")
        return Timer(own.text, at=int(at.value), span=reader.span_from(own))
    reader.expect("=", "'=' and a duration, or '@' and a time")
    return Timer(own.text, after=_duration(reader), span=reader.span_from(own))


def _duration(reader: Reader) -> int:
    if reader.at("number") and reader.ahead().kind == "name":
        start, unit = reader.advance(), reader.advance()
        return duration(start.text + unit.text, reader.span_from(start), reader.errors)
    return int(reader.expect("duration", "a duration such as 5min", f"units: {UNITS}").value)
