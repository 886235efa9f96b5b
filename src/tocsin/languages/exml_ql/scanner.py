"""A cursor over a text of EXML-QL, with the mistakes found so far.

Text between tags stands for itself, so what a character means depends on where it stands: there are no tokens to cut the
text into beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from tocsin.algebra.tokens.bounds import MAX_ERRORS, MAX_LENGTH, MAX_NESTING
from tocsin.algebra.tokens.check import too_many
from tocsin.errors import PatternError, PatternErrors, Span
from tocsin.languages.exml_ql.words import BLANK, CONDITION_ENDS, NAME, RESERVED, SPACE, STRING, VARIABLE
from tocsin.languages.lexis import Failure, duration, shortened

_SHOWN = re.compile(r"\$?\w+|[^\w\s]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Scanner:
    """Where reading has come to in a text; `comments` says whether there are any.

    >>> scanner = Scanner("WHERE  <a>")
    >>> scanner.word("WHERE"), scanner.sign("<"), scanner.at
    (True, True, 8)
    """

    def __init__(self, text: str, *, comments: bool = True) -> None:
        if len(text) > MAX_LENGTH:
            size = f"the text has {len(text):,} characters; the limit is {MAX_LENGTH:,}"
            raise PatternErrors([PatternError("too-long", size, Span(text, MAX_LENGTH, MAX_LENGTH + 1))])
        if broken := _SURROGATE.search(text):
            span = Span(_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text), broken.start(), broken.end())
            message = f"half a character (U+{ord(broken[0]):04X}) means nothing"
            raise PatternErrors([PatternError("bad-character", message, span)])
        self.text = text
        self.at = 0
        self.errors: list[PatternError] = []
        self.cuts: list[
            tuple[int, int]
        ] = []  # what only this language has, and the language below it has not
        self._depth = 0
        self._between = SPACE if comments else BLANK
        self.skip()

    # --- moving -------------------------------------------------------------------------------------

    def skip(self) -> None:
        """Go past blanks and comments."""
        if found := self._between.match(self.text, self.at):
            self.at = found.end()

    def skip_blanks(self) -> None:
        """Go past blanks; in content there are no comments."""
        found = BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """Go past what an expression matches here, and the blanks after it."""
        found = expression.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            self.skip()
        return found

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs is next."""
        return self.text.startswith(signs, self.at)

    def sign(self, sign: str) -> bool:
        """Go past a sign, if it is next."""
        if not self.sees(sign):
            return False
        self.at += len(sign)
        self.skip()
        return True

    def ahead(self) -> str:
        """The word that is next, or nothing."""
        found = NAME.match(self.text, self.at)
        return found[0] if found else ""

    def word(self, *words: str) -> bool:
        """Go past one of these words, if it is next."""
        if self.ahead() not in words:
            return False
        self.take(NAME)
        return True

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    # --- what is read everywhere --------------------------------------------------------------------

    def variable(self, what: str = "a variable") -> tuple[str, Span]:
        """A variable and its place."""
        start = self.at
        found = self.take(VARIABLE)
        if found is None:
            self.fail(what, "a variable begins with $, as in $x")
        return found[1], Span(self.text, start, found.end())

    def name(self, what: str) -> str:
        """A name that is no word of the language."""
        if self.ahead() in RESERVED:
            self.fail(what, f"{self.ahead()!r} is a word of the language")
        found = self.take(NAME)
        if found is None:
            self.fail(what)
        return found[0]

    def string(self, what: str) -> str:
        """A text in double quotes."""
        found = self.take(STRING)
        if found is None:
            if self.sees('"'):
                span = Span(self.text, self.at, self.at + 1)
                self.note("open-string", "this string has no end", span, 'close it with "')
                self.at = len(self.text)
                raise Failure
            self.fail(what, f'write it in double quotes, as in "{what.split()[-1]}"')
        return found[1].replace('""', '"')

    def duration(self, found: re.Match[str]) -> int:
        """The microseconds of a duration."""
        return duration(found[0], Span(self.text, found.start(), found.end()), self.errors)

    # --- mistakes -----------------------------------------------------------------------------------

    def span(self, start: int) -> Span:
        """From a place up to here, without the blanks before here."""
        end = start + len(self.text[start : self.at].rstrip())
        return Span(self.text, start, max(start + 1, end))

    def fail(self, wanted: str, hint: str | None = None) -> NoReturn:
        """Record that something else was expected here, and give up on this place."""
        found = _SHOWN.search(self.text, self.at)
        if found is None:
            if any(error.code == "open-string" for error in self.errors):
                raise Failure  # the string has swallowed what is missed
            stop = len(self.text.rstrip())
            span = Span(self.text, max(0, stop - 1), max(stop, 1))
            self.note("syntax", f"expected {wanted}, but the text ends", span, hint)
        else:
            span = Span(self.text, found.start(), found.end())
            self.note("syntax", f"expected {wanted}, but found {shortened(found[0])!r}", span, hint)
        raise Failure

    def expect(self, sign: str, wanted: str, hint: str | None = None) -> None:
        """Go past a sign, which must be next."""
        if not self.sign(sign):
            self.fail(wanted, hint)

    def note(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Record a mistake; a text with very many of them is not read to its end."""
        if not any(error.code == code and error.span == span for error in self.errors):
            self.errors.append(PatternError(code, message, span, hint))
        if len(self.errors) > MAX_ERRORS:
            raise PatternErrors(too_many(self.errors))

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One more level of nesting; a text that is too deep is not read any further."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            span = Span(self.text, min(self.at, len(self.text) - 1), self.at + 1)
            self.note("too-deep", f"more than {MAX_NESTING} levels of nesting", span)
            raise PatternErrors(self.errors)
        try:
            yield
        finally:
            self._depth -= 1

    def recover(self) -> None:
        """After a mistake in a condition, go to where the next one may begin."""
        while not self.ended:
            if self.sign(",") or self.ahead() in CONDITION_ENDS:
                return
            for expression in (STRING, NAME):
                if found := expression.match(self.text, self.at):
                    self.at = found.end()
                    break
            else:
                self.at += 1
            self.skip()
