"""The symbols and keywords of the core language."""

from __future__ import annotations

from dataclasses import replace

from tocsin.languages.lexis import Reader, Token, is_name

# The first five are signs of other languages, which get a hint.
SYMBOLS = ("==", "->", "=>", "&&", "&", ":=", "||", "<=", ">=", "!=", *"[](){},;|*+?!=<>.$@_-`")
RESERVED = ("in", "where", "with", "AND", "OR", "NOT", "true", "false")


def symbols() -> tuple[str, ...]:
    """The signs of the language."""
    return SYMBOLS


def name(reader: Reader, wanted: str) -> Token:
    """Take a name that is not a keyword of the language.

    >>> name(Reader("Door", SYMBOLS), "an event").text
    'Door'
    """
    if reader.at_word(*RESERVED):
        reader.fail(wanted, f"{reader.here.text!r} is a word of the language")
    if reader.at("name") and reader.here.text.startswith("`"):
        reader.fail(wanted, "a name in backticks is that of an attribute")
    hint = "a name starts with a letter or _" if reader.at("number", "duration") else None
    return reader.expect("name", wanted, hint)


def type_name(reader: Reader, wanted: str) -> Token:
    """Take the name of an event type: a name, or any text in quotes, or a whole number.

    >>> [type_name(Reader(text, SYMBOLS), "an event").value for text in ("Door", "'pay-ok'", "4624")]
    ['Door', 'pay-ok', '4624']
    """
    if reader.at("string") and reader.here.value:
        return reader.advance()
    if reader.at("number") and reader.here.text.isdigit():
        token = reader.advance()
        return replace(token, value=token.text)
    return name(reader, wanted)


def attribute_name(reader: Reader, wanted: str) -> str:
    """Take the name of an attribute, in backticks if it has other signs than letters, digits and _.

    >>> attribute_name(Reader("`unit price`", SYMBOLS), "an attribute")
    'unit price'
    """
    quoted = reader.at("name") and reader.here.text.startswith("`")
    return str(reader.advance().value) if quoted else name(reader, wanted).text


def shown_type(name: str) -> str:
    """The name of an event type as `type_name` takes it.

    >>> shown_type("Door"), shown_type("4624"), shown_type("it's")
    ('Door', '4624', "'it''s'")
    """
    if (is_name(name) and name not in RESERVED) or (name.isascii() and name.isdigit()):
        return name
    return "'" + name.replace("'", "''") + "'"


def shown_attribute(name: str) -> str:
    """The name of an attribute, or the path to a field, as the language takes it.

    >>> shown_attribute("user.id"), shown_attribute("unit price")
    ('user.id', '`unit price`')
    """
    parts = name.split(".") if all(name.split(".")) else [name]
    return ".".join(
        part if is_name(part) and part not in RESERVED else "`" + part.replace("`", "``") + "`"
        for part in parts
    )
