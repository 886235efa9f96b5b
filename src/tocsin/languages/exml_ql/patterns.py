"""Reads element patterns: tags with regular paths, attributes, content."""

from __future__ import annotations

from typing import Literal as OneOf

from tocsin.algebra.blocks.paths import AnyName, Chain, Either, Name, Path, Repeated, Tag, TagVariable
from tocsin.algebra.blocks.query import Attribute, Bound, Pattern, Text, Variable
from tocsin.errors import Span
from tocsin.languages.exml_ql.scanner import Scanner
from tocsin.languages.exml_ql.words import LITERAL, NESTED, STRING, TAG_NAME, VARIABLE

_LOCAL = "names are compared without their namespace: write what stands after the colon"


def pattern(scanner: Scanner) -> Pattern:
    """`<tag attributes> content </tag> ELEMENT_AS $x`"""
    start = scanner.at
    scanner.expect("<", "a pattern", "as in <a> $x </>")
    with scanner.nested():
        tag = _tag(scanner)
        attributes = []
        while not scanner.sees(">"):
            attributes.append(attribute(scanner))
        open_end(scanner)
        parts: list[Pattern | Text | Variable] = []
        while not scanner.sees("</"):
            parts.append(_part(scanner))
        scanner.skip_blanks()
        end_tag(scanner, tag.name if isinstance(tag, Name) else None)
    bound = []
    while scanner.ahead() in ("ELEMENT_AS", "CONTENT_AS"):
        bound.append(_bound(scanner))
    return Pattern(tag, tuple(attributes), tuple(parts), tuple(bound), scanner.span(start))


def _bound(scanner: Scanner) -> Bound:
    what: OneOf["element", "content"] = "element" if scanner.ahead() == "ELEMENT_AS" else "content"
    scanner.word("ELEMENT_AS", "CONTENT_AS")
    return Bound(what, Variable(*scanner.variable()))


def _part(scanner: Scanner) -> Pattern | Text | Variable:
    scanner.skip_blanks()
    return pattern(scanner) if scanner.sees("<") else text_or_variable(scanner, nested=False)


def text_or_variable(scanner: Scanner, nested: bool) -> Text | Variable:
    """What stands between tags; `nested` if a query may stand there, too."""
    start = scanner.at
    if found := VARIABLE.match(scanner.text, start):
        scanner.at = found.end()
        scanner.skip_blanks()
        return Variable(found[1], Span(scanner.text, start, found.end()))
    if scanner.sees('"'):
        found = STRING.match(scanner.text, start)
        if found is None:
            scanner.string("a string")
            raise AssertionError("a string without an end fails")
        scanner.at = found.end()
        scanner.skip_blanks()
        return Text(found[1].replace('""', '"'))
    found = LITERAL.match(scanner.text, start)
    if found is None:
        scanner.fail("'</>' at the end of the element")
    stop = found.end()
    if nested and (query := NESTED.search(scanner.text, start, stop)):
        stop = query.start()
    if stop == len(scanner.text):
        scanner.at = stop
        scanner.fail("'</>' at the end of the element")
    scanner.at = stop
    return Text(scanner.text[start:stop].strip())


def open_end(scanner: Scanner) -> None:
    """The `>` of a tag, and the blanks after it: what comes next may be content."""
    scanner.at += 1
    scanner.skip_blanks()


def end_tag(scanner: Scanner, name: str | None) -> None:
    """`</>`, or with the name of the element; an element with any other tag has none."""
    start = scanner.at
    scanner.expect("</", "'</>' at the end of the element")
    found = scanner.take(TAG_NAME)
    if not scanner.sees(">"):
        scanner.fail("'>'")
    open_end(scanner)
    if found is not None and found[0] != name:
        wanted = f"write </{name}> or </>" if name else "write </>"
        message = f"</{found[0]}> does not end this element"
        scanner.note("wrong-end-tag", message, scanner.span(start), wanted)


def attribute(scanner: Scanner) -> Attribute:
    """`name="text"` or `name=$x`"""
    found = scanner.take(TAG_NAME)
    if found is None:
        if scanner.sees("/>"):
            scanner.fail("'>'", "an empty element is written <a></>")
        scanner.fail("'>' or an attribute", _LOCAL if scanner.sees(":") else None)
    scanner.expect("=", "'=' after the name of an attribute", _LOCAL if scanner.sees(":") else None)
    if scanner.sees('"'):
        return Attribute(found[0], Text(scanner.string("a value")))
    return Attribute(found[0], Variable(*scanner.variable("a string or a variable")))


def _tag(scanner: Scanner) -> Tag:
    if found := scanner.take(VARIABLE):
        return TagVariable(found[1])
    return _either(scanner)


def _either(scanner: Scanner) -> Path:
    parts = [_chain(scanner)]
    while scanner.sign("|"):
        parts.append(_chain(scanner))
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def _chain(scanner: Scanner) -> Path:
    parts = [_repeated(scanner)]
    while scanner.sign("."):
        parts.append(_repeated(scanner))
    return parts[0] if len(parts) == 1 else Chain(tuple(parts))


def _repeated(scanner: Scanner) -> Path:
    path: Path
    if VARIABLE.match(scanner.text, scanner.at):
        scanner.fail("a name", "a variable stands alone in a tag, as in <$t>")
    if scanner.sign("$"):
        path = AnyName()
    elif scanner.sign("("):
        with scanner.nested():
            path = _either(scanner)
        scanner.expect(")", "')'")
    elif found := scanner.take(TAG_NAME):
        path = Name(found[0])
    else:
        scanner.fail(
            "the name of an element", "a tag is a name, a path such as a.b|c*, $ for any, or a variable"
        )
    times: OneOf["*", "+", "?"]
    for times in ("*", "+", "?"):
        if scanner.sign(times):
            return Repeated(path, times)
    return path
