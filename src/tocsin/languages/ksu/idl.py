"""Parses IDL files: modules, event types with attributes and one parent, typedefs, and what components are made of.

Names are looked up from the innermost module outwards, as in CORBA, and have to be declared before they are
used.

Paper: 001, sections 4.3 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tocsin.algebra.correlation.types import RecordType, Types
from tocsin.algebra.system.model import Component
from tocsin.errors import PatternErrors
from tocsin.languages.attached import Attached, located
from tocsin.languages.ksu.component_idl import declaration
from tocsin.languages.ksu.idl_names import (
    SYSTEM_WORDS,
    Scope,
    declare,
    parent_of,
    plain_name,
    primitive,
)
from tocsin.languages.ksu.words import SYMBOLS, skip_to
from tocsin.languages.lexis import Failure, Reader, Token

MAX_FILES = 100
MAX_IDL = 200_000  # characters: event types are declared once for many patterns
_DECLARATIONS = ("eventtype", "module", "typedef", "#", *SYSTEM_WORDS)


@dataclass(frozen=True, slots=True)
class Declared:
    """Everything that IDL texts declare."""

    types: Types
    components: Mapping[str, Component]


def parse_idl(text: str) -> Types:
    """The event types an IDL text declares; raises `PatternErrors` with all mistakes.

    >>> types = parse_idl("module M { eventtype A { public short x; }; eventtype B : A { }; };")
    >>> types.names, types.attributes("M::B")
    (('M::A', 'M::B'), {'x': 'short'})
    """
    return parse_declarations(text).types


def parse_declarations(text: str, include: Callable[[str], Attached] | None = None) -> Declared:
    """Everything an IDL text declares, with what it includes; raises `PatternErrors` with all mistakes.

    Args:
        include: the text of a file that is included.
    """
    scope = Scope(include=include)
    _read(text, scope)
    return Declared(Types(tuple(scope.records.values())), scope.components)


def _read(text: str, scope: Scope) -> None:
    reader = Reader(text, SYMBOLS, MAX_IDL)
    _declarations(reader, scope)
    if reader.errors:
        raise PatternErrors(reader.errors)


def _include(reader: Reader, scope: Scope) -> None:
    """Read what another file declares, unless that has been read already."""
    named = included(reader)
    if scope.include is None:
        hint = "give the files one by one, or check the system that names them"
        reader.note("no-include", f"{named.text} cannot be included in a text", named.span, hint)
        return
    found = scope.include(str(named.value))
    if len(scope.included) >= MAX_FILES:
        reader.note("too-many-files", f"more than {MAX_FILES} files are included", named.span)
    elif found.file not in scope.included:
        scope.included.add(found.file)
        with located(found.file):
            _read(found.text, scope)


def included(reader: Reader) -> Token:
    """`#include "file"`, with the name of the file."""
    reader.advance()
    if not reader.accept_word("include"):
        reader.fail("'include'", 'write #include "file.idl"')
    return reader.expect("string", "the name of a file in quotes")


def _declarations(reader: Reader, scope: Scope) -> None:
    """Parse declarations up to the end of the text or of the module."""
    while not reader.at("end") and not (reader.at("}") and scope.modules):
        start = reader.here
        try:
            if reader.accept_word("eventtype"):
                _eventtype(reader, scope)
            elif reader.accept_word("module"):
                _module(reader, scope)
            elif reader.accept_word("typedef"):
                _typedef(reader, scope)
            elif reader.at("#") and not scope.modules:
                _include(reader, scope)
            elif reader.at_word(*SYSTEM_WORDS):
                declaration(reader, scope)
            else:
                reader.fail("eventtype, module, typedef, interface, component, home, struct or enum")
        except Failure:
            if reader.here is start or reader.here.text not in _DECLARATIONS:
                reader.advance()
            skip_to(reader, *_DECLARATIONS, "}")


def _module(reader: Reader, scope: Scope) -> None:
    title = plain_name(reader, "the name of the module")
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


def _typedef(reader: Reader, scope: Scope) -> None:
    kind = primitive(reader, scope)
    title = plain_name(reader, "the new name")
    declare(reader, scope, title)
    scope.aliases[scope.full(title.text)] = kind
    reader.expect(";", "';' after the typedef")


def _eventtype(reader: Reader, scope: Scope) -> None:
    title = plain_name(reader, "the name of the event type")
    parent = parent_of(reader, scope) if reader.accept(":") else None
    reader.expect("{", "'{' and the attributes")
    inherited = scope.attributes[parent] if parent else {}
    attributes: dict[str, str] = {}
    while not reader.at("}", "end"):
        try:
            _attributes(reader, scope, attributes, inherited)
        except Failure:
            skip_to(reader, ";", "}")
            reader.accept(";")
    declare(reader, scope, title)
    full = scope.full(title.text)
    scope.records[full] = RecordType(full, attributes, parent, title.span)
    scope.attributes[full] = {**inherited, **attributes}
    reader.expect("}", "'}', attribute or public")
    reader.expect(";", "';' after the event type")


def _attributes(reader: Reader, scope: Scope, own: dict[str, str], inherited: Mapping[str, str]) -> None:
    if not (reader.accept_word("attribute") or reader.accept_word("public")):
        reader.fail("attribute, public or '}'")
    kind = primitive(reader, scope)
    while True:
        attribute = plain_name(reader, "the name of the attribute")
        if attribute.text in own or attribute.text in inherited:
            where = "inherited" if attribute.text in inherited else "declared above"
            message = f"duplicate attribute {attribute.text}"
            reader.note("duplicate-attribute", message, attribute.span, f"it is {where}")
        own[attribute.text] = kind
        if not reader.accept(","):
            break
    reader.expect(";", "';' or ','")
