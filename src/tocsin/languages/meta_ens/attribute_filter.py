"""Reads conditions on the attributes of an event: `(sys<95 OR dia<50) AND ward = "B2"`."""

from __future__ import annotations

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or
from tocsin.languages.lexis import Reader
from tocsin.languages.meta_ens.words import RESERVED
from tocsin.values import Relation

_RELATIONS = ("=", "!=", "<", "<=", ">", ">=")


def condition(reader: Reader) -> Filter:
    """Conditions joined by AND or OR; AND binds closer."""
    with reader.nested():
        parts = [_conjunction(reader)]
        while reader.accept_word("OR"):
            parts.append(_conjunction(reader))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _conjunction(reader: Reader) -> Filter:
    parts = [_comparison(reader)]
    while reader.accept_word("AND"):
        parts.append(_comparison(reader))
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _comparison(reader: Reader) -> Filter:
    start = reader.here
    if reader.accept_word("NOT"):
        with reader.nested():
            return Not(_comparison(reader), reader.span_from(start))
    if reader.accept("("):
        inner = condition(reader)
        reader.expect(")", "')'")
        return inner
    if not reader.at("name") or (reader.here.text in RESERVED):
        reader.fail("an attribute", "write a comparison, such as brightness < 1000")
    attribute = Attribute(str(reader.advance().value), start.span)
    if reader.accept_word("IS"):
        negated = reader.accept_word("NOT") is not None
        if not reader.accept_word("NULL"):
            reader.fail("NULL")
        missing = IsNull(attribute, reader.span_from(start))
        return Not(missing, reader.span_from(start)) if negated else missing
    if reader.accept_word("LIKE"):
        pattern = reader.expect("string", "a text in quotes")
        return Like(attribute, str(pattern.value), reader.span_from(start))
    if not reader.at(*_RELATIONS):
        # A bare word, such as `pullUp`, says that the attribute is true.
        return Compare(attribute, Relation.EQ, Literal(True, start.span), start.span)
    relation = Relation(reader.advance().kind)
    return Compare(attribute, relation, _literal(reader), reader.span_from(start))


def _literal(reader: Reader) -> Literal:
    start = reader.here
    if reader.accept("-"):
        number = reader.expect("number", "a number")
        return Literal(
            -float(number.value) if isinstance(number.value, float) else -int(number.value), start.span
        )
    if reader.at("number", "string"):
        return Literal(reader.advance().value, start.span)
    if reader.at_word("true", "false"):
        return Literal(reader.advance().text == "true", start.span)
    reader.fail("a number, a text in quotes, true or false")
