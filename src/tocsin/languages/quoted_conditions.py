"""Conditions on events as texts inside other texts, written as in the plain language of the token family."""

from __future__ import annotations

from tocsin.algebra.predicate import Filter
from tocsin.errors import PatternErrors
from tocsin.languages.lexis import Failure, Reader, Token
from tocsin.languages.registry import plain_language


def read_filter(text: str) -> Filter:
    """The condition that a text spells; raises `PatternErrors` with all mistakes.

    >>> from tocsin.algebra.predicate import attributes
    >>> sorted(attributes(read_filter("temp < 15 AND room IN ('FE02', 'FE03')")))
    ['room', 'temp']
    """
    language = plain_language("tokens")
    reader = Reader(text, language.part("symbols")())
    found = _condition(reader)
    if found is None:
        raise PatternErrors(reader.errors)
    return found


def quoted_filter(outer: Reader, token: Token) -> Filter | None:
    """The condition inside a string of another text; mistakes are recorded where they stand in that text."""
    inner = outer.inside(token, plain_language("tokens").part("symbols")())
    found = _condition(inner)
    for error in inner.errors:
        outer.note(error.code, error.message, error.span, error.hint)
    return found


def show_filter(filter: Filter) -> str:
    """The text of a condition."""
    text: str = plain_language("tokens").part("show-filter")(filter)
    return text


def _condition(reader: Reader) -> Filter | None:
    found: Filter | None = None
    try:
        found = plain_language("tokens").part("filter")(reader)
        if not reader.at("end"):
            reader.unexpected("AND, OR or the end of the condition")
    except Failure:
        pass
    return None if reader.errors else found
