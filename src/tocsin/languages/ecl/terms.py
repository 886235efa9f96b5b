"""Parses terms without nested expressions: comparisons, values and outputs."""

from __future__ import annotations

from tocsin.algebra.completion.output import Constant, FieldOf, Forward, Make, Output
from tocsin.algebra.predicate import Attribute, Compare, Literal
from tocsin.languages.ecl.words import CLOSING, RELATIONS, RESERVED
from tocsin.languages.lexis import Reader
from tocsin.values import Relation


def comparison(reader: Reader) -> Compare:
    """`<field = value>` or `<field = event.other>`"""
    start = reader.advance()
    name = _field(reader)
    if not reader.at(*RELATIONS):
        reader.fail("=, !=, <, <=, > or >=")
    relation = Relation(RELATIONS[reader.advance().kind])
    value: Literal | FieldOf | Attribute = _source(reader)
    if isinstance(value, FieldOf):
        value = Attribute(value.name, value.span)
        if "type" in (name.name, value.name):
            hint = "an event has its type and those above it; write <type = NAME>"
            reader.note("type-compared", "the type compares with a constant only", value.span, hint)
    if not reader.at(*CLOSING):
        reader.fail("'>'", "a comparison is written <field = value>")
    reader.advance()
    return Compare(name, relation, value, reader.span_from(start))


def _field(reader: Reader) -> Attribute:
    start = reader.here
    parts = [_plain_name(reader, "the name of a field")]
    while reader.accept("."):
        parts.append(_plain_name(reader, "the name of a field"))
    return Attribute(".".join(parts), reader.span_from(start))


def _plain_name(reader: Reader, wanted: str, hint: str | None = None) -> str:
    if reader.at_word(*RESERVED):
        reader.fail(wanted, f"{reader.here.text!r} is a word of the language")
    return reader.expect("name", wanted, hint).text


def _value(reader: Reader) -> Literal:
    start = reader.here
    if reader.accept("-"):
        number = reader.expect("number", "a number")
        return Literal(-number.value, reader.span_from(start))  # type: ignore[operator]  # a number token holds a number
    if reader.at("number", "string", "time"):
        return Literal(reader.advance().value, start.span)
    if reader.at_word("true", "false"):
        return Literal(reader.advance().text == "true", start.span)
    if reader.at_word(*RESERVED):
        reader.fail(
            "a value", f"{reader.here.text!r} is a word of the language; as a value it stands in quotes"
        )
    return Literal(_plain_name(reader, "a name, a number or a text"), start.span)


def output(reader: Reader) -> Output:
    """An output: a constant, `*` for the event itself, or `Name {field = value, …}` for a new one."""
    start = reader.here
    if reader.accept("*"):
        return Forward(start.span)
    if reader.at("name") and reader.ahead().kind == "{":
        return _make(reader)
    value = _value(reader).value if reader.at("number", "string", "-") else None
    if value is None:
        value = _plain_name(reader, "a name, a text or a whole number to push", "write push(x) {…}")
    if not isinstance(value, str | int):
        reader.note(
            "bad-token", "only a name, a text or a whole number can be pushed", reader.span_from(start)
        )
        value = 0
    return Constant(value, reader.span_from(start))


def _make(reader: Reader) -> Make:
    start = reader.here
    name = _plain_name(reader, "the type of the new event")
    reader.expect("{", "'{'")
    fields: dict[str, Literal | FieldOf] = {}
    while not reader.accept("}"):
        if fields:
            reader.expect(",", "',' or '}'")
        target = _field(reader)
        if target.name in fields or target.name == "type":
            hint = "the name before the brace is the type" if target.name == "type" else None
            reader.note("duplicate-field", f"the field {target.name!r} is set twice", target.span, hint)
        reader.expect("=", "'=' and a value")
        fields[target.name] = _source(reader)
    return Make(name, tuple(fields.items()), reader.span_from(start))


def _source(reader: Reader) -> Literal | FieldOf:
    start = reader.here
    if reader.at_word("event") and reader.ahead().kind == ".":
        reader.advance()
        reader.advance()
        return FieldOf(_field(reader).name, reader.span_from(start))
    return _value(reader)
