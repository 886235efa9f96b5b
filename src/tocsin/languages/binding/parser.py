"""Parses the text form of the binding: `eventA.after(eventB.repeated(3))`. The grammar is in the README.

The text looks like code but is never run as such: words are looked up in the table below, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tocsin.algebra.tokens.bounds import MAX_LENGTH
from tocsin.algebra.tokens.check import UNREADABLE, check
from tocsin.algebra.tokens.pattern import Atom, EventSpec, Order, Pattern, Sequence, atoms
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Interpretation, Subscription
from tocsin.errors import PatternError, PatternErrors, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.binding.built_condition import Condition
from tocsin.languages.binding.built_pattern import Expression, merged
from tocsin.languages.binding.names import event_name
from tocsin.languages.binding.text_condition import conditions
from tocsin.languages.lexis import Failure, Reader, Token, duration
from tocsin.languages.phrases import READING

SYMBOLS = ("==", "!=", "<=", ">=", *"()[]{}.,|&~<>=-")
MAX_CALLS = 500
T = TypeVar("T")
Argument = Expression | Condition | int | str
# The paper's names for methods that are named differently in Python.
SPELLINGS = {
    "followedBy": "followed_by",
    "notFollowedBy": "not_followed_by",
    "anyNumber": "any_number",
    "atLeast": "at_least",
    "or": "or_",
    "and": "and_",
}


@dataclass
class _Text:
    """The text being parsed, the meaning of its names, and how many more calls it may have."""

    reader: Reader
    names: Mapping[str, str]
    catalog: Catalog | None
    calls: int = MAX_CALLS


def parse(
    text: str,
    catalog: Catalog | None = None,
    *,
    names: Mapping[str, str] | None = None,
    interpretation: Interpretation | None = None,
    selection: Selection | None = None,
    name: str = "pattern",
) -> Subscription:
    """Parse a chain of calls to a subscription; raises `PatternErrors` with all mistakes.

    >>> len(parse("eventA.after(eventB.repeated(3))").pattern.parts)
    2

    Args:
        names: the meaning of bare names; `eventA` that is not in this table is the type `A`.
        selection: which matches are wanted; a chain of calls cannot express it.
    """
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    expression = _expression(_Text(reader, names or {}, catalog))
    if not reader.at("end"):
        hint = f"this {reader.here.text!r} closes nothing" if reader.at(")", "]", "}") else None
        reader.unexpected("'.', '|', '&' or the end of the text", hint)
    subscription = replace(
        expression.unchecked(),
        name=name,
        interpretation=interpretation or READING,
        selection=selection or Selection(),
    )
    errors = reader.errors + list({(e.code, e.span): e for e in check(subscription, catalog)}.values())
    if errors:
        raise PatternErrors(errors)
    return subscription


def _expression(text: _Text) -> Expression:
    return _joined(
        text, lambda: _joined(text, lambda: _chain(text), "&", Expression.and_), "|", Expression.or_
    )


def _joined(
    text: _Text, part: Callable[[], Expression], symbol: str, call: Callable[..., Expression]
) -> Expression:
    start = text.reader.here
    expression = part()
    while text.reader.accept(symbol):
        expression = _called(text, start, call, expression, part())
    return expression


def _chain(text: _Text) -> Expression:
    reader, start = text.reader, text.reader.here
    with reader.nested():
        expression = _primary(text)
        while reader.accept("."):
            if not reader.at("name"):
                reader.unexpected("the name of a method, as in .followedBy( … )")
                break
            expression = _method(text, start, expression)
    return expression


def _primary(text: _Text) -> Expression:
    reader, start = text.reader, text.reader.here
    if reader.at("("):
        inner = _in_brackets(text, lambda: _expression(text))
        return Expression(UNREADABLE) if inner is None else inner
    if reader.at_word("event") and reader.ahead().kind == "(":
        reader.advance()
        name = _in_brackets(text, lambda: _string(text, "the name of an event type in quotes"))
        return Expression(UNREADABLE) if name is None else _event(text, start, name)
    if word := reader.accept("name"):
        return _event(text, start, event_name(word.text, text.names, text.catalog))
    if quoted := reader.accept("string"):
        return _event(text, start, str(quoted.value))
    reader.unexpected("an event, as in eventA")
    if reader.at("number", "duration", "time"):
        reader.advance()
    return Expression(UNREADABLE)


def _event(text: _Text, start: Token, name: str) -> Expression:
    span = text.reader.span_from(start)
    if not name:
        text.reader.note("bad-name", "a type has a name", span, 'write event("A")')
        return Expression(UNREADABLE)
    return Expression(Atom((EventSpec(name, span=span),), span=span))


def _in_brackets(text: _Text, read: Callable[[], T]) -> T | None:
    """Parse the contents of the bracket that opens here; after a mistake in it, parsing resumes after the bracket."""
    reader, index = text.reader, text.reader.index
    reader.advance()
    found = None
    try:
        found = read()
        if reader.accept(")"):
            return found
        reader.unexpected("')', '.', '|' or '&'")
    except Failure:
        pass
    reader.leave(index)
    return found


def _method(text: _Text, start: Token, receiver: Expression) -> Expression:
    reader, word = text.reader, text.reader.advance()
    method = SPELLINGS.get(word.text, word.text)
    if method not in METHODS:
        hint = did_you_mean(word.text, {*METHODS, *SPELLINGS})
        reader.note("unknown-method", f"there is no method {word.text!r}", word.span, hint)
        if reader.at("("):
            reader.skip_bracket()
        return _unread(receiver)
    if not reader.at("("):
        reader.unexpected(f"'(' after {word.text}")
        return _unread(receiver)
    read, call = METHODS[method]
    arguments = _in_brackets(text, lambda: read(text))
    return _unread(receiver) if arguments is None else _called(text, start, call, receiver, *arguments)


def _called(
    text: _Text, start: Token, call: Callable[..., Expression], receiver: Expression, *arguments: Argument
) -> Expression:
    """The result of a call; a mistake is recorded."""
    span = text.reader.span_from(start)
    text.calls -= 1
    if text.calls < 0:
        text.reader.note("too-large", f"the text has more than {MAX_CALLS} calls", span)
        raise PatternErrors(text.reader.errors)
    parts = [receiver, *(argument for argument in arguments if isinstance(argument, Expression))]
    # Parts that could not be parsed are not reported again.
    if not all(atom.accept for part in parts for atom in atoms(part.built)):
        return _unread(*parts)
    try:
        result = call(receiver, *arguments)
    except PatternError as error:
        text.reader.note(error.code, error.message, error.span or span, error.hint)
        return _unread(*parts)
    definitions = tuple(d if d.span else replace(d, span=span) for d in result.definitions)
    return Expression(replace(result.built, span=span), definitions)


def _unread(*parts: Expression) -> Expression:
    """A placeholder for something wrong whose parts could be parsed, so that the parts are still checked."""
    read: list[Pattern] = []
    for built in (part.built for part in parts):
        unread = isinstance(built, Sequence) and built.parts[-1] == UNREADABLE
        read += built.parts[:-1] if isinstance(built, Sequence) and unread else [built]
    try:
        definitions = merged(*(part.definitions for part in parts))
        return Expression(Sequence((*read, UNREADABLE), Order.WEAK), definitions)
    except PatternError:
        return Expression(UNREADABLE)


# The arguments of the methods


def _one_expression(text: _Text) -> list[Argument]:
    return [_expression(text)]


def _nothing(text: _Text) -> list[Argument]:
    return []


def _count(text: _Text) -> list[Argument]:
    number = text.reader.expect("number", "how many times")
    if not isinstance(number.value, int):
        hint = "write .repeated(3)"
        text.reader.note("bad-count", f"{number.text} times cannot be counted", number.span, hint)
        raise Failure
    return [number.value]


def _counts(text: _Text) -> list[Argument]:
    return [*_count(text), *(_count(text) if text.reader.accept(",") else [])]


def _string(text: _Text, wanted: str) -> str:
    return str(text.reader.expect("string", wanted).value)


def _name(text: _Text) -> list[Argument]:
    return [_string(text, "a name in quotes")]


def _limit(text: _Text) -> list[Argument]:
    reader = text.reader
    hint = f'durations stand in quotes: "{reader.here.text}"' if reader.at("duration") else None
    limit = reader.expect("string", "a duration in quotes", hint)
    noted = len(reader.errors)
    duration(str(limit.value), limit.span, reader.errors)
    if len(reader.errors) > noted:
        raise Failure
    return [str(limit.value)]


def _expression_and_limit(text: _Text) -> list[Argument]:
    expression = _expression(text)
    text.reader.expect(",", "',' and a duration", 'write .notFollowedBy( … , "5min")')
    if text.reader.at_word("within") and text.reader.ahead().kind == "=":
        text.reader.advance()
        text.reader.advance()
    return [expression, *_limit(text)]


def _conditions(text: _Text) -> list[Argument]:
    return [Condition(filter) for filter in conditions(text.reader)]


# Nothing that is not in this table can be called.
METHODS: dict[str, tuple[Callable[[_Text], list[Argument]], Callable[..., Expression]]] = {
    "followed_by": (_one_expression, Expression.followed_by),
    "then": (_one_expression, Expression.then),
    "after": (_one_expression, Expression.after),
    "or_": (_one_expression, Expression.or_),
    "and_": (_one_expression, Expression.and_),
    "unless": (_one_expression, Expression.unless),
    "repeated": (_counts, Expression.repeated),
    "at_least": (_count, Expression.at_least),
    "optional": (_nothing, Expression.optional),
    "any_number": (_nothing, Expression.any_number),
    "within": (_limit, Expression.within),
    "not_followed_by": (_expression_and_limit, Expression.not_followed_by),
    "where": (_conditions, Expression.where),
    "named": (_name, Expression.named),
}
