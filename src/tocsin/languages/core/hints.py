"""Hints for texts that are written as in other languages: what the core language writes instead."""

from __future__ import annotations

from tocsin.languages.core.words import RESERVED
from tocsin.languages.lexis import CLOSING, Reader
from tocsin.values import Relation

_AFTER = "[A];[B] is B after A is over, [A][B] is B after A"
WITHIN_LAST = "`within` comes last: [A][B] within 5min; a part of a pattern stands in parentheses: ([A][B] within 5min)[C]"
# Signs and words between events, in lower case.
_BETWEEN = {
    "->": _AFTER,
    "=>": _AFTER,
    ">": _AFTER,
    "then": _AFTER,
    "followed": _AFTER,
    "followedby": _AFTER,
    "followed_by": _AFTER,
    "before": _AFTER,
    "after": _AFTER,
    "and": "write || for both in any order, ; for one after the other",
    "&": "write || for both in any order, ; for one after the other",
    "&&": "write || for both in any order, ; for one after the other",
    "or": "write | for one of several",
    "not": "write [!A in {A, B}]: an event of the set that is no A; or [B in {A, B}]: a B with no A before it",
    "unless": "write [B in {A, B}]: a B with no A before it",
    "without": "write [B in {A, B}]: a B with no A before it",
    "within": WITHIN_LAST,
    "in": WITHIN_LAST,
    "for": WITHIN_LAST,
    "seq": _AFTER,
    "every": "every match is found anyway; `with matches = …` says which are wanted",
}
_SMALL = ("within", "where", "with", "in")  # words of the language that stand in small letters
_RELATIONS = (*Relation, "==")


def between_hint(reader: Reader) -> str | None:
    """Return a hint for a place where an operator or the end of the pattern is expected."""
    token = reader.here
    if token.kind in CLOSING.values():
        return f"this {token.text!r} closes nothing"
    if token.kind == ":=":
        return "definitions come first: NAME := ( … ) ;"
    if token.kind == ",":
        return "a part with a timer stands in parentheses: ( … , … )_{T1=5min}"
    if token.text != token.text.lower() in _SMALL:
        return f"write {token.text.lower()}"
    if known := _BETWEEN.get(token.text.lower()):
        return known
    if token.kind == "name" and token.text not in RESERVED:
        return f"an event is written in brackets: [{token.text}]"
    return None


def end_hint(reader: Reader) -> str | None:
    """What to write where the brackets of an event should end."""
    word = reader.here.text.lower()
    if word == "within":
        return WITHIN_LAST
    if word in ("where", "if", "when", ".", ":") or {reader.here.kind, reader.ahead().kind} & {*_RELATIONS}:
        return "conditions on an event stand in parentheses: [Temp(temp < 15)]"
    if word in ("or", "|", "||"):
        return "write [A, B] or [A] | [B]"
    if word in ("and", "&", "&&"):
        return "write [A] || [B] for both in any order, [A, B] for one of the two"
    return None


def event_hint(reader: Reader) -> str | None:
    """Return a hint for a place where an event is expected."""
    if known := _BETWEEN.get(reader.here.text.lower()):
        return known
    return f"an event is written in brackets: [{reader.here.text}]" if reader.at("name") else None
