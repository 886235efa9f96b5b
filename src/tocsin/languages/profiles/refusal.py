"""Errors for what a language does not have: they name the operator, and the languages that have it."""

from __future__ import annotations

from functools import cache

from tocsin.languages.lexis import Reader, Token
from tocsin.languages.profiles.classification import OPERATORS
from tocsin.languages.profiles.description import Description, built_in_names, description
from tocsin.languages.profiles.syntax import is_operand, items_of

PHRASE = "composite events not supported"


def refuse_composition(reader: Reader, own: Description) -> bool:
    """Record that an operator stands here that other languages have and this one lacks; False if there is none."""
    here = reader.here
    operator = _lacking(here, own)
    if operator is None and here.kind == "name":
        here = reader.ahead()
        operator = _lacking(here, own)
    if operator is None:
        return False
    having = ", ".join(languages_with(operator))
    if own.composes:
        message = f"{own.title} has no {operator}"
    else:
        message = f"{PHRASE}: {own.title} selects single events and has no {operator}"
    reader.note("no-such-operator", message, here.span, f"these languages have it: {having}")
    return True


def _lacking(token: Token, own: Description) -> str | None:
    """The operator of a token that a language does not have."""
    if token.kind in ("string", "number", "end"):
        return None
    return next((known for known in signs().get(token.text, ()) if known not in own.text.operators), None)


@cache
def signs() -> dict[str, tuple[str, ...]]:
    """The operators that a sign or word stands for in some language."""
    found: dict[str, tuple[str, ...]] = {}
    for name in built_in_names():
        for table in description(name).operators:
            items = items_of(str(table["syntax"]))
            infix = is_operand(items[0]) and is_operand(items[-1])
            own = [p for item in items for p in item.pieces if infix or p not in "()[],"]
            if table["name"] in OPERATORS and own and table["name"] not in found.get(own[0], ()):
                found[own[0]] = (*found.get(own[0], ()), str(table["name"]))
    return found


@cache
def languages_with(operator: str) -> tuple[str, ...]:
    """The names of our languages that have an operator."""
    return tuple(name for name in built_in_names() if operator in description(name).text.operators)
