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
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
    Within,
    specs,
)
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Definition, Interpretation, Subscription
from tocsin.errors import PatternErrors
from tocsin.events import Catalog
from tocsin.languages.core.condition import attribute_comparison, condition, role_comparison
from tocsin.languages.core.hints import WITHIN_LAST, between_hint, end_hint, event_hint
from tocsin.languages.core.policy import Policies, policies
from tocsin.languages.core.words import RESERVED, SYMBOLS, name, type_name
from tocsin.languages.lexis import CLOSING, UNITS, Failure, Reader, Token, duration
from tocsin.languages.phrases import MAX_NAMES


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
            reader.fail("the end of the text", between_hint(reader))
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
        reader.unexpected("an operator or the end of the pattern", between_hint(reader))
        reader.advance()
        while not reader.at("end", "[", "(") and not reader.at_word("where", "with"):
            reader.advance()
        if reader.at("[", "("):
            parts.append(_expression(reader))
    return parts[0] if len(parts) == 1 else Sequence((*parts, UNREADABLE), Order.WEAK)


def _definition(reader: Reader) -> Definition:
    if reader.at_word(*RESERVED):
        reader.unexpected("the name of a composite", f"{reader.here.text!r} is a word of the language")
    own = reader.advance()
    reader.advance()
    pattern: Pattern = UNREADABLE
    try:
        if not reader.at("("):
            reader.fail("'('", f"write {own.text} := ( … ) ;")
        pattern = _limited(reader, own, _primary(reader))
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
    limited = _limited(reader, start, pattern)
    if limited is not pattern and reader.at("[", "(", ";", "|", "||"):
        reader.unexpected("the end of the pattern, or ')'", WITHIN_LAST)
        if not reader.at("[", "("):
            reader.advance()
        rest = _expression(reader)
        return Sequence((limited, rest, UNREADABLE), Order.WEAK)
    return limited


def _limited(reader: Reader, start: Token, pattern: Pattern) -> Pattern:
    """The pattern with the limits that follow it: `within` binds loosest, so it is about all that stands before it."""
    while reader.accept_word("within"):
        try:
            pattern = Within(pattern, _duration(reader), reader.span_from(start))
        except Failure:
            if not reader.at("end", ")", "]", ";", ","):
                reader.advance()
    return pattern


def _alternation(reader: Reader) -> Pattern:
    options, start = _listed(reader, _sequence, "|")
    return options[0] if len(options) == 1 else AnyOf(tuple(options), reader.span_from(start))


def _sequence(reader: Reader) -> Pattern:
    parts, start = _listed(reader, _concatenation, ";")
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts), Order.STRONG, reader.span_from(start))


def _concatenation(reader: Reader) -> Pattern:
    start = reader.here
    parts: list[Pattern] = []
    again = False  # whether the last part is optional by its own sign, and not inside parentheses
    while not parts or reader.at("[", "("):
        part, optional = _repeated(reader)
        before = parts[-1] if parts else None
        # `[X]?[X]?` waits for an X in one state, as `[X]{0,2}` does.
        match before, part:
            case Optional(body, most), Optional(same, more) if again and optional and body == same:
                parts.pop()
                part = Optional(body, most + more, reader.span_from(start))
            case _:
                pass
        parts.append(part)
        again = optional
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts), Order.WEAK, reader.span_from(start))


def _repeated(reader: Reader) -> tuple[Pattern, bool]:
    """A part with the signs that say how often, and whether the last of them makes it optional."""
    start = reader.here
    pattern, optional = _primary(reader), False
    while True:
        if reader.accept("*"):
            pattern, optional = Repeat(pattern, reader.span_from(start)), False
        elif reader.accept("?"):
            pattern, optional = Optional(pattern, span=reader.span_from(start)), True
        elif reader.accept("+"):
            pattern = _times(reader, start, pattern, 1, None)
            optional = False
        elif reader.at("{"):
            pattern = _counted(reader, start, pattern)
            optional = isinstance(pattern, Optional)
        else:
            return pattern, optional


def _counted(reader: Reader, start: Token, pattern: Pattern) -> Pattern:
    """`{3}`, `{2,5}`, `{2,}` or `{,5}`."""
    brace = reader.index
    how = "write {3}, {2,5} or {2,}"
    try:
        reader.advance()
        least = 0 if reader.at(",") else _count(reader, how)
        most: int | None = least
        if reader.accept(","):
            most = None if reader.at("}") else _count(reader, how)
        reader.expect("}", "'}'", how)
    except Failure:
        reader.leave(brace)
        return pattern
    if most == 0 or (most is not None and most < least):
        span = reader.tokens[brace].span.through(reader.last.span)
        reader.note("bad-count", "this often is never", span, how)
        return pattern
    return _times(reader, start, pattern, least, most)


def _count(reader: Reader, how: str) -> int:
    number = reader.expect("number", "how many times", how)
    if not isinstance(number.value, int):
        reader.note("bad-count", f"{number.text} times cannot be counted", number.span, how)
        raise Failure
    return number.value


def _times(reader: Reader, start: Token, pattern: Pattern, least: int, most: int | None) -> Pattern:
    """The pattern so many times, one after the other: `X{2,5}` is `X X X{0,3}`, and `X{2,}` is `X X X*`."""
    span = reader.span_from(start)
    size = max(least, most or 0) * sum(1 for _ in specs(pattern))
    if size > MAX_NAMES:
        reader.note("too-large", f"written out, this names {size:,} events", span, f"at most {MAX_NAMES:,}")
        return pattern
    more: tuple[Pattern, ...] = ()
    if most is None:
        more = (Repeat(pattern, span),)
    elif most > least:
        more = (Optional(pattern, most - least, span),)
    parts = (*((pattern,) * least), *more)
    return parts[0] if len(parts) == 1 else Sequence(parts, Order.WEAK, span)


def _primary(reader: Reader) -> Pattern:
    if reader.at("["):
        return _recovering(reader, _atom)
    if reader.at("("):
        return _recovering(reader, _group)
    reader.unexpected("an event in brackets or '('", event_hint(reader))
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
    reader.expect("]", "']', ',' or 'in'" if not domain else "']'", end_hint(reader))
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
    own = type_name(reader, "the name of an event type")
    filter = None
    if reader.accept("("):
        filter = condition(reader, attribute_comparison)
        reader.expect(")", "')', AND or OR")
    return EventSpec(str(own.value), filter, reader.span_from(own))


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
    if token := reader.accept("string"):
        return duration(str(token.value), token.span, reader.errors)
    if reader.at("number") and reader.ahead().kind == "name":
        start, unit = reader.advance(), reader.advance()
        return duration(f"{start.text} {unit.text}", reader.span_from(start), reader.errors)
    return int(reader.expect("duration", "a duration such as 5min", f"units: {UNITS}").value)
