"""The keywords that correlation files, IDL files and assembly files share."""

from __future__ import annotations

from tocsin.errors import Span
from tocsin.languages.lexis import Reader, Token

SYMBOLS = ("||", "::", "->", *"(){},;:+|&!=.-#")
RESERVED = ("correlation", "case", "push", "new", "abort", "revive", "toggle", "true", "false")
_OPENING = ("(", "{")
_CLOSING = (")", "}")


def name(reader: Reader, wanted: str) -> Token:
    """Take a name that is not a keyword of the language."""
    if reader.at_word(*RESERVED):
        reader.fail(wanted, f"{reader.here.text!r} is a word of the language")
    return reader.expect("name", wanted)


def type_name(reader: Reader, wanted: str = "an event type") -> tuple[str, Span]:
    """The name of a type, perhaps inside modules: `Avionics::Notify`."""
    first = name(reader, wanted)
    parts = [first.text]
    while reader.accept("::"):
        parts.append(name(reader, "the rest of the type's name").text)
    return "::".join(parts), reader.span_from(first)


def skip_to(reader: Reader, *stops: str) -> None:
    """After a mistake, skip to the next of these words that is not inside brackets opened on the way."""
    depth = 0
    while not reader.at("end"):
        if depth == 0 and reader.here.text in stops:
            return
        if reader.here.kind in _OPENING:
            depth += 1
        elif reader.here.kind in _CLOSING:
            depth = max(0, depth - 1)
        reader.advance()
