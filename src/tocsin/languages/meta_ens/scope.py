"""What the parts of the parser share: names and timeframes apart, numbers, durations, and names that stand for something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tocsin.algebra.pairs.expression import INFINITE, Expression, Primitive, Timeframe
from tocsin.errors import Span, did_you_mean
from tocsin.events import MICROSECONDS, UNIT_WORDS
from tocsin.languages.lexis import MAX_DURATION, Failure, Reader, Token
from tocsin.languages.meta_ens.words import RESERVED


@dataclass
class Scope:
    """What names stand for: expressions, and numbers of microseconds or of duplicates; and the unit of a bare number."""

    unit: str
    expressions: dict[str, Expression] = field(default_factory=dict)
    numbers: dict[str, tuple[int, int]] = field(default_factory=dict)  # as a duration, and as it is written


def name(reader: Reader, wanted: str) -> Token:
    """A name. What begins with `_` in it is not a part of it, but a timeframe that follows, unless it stands in backquotes."""
    token = reader.here
    if token.kind != "name" or (token.text in RESERVED and not _quoted(token)):
        hint = "write it between backquotes: `" + token.text + "`" if token.text in RESERVED else None
        reader.fail(wanted, hint)
    at = token.text.find("_")
    if at > 0 and not _quoted(token):
        _split(reader, token, at)
    elif at == 0 and not _quoted(token):
        reader.fail(wanted, "a name that begins with _ stands between backquotes")
    return reader.advance()


def _quoted(token: Token) -> bool:
    return token.text.startswith("`")


def _split(reader: Reader, token: Token, at: int) -> None:
    """Make two tokens of one, the second of which begins at a place in it."""
    middle = token.span.start + at
    text = token.span.text
    first = Token("name", token.text[:at], token.text[:at], Span(text, token.span.start, middle))
    rest = Token("name", token.text[at:], token.text[at:], Span(text, middle, token.span.end))
    reader.tokens[reader.index : reader.index + 1] = [first, rest]


def timeframe(reader: Reader, scope: Scope) -> Timeframe | None:
    """`_5`, `_30sec`, `_inf` or `_t` if one follows."""
    token = reader.here
    if token.kind != "name" or not token.text.startswith("_") or _quoted(token):
        return None
    reader.advance()
    written = token.text[1:]
    if written == "inf":
        return INFINITE
    if written[:1].isdigit():
        digits = len(written) - len(written.lstrip("0123456789"))
        return _microseconds(reader, written[:digits], written[digits:] or scope.unit, token.span)
    if written in scope.numbers:
        return scope.numbers[written][0]
    hint = did_you_mean(written, scope.numbers, f"define it before: {written or 't'} := 30 sec")
    reader.note("unknown-name", f"nothing says how long {written!r} is", token.span, hint)
    return 0


def duration(reader: Reader, scope: Scope) -> int:
    """`5`, `5 min`, `5min` or a name."""
    token = reader.here
    if reader.at("duration"):
        return int(reader.advance().value)
    if reader.at("number") and isinstance(token.value, int):
        reader.advance()
        unit = scope.unit
        if reader.at("name") and reader.here.text in UNIT_WORDS:
            unit = reader.advance().text
        return _microseconds(reader, str(token.value), unit, reader.span_from(token))
    if reader.at("name") and token.text in scope.numbers:
        return scope.numbers[reader.advance().text][0]
    reader.fail("a duration", "write 5min, or a number of the unit that the options name")


def _microseconds(reader: Reader, digits: str, unit: str, span: Span) -> int:
    if unit not in UNIT_WORDS:
        hint = did_you_mean(unit, UNIT_WORDS, "units: " + ", ".join(MICROSECONDS))
        reader.note("bad-duration", f"{unit!r} is not a unit of time", span, hint)
        return 0
    found = int(digits[:20]) * MICROSECONDS[UNIT_WORDS[unit]]
    if found > MAX_DURATION:
        reader.note("bad-duration", f"{digits[:20]} {unit} is too long", span, "at most some 36,000 years")
        return 0
    return found


def number(reader: Reader, scope: Scope) -> int:
    """A whole number, or a name that stands for one."""
    token = reader.here
    if reader.at("name") and token.text in scope.numbers:
        return scope.numbers[reader.advance().text][1]
    if not reader.at("number") or not isinstance(token.value, int):
        reader.fail("a whole number")
    return int(reader.advance().value)


def primitive(found: Expression | None, token: Token) -> Expression:
    """What a name stands for, or the event type of this name."""
    return Primitive(str(token.value), None, token.span) if found is None else found


def with_span(expression: Expression, span: Span) -> Expression:
    """The expression at another place of the text."""
    return replace(expression, span=span)


def word(reader: Reader, known: Mapping[str, object], what: str) -> str:
    """One of some words."""
    token = reader.here
    if reader.at("name") and token.text in known:
        return reader.advance().text
    hint = did_you_mean(token.text, known) if reader.at("name") else "one of " + ", ".join(known)
    reader.unexpected(what, hint)
    raise Failure
