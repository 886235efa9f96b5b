"""Parses conditions on attributes in the core language: filters on events, and `where` on matches."""

from __future__ import annotations

import re
from collections.abc import Callable

from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    RoleAttribute,
    Variable,
)
from tocsin.languages.core.words import RESERVED, attribute_name, name, type_name
from tocsin.languages.lexis import Reader, Token
from tocsin.values import Relation

Comparison = Callable[[Reader], Filter]
Side = Literal | Variable | Attribute | RoleAttribute
_WORDS = ("IN", "BETWEEN", "LIKE", "IS", "NOT")
_NO_VALUES = ("NULL", "null", "Null", "None", "True", "False", "TRUE", "FALSE")
_LIKE_ESCAPES = re.compile(r"\\(?![%_\\])")


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
    if reader.at_word("and", "or", "And", "Or"):
        reader.fail("AND, OR or the end of the condition", f"write {reader.here.text.upper()}")
    if reader.at("&", "&&", "|", "||"):
        sign = "AND" if reader.at("&", "&&") else "OR"
        reader.fail("AND, OR or the end of the condition", f"write {sign}")
    return parts[0] if len(parts) == 1 else Or(tuple(parts), reader.span_from(start))


def event_condition(reader: Reader) -> Filter:
    """A condition on the current event."""
    return condition(reader, attribute_comparison)


def _conjunction(reader: Reader, comparison: Comparison) -> Filter:
    start = reader.here
    parts = [_negation(reader, comparison)]
    while reader.accept_word("AND"):
        parts.append(_negation(reader, comparison))
    return parts[0] if len(parts) == 1 else And(tuple(parts), reader.span_from(start))


def _negation(reader: Reader, comparison: Comparison) -> Filter:
    start = reader.here
    with reader.nested():
        if reader.at_word("not", "Not") and reader.ahead().kind in ("name", "("):
            reader.fail("a condition", "write NOT")
        if reader.at("!") and reader.ahead().kind in ("name", "("):
            reader.fail("a condition", "write NOT")
        if reader.accept_word("NOT"):
            part = _negation(reader, comparison)
            return Not(part, reader.span_from(start))
        if reader.accept("("):
            inner = condition(reader, comparison)
            reader.expect(")", "')', AND or OR")
            return inner
        return comparison(reader)


def attribute_comparison(reader: Reader) -> Filter:
    """A predicate on an attribute of the current event: compared with a value, a variable, or another attribute."""
    start = reader.here
    attribute = Attribute(_dotted_name(reader), reader.span_from(start))
    return _predicate(reader, start, attribute, _value_or_attribute)


def _value_or_attribute(reader: Reader) -> Side:
    if sign := reader.accept("$"):
        variable = name(reader, "the name of a variable").text
        return Variable(variable, reader.span_from(sign))
    if reader.at("name") and not reader.at_word(*RESERVED, *_NO_VALUES):
        own = reader.here
        return Attribute(_dotted_name(reader), reader.span_from(own))
    return _literal(reader, "a value, an attribute or $variable")


def role_comparison(reader: Reader) -> Filter:
    """One comparison of an attribute of an event that was taken, with a value or another such attribute."""
    start = reader.here
    return _predicate(reader, start, _role_attribute(reader), _value_or_role)


def _value_or_role(reader: Reader) -> Side:
    if reader.at("name", "string", "number") and reader.ahead().kind == ".":
        return _role_attribute(reader)
    return _literal(reader, "a value, or an event and its attribute, as in Open.room")


def _predicate(
    reader: Reader, start: Token, left: Attribute | RoleAttribute, side: Callable[[Reader], Side]
) -> Filter:
    """Parse the condition on an attribute. `IN` and `BETWEEN` are short for comparisons joined by OR and AND."""
    negated = reader.accept_word("NOT") is not None
    found: Filter
    if reader.accept_word("IN"):
        found = _among(reader, start, left)
    elif reader.accept_word("BETWEEN"):
        least = _literal(reader, "a value")
        if not reader.accept_word("AND"):
            reader.fail("AND and a value", "write BETWEEN 1 AND 5")
        most = _literal(reader, "a value")
        span = reader.span_from(start)
        found = And((Compare(left, Relation.GE, least, span), Compare(left, Relation.LE, most, span)), span)
    elif reader.accept_word("LIKE"):
        found = Like(left, _like_pattern(reader), reader.span_from(start))
    elif negated:
        reader.fail("IN, BETWEEN or LIKE after NOT", "NOT stands before a whole comparison: NOT temp < 15")
    elif reader.accept_word("IS"):
        negated = reader.accept_word("NOT") is not None
        if not reader.accept_word("NULL"):
            reader.fail("NULL or NOT NULL", "write IS NULL or IS NOT NULL; for values write =")
        found = IsNull(left, reader.span_from(start))
    else:
        relation = _relation(reader)
        found = Compare(left, relation, side(reader), reader.span_from(start))
    return Not(found, reader.span_from(start)) if negated else found


def _among(reader: Reader, start: Token, left: Attribute | RoleAttribute) -> Filter:
    reader.expect("(", "'(' and values", "write IN (1, 2, 3)")
    values = [_literal(reader, "a value")]
    while reader.accept(","):
        values.append(_literal(reader, "a value"))
    reader.expect(")", "')' or ','")
    span = reader.span_from(start)
    parts = tuple(Compare(left, Relation.EQ, value, span) for value in values)
    return parts[0] if len(parts) == 1 else Or(parts, span)


def _like_pattern(reader: Reader) -> str:
    hint = "% stands for any text, _ for one character: LIKE 'pay%'"
    token = reader.expect("string", "a pattern in quotes", hint)
    pattern = str(token.value)
    if _LIKE_ESCAPES.search(pattern.replace("\\\\", "")):
        hint = "a backslash stands before %, _ or another backslash"
        reader.note("bad-pattern", "a backslash makes no other character plain", token.span, hint)
    return pattern


def _role_attribute(reader: Reader) -> RoleAttribute:
    role = type_name(reader, "an event and its attribute, as in Open.room")
    reader.expect(".", "'.' and an attribute, as in Open.room")
    return RoleAttribute(str(role.value), _dotted_name(reader), reader.span_from(role))


def _dotted_name(reader: Reader) -> str:
    """The name of an attribute, or of a field inside one: `place.room`."""
    parts = [attribute_name(reader, "the name of an attribute")]
    while reader.accept("."):
        parts.append(attribute_name(reader, "the name of a field"))
    return ".".join(parts)


def _relation(reader: Reader) -> Relation:
    foreign = {"==": Relation.EQ, "=>": Relation.GE}
    if reader.at(*foreign):
        right = foreign[reader.here.kind]
        hint = "use a single '='" if right is Relation.EQ else f"write {right}"
        reader.unexpected("a relation", hint)
        reader.advance()
        return right
    if not reader.at(*Relation):
        reader.fail("=, !=, <, <=, >, >=, IN, BETWEEN, LIKE or IS", _relation_hint(reader))
    relation = Relation(reader.advance().kind)
    if relation is Relation.EQ and reader.at("="):
        reader.fail("a value", "use a single '='")
    return relation


def _relation_hint(reader: Reader) -> str | None:
    if reader.at(":="):
        return "use a single '='"
    if reader.at("name") and reader.here.text.upper() in _WORDS:
        return f"write {reader.here.text.upper()}"
    if reader.at("->"):
        return "a field of an attribute follows a dot: place.room"
    return None


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
    if reader.at_word(*_NO_VALUES):
        right = "true or false" if reader.here.text.lower() != "null" else "IS NULL or IS NOT NULL"
        reader.fail(wanted, f"write {right}")
    quoted = reader.at("name", "time", "duration") and not reader.at_word(*RESERVED)
    reader.fail(wanted, f"texts and times stand in quotes: '{reader.here.text}'" if quoted else None)
