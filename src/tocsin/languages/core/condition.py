"""Parses conditions on attributes in the core language: filters on events, and `where` on matches."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    Literal,
    Not,
    Or,
    RoleAttribute,
    Variable,
)
from tocsin.languages.core.words import RESERVED, name
from tocsin.languages.lexis import Reader
from tocsin.values import Relation

Comparison = Callable[[Reader], Filter]


def condition(reader: Reader, comparison: Comparison) -> Filter:
    """Comparisons joined by OR, AND and NOT, from the loosest binding to the tightest.

    >>> from tocsin.languages.core.words import SYMBOLS
    >>> len(condition(Reader("a = 1 AND NOT b < 2 OR c = $x", SYMBOLS), attribute_comparison).parts)
    2
    """
    start = reader.here
    parts = [_conjunction(reader, comparison)]
    while reader.accept_word("OR"):
        parts.append(_conjunction(reader, comparison))
    if reader.at_word("and", "or"):
        reader.fail("AND, OR or the end of the condition", f"write {reader.here.text.upper()}")
    return parts[0] if len(parts) == 1 else Or(tuple(parts), reader.span_from(start))


def _conjunction(reader: Reader, comparison: Comparison) -> Filter:
    start = reader.here
    parts = [_negation(reader, comparison)]
    while reader.accept_word("AND"):
        parts.append(_negation(reader, comparison))
    return parts[0] if len(parts) == 1 else And(tuple(parts), reader.span_from(start))


def _negation(reader: Reader, comparison: Comparison) -> Filter:
    start = reader.here
    with reader.nested():
        if reader.accept_word("NOT"):
            part = _negation(reader, comparison)
            return Not(part, reader.span_from(start))
        if reader.accept("("):
            inner = condition(reader, comparison)
            reader.expect(")", "')', AND or OR")
            return inner
        return comparison(reader)


def attribute_comparison(reader: Reader) -> Filter:
    """One comparison of an attribute of the event at hand, with a value or a variable."""
    start = reader.here
    attribute = Attribute(_dotted_name(reader), reader.span_from(start))
    relation = _relation(reader)
    if sign := reader.accept("$"):
        variable = name(reader, "the name of a variable").text
        right: Variable | Literal = Variable(variable, reader.span_from(sign))
    else:
        right = _literal(reader, "a value or $variable")
    return Compare(attribute, relation, right, reader.span_from(start))


def role_comparison(reader: Reader) -> Filter:
    """One comparison of an attribute of an event that was taken, with a value or another such attribute."""
    start = reader.here
    left = _role_attribute(reader)
    relation = _relation(reader)
    right: RoleAttribute | Literal
    if reader.at("name") and reader.ahead().kind == ".":
        right = _role_attribute(reader)
    else:
        right = _literal(reader, "a value, or an event and its attribute, as in Open.room")
    return Compare(left, relation, right, reader.span_from(start))


def _role_attribute(reader: Reader) -> RoleAttribute:
    role = name(reader, "an event and its attribute, as in Open.room")
    reader.expect(".", "'.' and an attribute, as in Open.room")
    return RoleAttribute(role.text, _dotted_name(reader), reader.span_from(role))


def _dotted_name(reader: Reader) -> str:
    """The name of an attribute, or of a field inside one: `place.room`."""
    parts = [name(reader, "the name of an attribute").text]
    while reader.accept("."):
        parts.append(name(reader, "the name of a field").text)
    return ".".join(parts)


def _relation(reader: Reader) -> Relation:
    if not reader.at(*Relation):
        reader.fail("=, !=, <, <=, > or >=", "use a single '='" if reader.at(":=") else None)
    relation = Relation(reader.advance().kind)
    if relation is Relation.EQ and reader.at("="):
        reader.fail("a value", "use a single '='")
    return relation


def _literal(reader: Reader, wanted: str) -> Literal:
    start = reader.here
    if reader.accept("-"):
        number = reader.expect("number", "a number").value
        assert not isinstance(number, str)
        return Literal(-number, reader.span_from(start))
    if reader.at("number", "string"):
        return Literal(reader.advance().value, start.span)
    if reader.at_word("true", "false"):
        return Literal(reader.advance().text == "true", start.span)
    quoted = reader.at("name", "time", "duration") and not reader.at_word(*RESERVED)
    reader.fail(wanted, f"texts and times stand in quotes: '{reader.here.text}'" if quoted else None)
