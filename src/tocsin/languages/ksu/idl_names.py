"""The names of IDL: what has been declared so far, and how names and types are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tocsin.algebra.correlation.types import PRIMITIVES, RecordType
from tocsin.algebra.system.model import Component
from tocsin.errors import Span, did_you_mean
from tocsin.languages.attached import Attached
from tocsin.languages.lexis import Reader, Token

SYSTEM_WORDS = ("interface", "component", "home", "struct", "enum")
_WORDS = ("eventtype", "module", "typedef", "attribute", "public", "unsigned", *SYSTEM_WORDS)


@dataclass
class Scope:
    """The declarations so far, under full names."""

    records: dict[str, RecordType] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)  # with the inherited ones
    aliases: dict[str, str] = field(default_factory=dict)
    interfaces: dict[str, Span | None] = field(default_factory=dict)  # structs and enumerations, too
    components: dict[str, Component] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    include: Callable[[str], Attached] | None = None
    included: set[str | None] = field(default_factory=set)

    def full(self, name: str) -> str:
        return "::".join((*self.modules, name))

    def find(self, name: str, known: Mapping[str, object]) -> str | None:
        """The full name that a name refers to here."""
        for depth in range(len(self.modules), -1, -1):
            full = "::".join((*self.modules[:depth], name))
            if full in known:
                return full
        return None


def parent_of(reader: Reader, scope: Scope) -> str | None:
    """The full name of a parent; None, with a mistake recorded, if it is unknown."""
    text, span = qualified(reader, "the parent of the event type")
    found = scope.find(text, scope.records)
    if found is None:
        hint = did_you_mean(text, scope.records, "declare the parent first")
        reader.note("unknown-type", f"event type {text} not declared", span, hint)
    return found


def primitive(reader: Reader, scope: Scope) -> str:
    """A primitive type: one or two words, or a name that a typedef gave to one."""
    start = reader.here
    for words in (("unsigned", "short"), ("unsigned", "long"), ("long", "long")):
        if (reader.here.text, reader.ahead().text) == words:
            reader.advance()
            reader.advance()
            return " ".join(words)
    if reader.here.text in PRIMITIVES:
        return reader.advance().text
    text, span = qualified(reader, "the type of the attribute")
    found = scope.find(text, scope.aliases)
    if found is not None:
        return scope.aliases[found]
    if scope.find(text, scope.records):
        hint = "an attribute holds a value: a number, a string, a boolean"
        reader.note("event-attribute", f"an attribute cannot be an event of type {text}", span, hint)
    else:
        hint = did_you_mean(text, (*PRIMITIVES, *scope.aliases))
        reader.note("unknown-type", f"type {text} not declared", reader.span_from(start), hint)
    return "string"


def qualified(reader: Reader, wanted: str) -> tuple[str, Span]:
    """A name, perhaps inside modules, as it is written."""
    first = plain_name(reader, wanted)
    parts = [first.text]
    while reader.accept("::"):
        parts.append(plain_name(reader, "the rest of the name").text)
    return "::".join(parts), reader.span_from(first)


def plain_name(reader: Reader, wanted: str) -> Token:
    """A name that is no word of IDL."""
    if reader.at_word(*_WORDS, *PRIMITIVES):
        reader.fail(wanted, f"{reader.here.text!r} is a word of IDL")
    return reader.expect("name", wanted)


def declare(reader: Reader, scope: Scope, title: Token) -> None:
    """Note a name that is declared twice."""
    full = scope.full(title.text)
    if any(full in known for known in (scope.records, scope.aliases, scope.interfaces, scope.components)):
        reader.note("duplicate-type", f"duplicate type {full}", title.span, "rename one of them")
