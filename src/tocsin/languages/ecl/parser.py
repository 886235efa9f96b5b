"""Parses ECL texts: definitions, then an expression or named subscriptions."""

from __future__ import annotations

from tocsin.algebra.completion.expression import (
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_SIZE,
    Definition,
    Expression,
    Interpretation,
    Program,
    Subscription,
    measure,
)
from tocsin.errors import PatternErrors
from tocsin.languages.ecl.expression import BROKEN, Scope, braced, expression, skip
from tocsin.languages.ecl.words import RESERVED, SYMBOLS
from tocsin.languages.lexis import Failure, Reader, Token


def parse(text: str, *, interpretation: Interpretation | None = None) -> Program:
    """Parse a text to a program; raises `PatternErrors` with all mistakes.

    >>> program = parse("define both = accumulate {a, b}; subscribe S {push(x) {both}}")
    >>> [subscription.name for subscription in program.subscriptions]
    ['S']
    """
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    program = _program(reader, interpretation or Interpretation())
    if reader.errors:
        raise PatternErrors(reader.errors)
    return program


def _program(reader: Reader, interpretation: Interpretation) -> Program:
    text = _Text(reader)
    while reader.at_word("define"):
        text.definition()
    named = reader.at_word("subscribe")
    try:
        while reader.at_word("subscribe"):
            text.subscription()
        # A definition that was never closed has swallowed the rest of the text.
        if not named and not (reader.errors and reader.at("end")):
            start = reader.here
            found = text.sized(expression(reader, text.scope), start)
            text.subscriptions.append(Subscription(None, found, found.span))
        if not reader.at("end"):
            reader.fail("the end of the text", _stray_hint(reader.here, named))
    except Failure:
        pass
    return Program(tuple(text.subscriptions), tuple(text.definitions), interpretation)


def _stray_hint(token: Token, named: bool) -> str | None:
    if token.kind in ("}", ")"):
        return f"this {token.text!r} closes nothing"
    if token.kind in ("&", "|"):
        return f"write {token.kind * 2}"
    if token.text == "define":
        return "definitions come first"
    if named:
        return "after the first subscription every expression stands in subscribe NAME {…}"
    if token.kind in (",", "name", "<"):
        return "several expressions stand in an operator, as in accumulate {a, b}, or in subscriptions"
    return None


class _Text:
    """A text parsed so far."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        words = zip(reader.tokens, reader.tokens[1:], strict=False)
        self.defined: dict[str, Expression] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        self.scope = Scope(
            self.defined, frozenset(name.text for word, name in words if word.text == "define")
        )
        self.definitions: list[Definition] = []
        self.subscriptions: list[Subscription] = []

    def sized(self, found: Expression, start: Token) -> Expression:
        """The expression, unless its definitions make it too large to handle."""
        depth, size = measure(found, self.sizes)
        if depth <= MAX_DEPTH and size <= MAX_SIZE:
            return found
        much = f"{MAX_DEPTH} levels of nesting" if depth > MAX_DEPTH else f"{MAX_SIZE:,} parts"
        message = f"with its definitions written out this has more than {much}"
        self.reader.note("too-large", message, self.reader.span_from(start))
        return BROKEN

    def definition(self) -> None:
        """`define NAME = expression ;`"""
        reader, start = self.reader, self.reader.advance()
        name = None
        found: Expression = BROKEN
        try:
            name = self._name("the name of the definition")
            reader.expect("=", "'='", f"write define {name.text} = … ;")
            found = self.sized(expression(reader, self.scope), start)
            reader.expect(";", "';' after the definition", f"write define {name.text} = … ;")
        except Failure:
            skip(reader, (";",))
            reader.accept(";")
        if name is None:
            return
        if name.text in self.defined:
            reader.note("duplicate-name", f"{name.text!r} is defined twice", name.span)
        self.defined[name.text] = found
        self.sizes[name.text] = measure(found, self.sizes)
        self.definitions.append(Definition(name.text, found, name.span))

    def subscription(self) -> None:
        """`subscribe NAME { expression }`"""
        reader, start = self.reader, self.reader.advance()
        try:
            name = self._name("the name of the subscription")
            found = self.sized(braced(reader, self.scope, many=False)[0], start)
        except Failure:
            while not reader.at("end") and not reader.at_word("subscribe"):
                reader.advance()
            return
        if any(name.text == known.name for known in self.subscriptions):
            reader.note("duplicate-name", f"there are two subscriptions {name.text!r}", name.span)
        self.subscriptions.append(Subscription(name.text, found, reader.span_from(start)))

    def _name(self, wanted: str) -> Token:
        if self.reader.at("name") and self.reader.here.text in RESERVED:
            self.reader.fail(wanted, f"{self.reader.here.text!r} is a word of the language")
        return self.reader.expect("name", wanted)
