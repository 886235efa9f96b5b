"""Parses event types from IDL files: modules, event types with attributes and one parent, typedefs.

Names are looked up from the innermost module outwards, as in CORBA, and have to be declared before they are
used.

Paper: 001, section 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tocsin.algebra.correlation.types import PRIMITIVES, RecordType, Types
from tocsin.errors import PatternErrors, Span, did_you_mean
from tocsin.languages.ksu.words import SYMBOLS, skip_to
from tocsin.languages.lexis import Failure, Reader, Token

MAX_IDL = 200_000  # characters: event types are declared once for many patterns
_WORDS = ("eventtype", "module", "typedef", "attribute", "public", "unsigned")
_DECLARATIONS = ("eventtype", "module", "typedef")


@dataclass
class _Scope:
    """The declarations so far, under full names."""

    records: dict[str, RecordType] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)  # with the inherited ones
    aliases: dict[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()

    def full(self, name: str) -> str:
        return "::".join((*self.modules, name))

    def find(self, name: str, known: Mapping[str, object]) -> str | None:
        """The full name that a name refers to here."""
        for depth in range(len(self.modules), -1, -1):
            full = "::".join((*self.modules[:depth], name))
            if full in known:
                return full
        return None


def parse_idl(text: str) -> Types:
    """The event types an IDL text declares; raises `PatternErrors` with all mistakes.

    >>> types = parse_idl("module M { eventtype A { public short x; }; eventtype B : A { }; };")
    >>> types.names, types.attributes("M::B")
    (('M::A', 'M::B'), {'x': 'short'})
    """
    reader = Reader(text, SYMBOLS, MAX_IDL)
    scope = _Scope()
    _declarations(reader, scope)
    if reader.errors:
        raise PatternErrors(reader.errors)
    return Types(tuple(scope.records.values()))


def _declarations(reader: Reader, scope: _Scope) -> None:
    """Parse declarations up to the end of the text or of the module."""
    while not reader.at("end") and not (reader.at("}") and scope.modules):
        try:
            if reader.accept_word("eventtype"):
                _eventtype(reader, scope)
            elif reader.accept_word("module"):
                _module(reader, scope)
            elif reader.accept_word("typedef"):
                _typedef(reader, scope)
            else:
                reader.fail("eventtype, module or typedef")
        except Failure:
            if not reader.at_word(*_DECLARATIONS):
                reader.advance()
            skip_to(reader, *_DECLARATIONS, "}")


def _module(reader: Reader, scope: _Scope) -> None:
    title = _name(reader, "the name of the module")
    opening = reader.expect("{", "'{'")
    outside, scope.modules = scope.modules, (*scope.modules, title.text)
    with reader.nested():
        _declarations(reader, scope)
    scope.modules = outside
    if not reader.accept("}"):
        reader.note(
            "open-bracket", f"the module {title.text} is never closed", opening.span, "close it with '};'"
        )
        raise Failure
    reader.expect(";", "';' after the module")


def _typedef(reader: Reader, scope: _Scope) -> None:
    kind = _primitive(reader, scope)
    title = _name(reader, "the new name")
    _declare(reader, scope, title)
    scope.aliases[scope.full(title.text)] = kind
    reader.expect(";", "';' after the typedef")


def _eventtype(reader: Reader, scope: _Scope) -> None:
    title = _name(reader, "the name of the event type")
    parent = _parent(reader, scope) if reader.accept(":") else None
    reader.expect("{", "'{' and the attributes")
    inherited = scope.attributes[parent] if parent else {}
    attributes: dict[str, str] = {}
    while not reader.at("}", "end"):
        try:
            _attributes(reader, scope, attributes, inherited)
        except Failure:
            skip_to(reader, ";", "}")
            reader.accept(";")
    _declare(reader, scope, title)
    full = scope.full(title.text)
    scope.records[full] = RecordType(full, attributes, parent, title.span)
    scope.attributes[full] = {**inherited, **attributes}
    reader.expect("}", "'}', attribute or public")
    reader.expect(";", "';' after the event type")


def _attributes(reader: Reader, scope: _Scope, own: dict[str, str], inherited: Mapping[str, str]) -> None:
    if not (reader.accept_word("attribute") or reader.accept_word("public")):
        reader.fail("attribute, public or '}'")
    kind = _primitive(reader, scope)
    while True:
        attribute = _name(reader, "the name of the attribute")
        if attribute.text in own or attribute.text in inherited:
            where = "inherited" if attribute.text in inherited else "declared above"
            message = f"duplicate attribute {attribute.text}"
            reader.note("duplicate-attribute", message, attribute.span, f"it is {where}")
        own[attribute.text] = kind
        if not reader.accept(","):
            break
    reader.expect(";", "';' or ','")


def _parent(reader: Reader, scope: _Scope) -> str | None:
    """The full name of a parent; None, with a mistake recorded, if it is unknown."""
    text, span = _qualified(reader, "the parent of the event type")
    found = scope.find(text, scope.records)
    if found is None:
        hint = did_you_mean(text, scope.records, "declare the parent first")
        reader.note("unknown-type", f"event type {text} not declared", span, hint)
    return found


def _primitive(reader: Reader, scope: _Scope) -> str:
    """A primitive type: one or two words, or a name that a typedef gave to one."""
    start = reader.here
    for words in (("unsigned", "short"), ("unsigned", "long"), ("long", "long")):
        if (reader.here.text, reader.ahead().text) == words:
            reader.advance()
            reader.advance()
            return " ".join(words)
    if reader.here.text in PRIMITIVES:
        return reader.advance().text
    text, span = _qualified(reader, "the type of the attribute")
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


def _qualified(reader: Reader, wanted: str) -> tuple[str, Span]:
    first = _name(reader, wanted)
    parts = [first.text]
    while reader.accept("::"):
        parts.append(_name(reader, "the rest of the name").text)
    return "::".join(parts), reader.span_from(first)


def _name(reader: Reader, wanted: str) -> Token:
    if reader.at_word(*_WORDS, *PRIMITIVES):
        reader.fail(wanted, f"{reader.here.text!r} is a word of IDL")
    return reader.expect("name", wanted)


def _declare(reader: Reader, scope: _Scope, title: Token) -> None:
    full = scope.full(title.text)
    if full in scope.records or full in scope.aliases:
        reader.note("duplicate-type", f"duplicate type {full}", title.span, "rename one of them")
