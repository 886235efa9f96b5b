"""Parses the conditions inside `.where( … )` of the binding's text form."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or, Variable
from tocsin.languages.lexis import Failure, Reader, Token, is_name, shortened
from tocsin.languages.quoted_conditions import quoted_filter
from tocsin.values import Relation

RELATIONS = {"==": Relation.EQ, "!=": Relation.NE} | {r.value: r for r in Relation if r.value[0] in "<>"}
TRUTHS = {"True": True, "true": True, "False": False, "false": False}


def conditions(reader: Reader) -> list[Filter]:
    """Conditions separated by commas: `room="FE02"` or `attribute("temp") < 15`, joined by `&`, `|` and `~`.

    >>> from tocsin.languages.binding.parser import SYMBOLS
    >>> len(conditions(Reader('room="FE02", ~(attribute("temp") < 15)', SYMBOLS)))
    2
    """
    found = [_condition(reader)]
    while reader.accept(","):
        found.append(_condition(reader))
    return found


def _condition(reader: Reader) -> Filter:
    if reader.at("string"):
        found = quoted_filter(reader, reader.advance())
        if found is None:
            raise Failure
        return found
    if reader.at("name") and reader.ahead().kind == "=":
        start = reader.advance()
        attribute = Attribute(start.text, start.span)
        reader.advance()
        return Compare(attribute, Relation.EQ, _value(reader), reader.span_from(start))
    return _any(reader)


def _any(reader: Reader) -> Filter:
    start = reader.here
    parts = [_all(reader)]
    while reader.accept("|"):
        parts.append(_all(reader))
    return parts[0] if len(parts) == 1 else Or(tuple(parts), reader.span_from(start))


def _all(reader: Reader) -> Filter:
    start = reader.here
    parts = [_unary(reader)]
    while reader.accept("&"):
        parts.append(_unary(reader))
    return parts[0] if len(parts) == 1 else And(tuple(parts), reader.span_from(start))


def _unary(reader: Reader) -> Filter:
    start = reader.here
    with reader.nested():
        if reader.accept("~"):
            part = _unary(reader)
            return Not(part, reader.span_from(start))
        if reader.accept("("):
            inner = _any(reader)
            reader.expect(")", "')', & or |")
            return inner
    bare = reader.index
    comparison = _comparison(reader)
    # In Python & and | bind tighter than a comparison, so that this would mean something else there.
    before = reader.tokens[bare - 1].kind if bare else ""
    if reader.at("&", "|") or before in ("&", "|", "~"):
        hint = "put each comparison in parentheses: ( … ) & ( … )"
        reader.note(
            "syntax", "a comparison that is joined to another needs parentheses", comparison.span, hint
        )
    return comparison


def _comparison(reader: Reader) -> Compare | IsNull | Like:
    start = reader.here
    hint = 'write attribute("temp") < 15, or temp=15'
    if not (reader.at_word("attribute") and reader.ahead().kind == "("):
        reader.fail('a condition such as attribute("temp") < 15', hint)
    name = _call(reader, "the name of an attribute in quotes")
    attribute = Attribute(str(name.value), reader.span_from(start))
    if reader.accept("."):
        return _method(reader, start, attribute)
    if reader.here.kind not in RELATIONS:
        reader.fail("==, !=, <, <=, > or >=", "write ==" if reader.at("=") else None)
    relation = RELATIONS[reader.advance().kind]
    if reader.at_word("attribute") and reader.ahead().kind == "(":
        own = reader.here
        other = _call(reader, "the name of an attribute in quotes")
        right = Attribute(str(other.value), reader.span_from(own))
        return Compare(attribute, relation, right, reader.span_from(start))
    return Compare(attribute, relation, _value(reader), reader.span_from(start))


def _method(reader: Reader, start: Token, attribute: Attribute) -> IsNull | Like:
    """`.is_null()` or `.like("pay%")`."""
    hint = 'write .is_null() or .like("pay%"), or a whole condition in quotes: .where("x IN (1, 2)")'
    if not reader.at_word("is_null", "like"):
        reader.fail("is_null or like", hint)
    word = reader.advance().text
    reader.expect("(", "'('")
    pattern = str(reader.expect("string", "a pattern in quotes").value) if word == "like" else ""
    reader.expect(")", "')'")
    span = reader.span_from(start)
    return IsNull(attribute, span) if word == "is_null" else Like(attribute, pattern, span)


def _call(reader: Reader, wanted: str, allowed: Callable[[str], bool] = bool) -> Token:
    """The text inside `word("text")`."""
    reader.advance()
    reader.expect("(", "'('")
    text = reader.expect("string", wanted)
    if not allowed(str(text.value)):
        hint = "a name has letters, digits and _, and starts with no digit"
        reader.note("bad-name", f"{shortened(str(text.value))!r} is not a name", text.span, hint)
        raise Failure
    reader.expect(")", "')'")
    return text


def _value(reader: Reader) -> Literal | Variable:
    start = reader.here
    if reader.at_word("variable") and reader.ahead().kind == "(":
        name = _call(reader, "the name of a variable in quotes", is_name)
        return Variable(str(name.value), reader.span_from(start))
    if reader.accept("-"):
        number = reader.expect("number", "a number").value
        assert not isinstance(number, str)
        return Literal(-number, reader.span_from(start))
    if reader.at("number", "string"):
        return Literal(reader.advance().value, start.span)
    if reader.at_word(*TRUTHS):
        return Literal(TRUTHS[reader.advance().text], start.span)
    quoted = reader.at("name", "time", "duration")
    hint = f'texts and times stand in quotes: "{reader.here.text}"' if quoted else None
    reader.fail('a value or variable("x")', hint)
