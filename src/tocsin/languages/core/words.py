"""The symbols and keywords of the core language."""

from __future__ import annotations

from tocsin.languages.lexis import Reader, Token

SYMBOLS = (":=", "||", "<=", ">=", "!=", *"[](){},;|*!=<>.$@_-")
RESERVED = ("in", "where", "with", "AND", "OR", "NOT", "true", "false")


def name(reader: Reader, wanted: str) -> Token:
    """Take a name that is not a keyword of the language.

    >>> name(Reader("Door", SYMBOLS), "an event").text
    'Door'
    """
    if reader.at_word(*RESERVED):
        reader.fail(wanted, f"{reader.here.text!r} is a word of the language")
    hint = "a name starts with a letter or _" if reader.at("number", "duration") else None
    return reader.expect("name", wanted, hint)
