"""The tokens that all languages share: names, numbers, strings, durations, times; and a reader over them.

The parsers are written by hand for the sake of error messages: every mistake in a text at once, each underlined,
with a hint (docs/decisions/0002-parsers-by-hand.md). Texts are untrusted, so everything has a limit: the length, the
nesting, the numbers, the mistakes that are reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn

from tocsin.algebra.tokens.bounds import MAX_ERRORS, MAX_LENGTH, MAX_NESTING
from tocsin.algebra.tokens.check import too_many
from tocsin.errors import PatternError, PatternErrors, Span
from tocsin.events import UNIT_WORDS, format_timestamp, parse_duration, parse_timestamp

MAX_INTEGER = (1 << 63) - 1
MAX_DURATION = 1 << 60  # microseconds; a timer that starts today still fits into 64 bits
UNITS = "ms, s, min, h, d, w"
CLOSING = {"[": "]", "(": ")", "{": "}"}

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
_DURATION = re.compile(rf"\d+(?:\.\d+)?(?:{'|'.join(UNIT_WORDS)})(?!\w)", re.ASCII)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_NAME = re.compile(r"[^\W\d]\w*")
_QUOTED = re.compile(r"`(?:[^`]|``)+`")  # a name with any signs in it, where a language has the sign `
_STRING = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_TIMING_SIGN = re.compile(r"_\s*\{")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Typographic characters of papers, word processors and web pages, and their keyboard equivalents.
_PLAIN = {
    **{"⊆": "in", "∧": "AND", "∨": "OR", "¬": "!", "∥": "||", "‖": "||"},
    **{"≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "–": "-"},
}
# Other spellings of a symbol, accepted wherever the symbol is.
_SPELLINGS = {"<>": "!="}
_CURLY = re.compile(r"[“”„‘’]([^“”„‘’\n]*)[“”„‘’]?")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text: a `name`, `number`, `string`, `duration` or `time`, the `end`, or a symbol."""

    kind: str
    text: str
    value: int | float | str
    span: Span


class Failure(Exception):  # noqa: N818  (it never leaves a parser: the error it stands for is noted already)
    """Raised inside a parser when it cannot continue at this place."""


def is_name(text: str) -> bool:
    """Whether a text is valid, without quotes, as the name of an event type, attribute or variable.

    >>> is_name("Door_2"), is_name("Event A")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None


def tokens(text: str, symbols: Sequence[str], errors: list[PatternError]) -> list[Token]:
    """The tokens of a text; anything that is not a token is recorded as an error and left out.

    >>> [(t.kind, t.value) for t in tokens("A, 5min", [","], [])]
    [('name', 'A'), (',', ','), ('duration', 300000000), ('end', '')]
    >>> [t.kind for t in tokens("a <> 1", ["<", ">", "!="], [])]
    ['name', '!=', 'number', 'end']
    """
    spelled = [spelling for spelling, sign in _SPELLINGS.items() if sign in symbols]
    ordered = sorted([*symbols, *spelled], key=len, reverse=True)
    found: list[Token] = []
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        token = _token(text, at, ordered, errors)
        at = token.span.end
        if token.kind != "error":
            found.append(token)
        if len(errors) > MAX_ERRORS:
            raise PatternErrors(too_many(errors))
    found.append(Token("end", "", "", Span(text, len(text), len(text))))
    return found


def _token(text: str, at: int, symbols: Sequence[str], errors: list[PatternError]) -> Token:
    def token(kind: str, match: re.Match[str], value: int | float | str) -> Token:
        return Token(kind, match[0], value, Span(text, at, match.end()))

    if match := _TIME.match(text, at):
        return token("time", match, _time(match, errors))
    if match := _DURATION.match(text, at):
        return token("duration", match, duration(match[0], Span(text, at, match.end()), errors))
    if match := _NUMBER.match(text, at):
        return token("number", match, _number(match, errors))
    if match := _STRING.match(text, at):
        quote = match[0][0]
        return token("string", match, match[0][1:-1].replace(quote * 2, quote))
    if "`" in symbols and (match := _QUOTED.match(text, at)):
        return token("name", match, match[0][1:-1].replace("``", "`"))
    if "_" in symbols and _TIMING_SIGN.match(text, at):
        return Token("_", "_", "_", Span(text, at, at + 1))
    if match := _NAME.match(text, at):
        return token("name", match, match[0])
    for symbol in symbols:
        if text.startswith(symbol, at):
            sign = _SPELLINGS.get(symbol, symbol)
            return Token(sign, symbol, sign, Span(text, at, at + len(symbol)))
    return _no_token(text, at, symbols, errors)


def _time(match: re.Match[str], errors: list[PatternError]) -> int:
    value = parse_timestamp(match[0])
    try:
        # An offset can push a time at the very end or start of the calendar out of it.
        format_timestamp(value or 0)
    except OverflowError:
        value = None
    if value is None:
        span = Span(match.string, match.start(), match.end())
        errors.append(
            PatternError("bad-time", f"{match[0]} is not a time", span, "write 2004-01-31T19:00:00")
        )
    return value or 0


def duration(text: str, span: Span, errors: list[PatternError]) -> int:
    """Microseconds of a duration; an invalid or too long one is recorded as an error.

    >>> duration("1.5h", Span("1.5h", 0, 4), [])
    5400000000
    """
    # Thirty digits are enough for any duration, and Python refuses to parse very long numbers.
    value = parse_duration(text) if len(text) <= 30 else None
    if value is None:
        hint = f"write 5min or 1.5h; units: {UNITS}; nothing finer than a microsecond"
        errors.append(PatternError("bad-duration", f"{shortened(text)!r} is not a duration", span, hint))
    elif value > MAX_DURATION:
        errors.append(PatternError("bad-duration", f"{text} is too long", span, "at most some 36,000 years"))
    return value or 0


def _number(match: re.Match[str], errors: list[PatternError]) -> int | float:
    # Python refuses to parse very long whole numbers; nineteen digits are all that fit into 64 bits.
    whole = match[0].isdigit()
    value = int(match[0][:20]) if whole else float(match[0])
    if (whole and value > MAX_INTEGER) or math.isinf(value):
        span = Span(match.string, match.start(), match.end())
        hint = f"whole numbers go up to {MAX_INTEGER}, others to about 1.8e308"
        errors.append(PatternError("bad-number", f"{shortened(match[0])} is too large", span, hint))
        return 0
    return value


def _no_token(text: str, at: int, symbols: Sequence[str], errors: list[PatternError]) -> Token:
    if text[at] in "'\"":
        stop = text.find("\n", at)
        span = Span(text, at, len(text) if stop < 0 else stop)
        errors.append(
            PatternError("open-string", "this string has no end", span, f"close it with {text[at]}")
        )
        return Token("string", text[at : span.end], text[at + 1 : span.end], span)
    if text.startswith("/*", at):
        start = Span(text, at, at + 2)
        errors.append(PatternError("open-comment", "this comment has no end", start, "close it with */"))
        return Token("error", "", "", Span(text, at, len(text)))
    if match := _CURLY.match(text, at):
        span = Span(text, at, match.end())
        errors.append(PatternError("bad-character", "quotes are straight", span, f"write '{match[1]}'"))
        return Token("string", match[0], match[1], span)
    span = Span(text, at, at + 1)
    char = text[at]
    plain = _PLAIN.get(char, "")
    shown = repr(char) if char.isascii() else f"{char!r} (U+{ord(char):04X})"
    hint = f"write {plain}" if plain else None
    errors.append(PatternError("bad-character", f"{shown} cannot stand here", span, hint))
    # Parsing continues as if the plain symbol were there, so that one mistake is not reported as two.
    kind = "name" if is_name(plain) else plain if plain in symbols else "error"
    return Token(kind, plain, plain, span)


def _closed(tokens: Sequence[Token]) -> dict[int, int]:
    """The closing position of each bracket. A closing bracket also ends those inside it that are still open."""
    closed: dict[int, int] = {}
    opened: list[int] = []
    waiting = dict.fromkeys(CLOSING.values(), 0)
    for index, token in enumerate(tokens):
        if token.kind in CLOSING:
            opened.append(index)
            waiting[CLOSING[token.kind]] += 1
        elif waiting.get(token.kind):
            while True:
                opening = opened.pop()
                kind = CLOSING[tokens[opening].kind]
                waiting[kind] -= 1
                if kind == token.kind:
                    break
            closed[opening] = index
    return closed


def shortened(text: str) -> str:
    """A text to show inside a message.

    >>> shortened("9" * 50)
    '999999999999999999999999999999…'
    """
    return text if len(text) <= 40 else text[:30] + "…"


def _printable(text: str) -> str:
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


class Reader:
    """A cursor over the tokens of one text, with the errors found so far.

    >>> reader = Reader("[A]", "[]")
    >>> reader.expect("[", "'['").text, reader.here.text, reader.at("name")
    ('[', 'A', True)
    """

    def __init__(self, text: str, symbols: Sequence[str], longest: int = MAX_LENGTH) -> None:
        if len(text) > longest:
            size = f"the text has {len(text):,} characters; the limit is {longest:,}"
            span = Span(_printable(text), longest, len(text))
            raise PatternErrors([PatternError("too-long", size, span, "split it")])
        if broken := _SURROGATE.search(text):
            # It can be neither printed nor stored, so not even an error could show it.
            span = Span(_printable(text), broken.start(), broken.end())
            message = f"half a character (U+{ord(broken[0]):04X}) cannot be used alone"
            raise PatternErrors([PatternError("bad-character", message, span)])
        self.text = text
        self.errors: list[PatternError] = []
        self.tokens = tokens(text, symbols, self.errors)
        self.index = 0
        self._depth = 0
        self._closed: dict[int, int] | None = None
        self._end: Span | None = None  # where the text ends, if it is a part of another

    def inside(self, string: Token, symbols: Sequence[str]) -> Reader:
        """A reader over the contents of a string of this text; what it reads has its place in this text."""
        reader = Reader(str(string.value), symbols)
        plain = len(string.text) == len(str(string.value)) + 2  # a doubled quote would shift what follows it

        def here(span: Span) -> Span:
            start = string.span.start + 1
            return Span(self.text, start + span.start, start + span.end) if plain else string.span

        reader.tokens = [replace(token, span=here(token.span)) for token in reader.tokens]
        reader.errors[:] = [
            PatternError(e.code, e.message, None if e.span is None else here(e.span), e.hint)
            for e in reader.errors
        ]
        reader._end = here(reader._end_span())
        return reader

    @property
    def here(self) -> Token:
        return self.tokens[self.index]

    @property
    def last(self) -> Token:
        """The token before this one."""
        return self.tokens[max(0, self.index - 1)]

    def ahead(self, distance: int = 1) -> Token:
        return self.tokens[min(self.index + distance, len(self.tokens) - 1)]

    def at(self, *kinds: str) -> bool:
        """Whether the next token is one of these symbols or kinds."""
        return self.here.kind in kinds

    def at_word(self, *words: str) -> bool:
        """Whether the next token is one of these keywords."""
        return self.here.kind == "name" and self.here.text in words

    def advance(self) -> Token:
        token = self.here
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, kind: str) -> Token | None:
        """Take the next token if it is of this kind."""
        return self.advance() if self.here.kind == kind else None

    def accept_word(self, word: str) -> Token | None:
        return self.advance() if self.at_word(word) else None

    def expect(self, kind: str, wanted: str, hint: str | None = None) -> Token:
        """Take the next token, which must be of this kind; `wanted` describes it in words."""
        if self.here.kind != kind:
            self.fail(wanted, hint)
        return self.advance()

    def fail(self, wanted: str, hint: str | None = None) -> NoReturn:
        """Record that something else was expected here, and give up on this place."""
        self.unexpected(wanted, hint)
        raise Failure

    def unexpected(self, wanted: str, hint: str | None = None) -> None:
        """Record that something else was expected here. Only one complaint is recorded for a place."""
        found = "the text ends" if self.here.kind == "end" else f"found {shortened(self.here.text)!r}"
        span = self.here.span if self.here.kind != "end" else self._end or self._end_span()
        if not any(e.code == "syntax" and e.span == span for e in self.errors):
            self.note("syntax", f"expected {wanted}, but {found}", span, hint)

    def note(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Record a mistake; a text with very many of them is not parsed to its end."""
        self.errors.append(PatternError(code, message, span, hint))
        if len(self.errors) > MAX_ERRORS:
            raise PatternErrors(too_many(self.errors))

    def span_from(self, start: Token) -> Span:
        return start.span.through(self.last.span)

    def skip_bracket(self) -> bool:
        """Skip the bracket that opens here; False, without moving, if it is never closed."""
        if self._closed is None:
            self._closed = _closed(self.tokens)
        if self.index not in self._closed:
            return False
        self.index = self._closed[self.index] + 1
        return True

    def leave(self, start: int) -> None:
        """After a mistake, skip past the bracket at index `start`.

        If that is never closed, then that is the mistake, and parsing continues where it is.
        """
        here, opening = self.index, self.tokens[start]
        self.index = start
        if self.skip_bracket():
            return
        self.index = here
        if self.errors and self.errors[-1].code == "syntax":
            self.errors.pop()
        # After an unterminated string there is nothing that could close a bracket.
        if not any(
            e.code == "open-string" and e.span and e.span.start > opening.span.start for e in self.errors
        ):
            message = f"this {opening.kind!r} is never closed"
            self.note("open-bracket", message, opening.span, f"close it with {CLOSING[opening.kind]!r}")

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One more level of nesting; a text that is too deep is not parsed any further."""
        self.nest(1)
        try:
            yield
        finally:
            self.nest(-1)

    def nest(self, change: int) -> None:
        """Count how deep the text is nested, so that no text can exhaust the stack."""
        self._depth += change
        if change > 0 and self._depth > MAX_NESTING:
            self.note("too-deep", f"more than {MAX_NESTING} levels of nesting", self.here.span)
            raise PatternErrors(self.errors)

    def _end_span(self) -> Span:
        """The span of the last character of the text, because there is nothing to underline after it."""
        stop = len(self.text.rstrip())
        return Span(self.text, max(0, stop - 1), max(stop, 1))
