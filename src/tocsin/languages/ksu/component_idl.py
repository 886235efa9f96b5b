"""Parses what components are made of, in IDL: interfaces, components with their ports, homes, structs and enumerations.

Operations and the values that they exchange are checked for their form, and then known by name only: events are what
correlations and behaviours are about.

Paper: 001, section 6, Fig. 8; the notation is that of CCM IDL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import get_args

from tocsin.algebra.system.model import Component, Direction, Port
from tocsin.errors import did_you_mean
from tocsin.languages.ksu.idl_names import Scope, declare, plain_name, primitive, qualified
from tocsin.languages.ksu.words import skip_to
from tocsin.languages.lexis import Failure, Reader, Token

DIRECTIONS = get_args(Direction)


def declaration(reader: Reader, scope: Scope) -> None:
    """One declaration that begins with a word of components."""
    _DECLARATIONS[reader.advance().text](reader, scope)


def _component(reader: Reader, scope: Scope) -> None:
    title = plain_name(reader, "the name of the component")
    inherited: dict[str, Port] = {}
    if reader.accept(":"):
        text, span = qualified(reader, "the component that it extends")
        parent = scope.find(text, scope.components)
        if parent is None:
            hint = did_you_mean(text, scope.components, "declare it first")
            reader.note("unknown-component", f"component {text} not declared", span, hint)
        else:
            inherited = dict(scope.components[parent].ports)
    if reader.accept_word("supports"):
        _known(reader, scope, scope.interfaces, "interface")
    ports = dict(inherited)

    def member() -> None:
        if reader.accept_word("attribute"):
            primitive(reader, scope)
            plain_name(reader, "the name of the attribute")
        elif reader.at_word(*DIRECTIONS):
            _port(reader, scope, reader.advance(), ports)
        else:
            reader.fail("provides, uses, publishes, emits, consumes or attribute")

    _members(reader, member)
    declare(reader, scope, title)
    full = scope.full(title.text)
    scope.components[full] = Component(full, ports, title.span)


def _port(reader: Reader, scope: Scope, word: Token, ports: dict[str, Port]) -> None:
    direction: Direction = next(one for one in DIRECTIONS if one == word.text)
    known: Mapping[str, object] = scope.interfaces if direction in ("provides", "uses") else scope.records
    kind = _known(reader, scope, known, "interface" if direction in ("provides", "uses") else "event type")
    name = plain_name(reader, "the name of the port")
    if name.text in ports:
        reader.note("duplicate-port", f"there are two ports {name.text}", name.span)
    ports[name.text] = Port(name.text, direction, kind, reader.span_from(word))


def _known(reader: Reader, scope: Scope, known: Mapping[str, object], what: str) -> str:
    """The full name of something that must be declared; the name as it is written, with a mistake noted, if it is not."""
    text, span = qualified(reader, f"the name of the {what}")
    found = scope.find(text, known)
    if found is None:
        hint = did_you_mean(text, known, "declare it first")
        reader.note("unknown-type", f"{what} {text} not declared", span, hint)
    return found or text


def _interface(reader: Reader, scope: Scope) -> None:
    title = plain_name(reader, "the name of the interface")
    if reader.accept(":"):
        _known(reader, scope, scope.interfaces, "interface")
    declare(reader, scope, title)
    scope.interfaces[scope.full(title.text)] = title.span
    _members(reader, partial(_operation, reader))


def _home(reader: Reader, scope: Scope) -> None:
    title = plain_name(reader, "the name of the home")
    if not reader.accept_word("manages"):
        reader.fail("'manages'", "write home NAME manages COMPONENT { };")
    _known(reader, scope, scope.components, "component")
    declare(reader, scope, title)
    scope.interfaces[scope.full(title.text)] = title.span
    _members(reader, partial(_operation, reader))


def _operation(reader: Reader) -> None:
    """`attribute TYPE NAME` or `TYPE NAME ( … )`; the type may be several words."""
    words = 0
    while reader.at("name", "::"):
        reader.advance()
        words += 1
    if words < 2:
        reader.fail("an operation, as in void reset()")
    if reader.accept("("):
        skip_to(reader, ")")
        reader.expect(")", "')'")


def _struct(reader: Reader, scope: Scope) -> None:
    title = plain_name(reader, "the name of the struct")
    declare(reader, scope, title)
    scope.interfaces[scope.full(title.text)] = title.span

    def member() -> None:
        primitive(reader, scope)
        plain_name(reader, "the name of the field")

    _members(reader, member)


def _enum(reader: Reader, scope: Scope) -> None:
    """An enumeration; an attribute of one holds the name of a member."""
    title = plain_name(reader, "the name of the enumeration")
    reader.expect("{", "'{'")
    names: set[str] = set()
    while not names or reader.accept(","):
        member = plain_name(reader, "a member")
        if member.text in names:
            reader.note("duplicate-name", f"there are two members {member.text}", member.span)
        names.add(member.text)
    reader.expect("}", "'}' or ','")
    reader.expect(";", "';' after the enumeration")
    declare(reader, scope, title)
    scope.aliases[scope.full(title.text)] = "string"


def _members(reader: Reader, take: Callable[[], None]) -> None:
    """The members of a block in braces, each with the semicolon after it; a mistake in one leaves the others alone."""
    reader.expect("{", "'{'")
    while not reader.at("}", "end"):
        try:
            take()
            reader.expect(";", "';'")
        except Failure:
            skip_to(reader, ";", "}")
            reader.accept(";")
    reader.expect("}", "'}'")
    reader.expect(";", "';' after the '}'")


_DECLARATIONS: Mapping[str, Callable[[Reader, Scope], None]] = {
    "component": _component,
    "interface": _interface,
    "home": _home,
    "struct": _struct,
    "enum": _enum,
}
