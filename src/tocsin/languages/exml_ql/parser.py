"""Reads queries: functions, conditions, and what is constructed."""

from __future__ import annotations

from dataclasses import dataclass, field

from tocsin.algebra.blocks.check import check
from tocsin.algebra.blocks.conditions import Predicate
from tocsin.algebra.blocks.query import (
    Block,
    Call,
    Context,
    Function,
    Identity,
    Interpretation,
    Parameter,
    Pattern,
    Query,
    Source,
    Stream,
    Template,
    Text,
    Variable,
    Where,
    stream_of,
)
from tocsin.algebra.blocks.temporal import Composition
from tocsin.algebra.tokens.bounds import MAX_ERRORS
from tocsin.errors import PatternErrors, Span
from tocsin.languages.exml_ql.patterns import attribute, end_tag, open_end, pattern, text_or_variable
from tocsin.languages.exml_ql.predicates import predicate
from tocsin.languages.exml_ql.scanner import Scanner
from tocsin.languages.exml_ql.temporal import composition, context
from tocsin.languages.exml_ql.words import TAG_NAME, VARIABLE
from tocsin.languages.lexis import Failure

MAX_CONDITIONS = 100  # of one query
_ORDERED_BY = "ORDERED-BY"


def parse(text: str, interpretation: Interpretation = Interpretation()) -> Query:
    """Read a text; raises `PatternErrors` with all mistakes.

    >>> query = parse('WHERE <order> <sku>$s</> </> IN "orders" CONSTRUCT <line> $s </>')
    >>> [block.name for block in query.blocks]
    ['_1']
    """
    return read_query(Scanner(text), interpretation)


def parse_pattern(text: str) -> Pattern:
    """Read one element pattern."""
    scanner = Scanner(text)
    try:
        found = pattern(scanner)
        scanner.skip()
        if not scanner.ended:
            scanner.fail("the end of the pattern")
    except Failure:
        raise PatternErrors(scanner.errors) from None
    if scanner.errors:
        raise PatternErrors(scanner.errors)
    return found


def read_query(scanner: Scanner, interpretation: Interpretation) -> Query:
    """Read a whole text, and check it."""
    functions: list[Function] = []
    query = None
    try:
        while scanner.word("FUNCTION"):
            functions.append(_function(scanner))
        query = Query(_query(scanner, "top"), tuple(functions), interpretation, scanner.span(0))
        if not scanner.ended:
            scanner.fail("the end of the text", "a text holds one query, after its functions")
    except Failure:
        pass
    # A part that could not be read would only cause further complaints.
    if query is not None and not scanner.errors:
        scanner.errors += check(query)[: MAX_ERRORS + 1]
    if query is None or scanner.errors:
        raise PatternErrors(scanner.errors)
    return query


def _function(scanner: Scanner) -> Function:
    start = scanner.at
    name = scanner.name("the name of the function")
    span = scanner.span(start)
    scanner.expect("(", "'(' before the parameters")
    parameters: list[Parameter] = []
    while not scanner.sign(")"):
        if parameters:
            scanner.expect(",", "',' between parameters")
        variable, _ = scanner.variable("a parameter")
        parameters.append(Parameter(variable, _type(scanner)))
    type = _type(scanner)
    body = _query(scanner, "function")
    if not scanner.word("END"):
        scanner.fail("END after the function")
    return Function(name, tuple(parameters), body, type, span)


def _type(scanner: Scanner) -> str | None:
    return scanner.string("a document type") if scanner.sign(":") else None


@dataclass
class _Conditions:
    """The conditions of a query so far."""

    blocks: list[Block] = field(default_factory=list)
    predicates: list[Predicate] = field(default_factory=list)
    composition: Composition | None = None
    context: Context | None = None
    count: int = 0


def _query(scanner: Scanner, level: str) -> Where:
    """`WHERE … CONSTRUCT …`; at the top it takes events, and its patterns are blocks."""
    start = scanner.at
    if not scanner.word("WHERE"):
        scanner.fail("WHERE", "a query is WHERE conditions CONSTRUCT element")
    found = _Conditions()
    while not scanner.ended and scanner.ahead() not in ("CONSTRUCT", "ORDERED"):
        try:
            _condition(scanner, found, level)
        except Failure:
            scanner.recover()
            continue
        scanner.sign(",")
    if not found.count and not scanner.errors:
        scanner.fail("a condition", 'as in WHERE <a> $x </> IN "stream"')
    ordered = _ordered_by(scanner)
    if not scanner.word("CONSTRUCT"):
        scanner.fail("CONSTRUCT", "a query ends with what it constructs, as in CONSTRUCT <result> $x </>")
    with scanner.nested():
        construct = _constructed(scanner)
        nested: list[Where] = []
        while scanner.sees("{") and scanner.sign("{"):
            nested.append(_query(scanner, "nested"))
            scanner.expect("}", "'}' after the nested query")
    return Where(
        tuple(found.blocks),
        tuple(found.predicates),
        found.composition,
        found.context,
        ordered,
        construct,
        tuple(nested),
        scanner.span(start),
    )


def _condition(scanner: Scanner, found: _Conditions, level: str) -> None:
    start = scanner.at
    found.count += 1
    if found.count > MAX_CONDITIONS:
        scanner.note(
            "too-large", f"more than {MAX_CONDITIONS} conditions", Span(scanner.text, start, start + 1)
        )
        raise PatternErrors(scanner.errors)
    if scanner.word("BLOCK"):
        name, span = scanner.variable("the name of the block")
        scanner.expect(":", "':' after the name of the block")
        scanner.cuts.append((start, scanner.at))
        found.blocks.append(_block(scanner, found, level, name, span))
    elif scanner.sees("<"):
        found.blocks.append(_block(scanner, found, level, "", Span(scanner.text, start, start + 1)))
    elif scanner.word("EVENT"):
        composed, chosen = composition(scanner), context(scanner) if scanner.word("CONTEXT") else None
        if found.composition is not None:
            span = scanner.span(start)
            scanner.note("duplicate-event", "there are two EVENT conditions", span, "join them with AND")
        found.composition, found.context = composed, chosen
        scanner.cuts.append((start, start + len(scanner.text[start : scanner.at].rstrip())))
    else:
        found.predicates.append(predicate(scanner))


def _block(scanner: Scanner, found: _Conditions, level: str, name: str, span: Span) -> Block:
    body = pattern(scanner)
    scanner.skip()
    if not scanner.word("IN"):
        scanner.fail("IN", 'say where the pattern is looked for, as in IN "stream" or IN $x')
    source = _source(scanner)
    takes_events = level == "top" and stream_of(source) is not None
    if name and not takes_events:
        if level == "top":
            scanner.note("misplaced-block", f"${name} takes no events", span, "leave out BLOCK")
        return Block(body, source, "", True, span)
    if takes_events and not name:
        place = sum(bool(block.name) for block in found.blocks) + 1
        return Block(body, source, f"_{place}", False, span)
    return Block(body, source, name, bool(name), span)


def _source(scanner: Scanner) -> Source:
    start = scanner.at
    if scanner.sees('"'):
        return Stream(scanner.string("a stream"), scanner.span(start))
    if VARIABLE.match(scanner.text, start):
        return Variable(*scanner.variable())
    if not scanner.ahead():
        scanner.fail("a stream, a variable or a function", 'as in IN "stream" or IN $x')
    name = scanner.name("a stream, a variable or a function")
    scanner.expect("(", "'(' before the arguments", f'a stream stands in quotes, as in "{name}"')
    arguments: list[Source] = []
    with scanner.nested():
        while not scanner.sign(")"):
            if arguments:
                scanner.expect(",", "',' between arguments")
            arguments.append(_source(scanner))
    return Call(name, tuple(arguments), scanner.span(start))


def _ordered_by(scanner: Scanner) -> tuple[Variable, ...]:
    if not scanner.sees(_ORDERED_BY):
        if scanner.ahead() == "ORDERED":
            scanner.fail(_ORDERED_BY)
        return ()
    scanner.sign(_ORDERED_BY)
    found = [Variable(*scanner.variable())]
    while scanner.sign(","):
        found.append(Variable(*scanner.variable()))
    return tuple(found)


# --- what is constructed ----------------------------------------------------------------------------


def _constructed(scanner: Scanner) -> Template | Variable:
    if VARIABLE.match(scanner.text, scanner.at):
        return Variable(*scanner.variable())
    found = _template(scanner)
    scanner.skip()
    return found


def _template(scanner: Scanner) -> Template:
    """An element; the place after it is content of the element around it, or the rest of a query."""
    start = scanner.at
    scanner.expect("<", "an element to construct", "as in <result> $x </>")
    with scanner.nested():
        tag = _template_tag(scanner)
        identity, attributes = None, []
        while not scanner.sees(">"):
            if identity is None and (found := _identity(scanner)) is not None:
                identity = found
            else:
                attributes.append(attribute(scanner))
        open_end(scanner)
        parts: list[Template | Text | Variable | Where] = []
        while not scanner.sees("</"):
            parts.append(_part(scanner))
            scanner.skip_blanks()
        end_tag(scanner, tag if isinstance(tag, str) else None)
    return Template(tag, identity, tuple(attributes), tuple(parts), scanner.span(start))


def _part(scanner: Scanner) -> Template | Text | Variable | Where:
    if scanner.sees("<"):
        return _template(scanner)
    if scanner.ahead() == "WHERE":
        return _query(scanner, "nested")
    return text_or_variable(scanner, nested=True)


def _template_tag(scanner: Scanner) -> str | Variable:
    if VARIABLE.match(scanner.text, scanner.at):
        return Variable(*scanner.variable())
    found = scanner.take(TAG_NAME)
    if found is None:
        scanner.fail("the name of the element", "a name, or a variable that is bound to a tag")
    return found[0]


def _identity(scanner: Scanner) -> Identity | None:
    """`ID=F($x, $y)`; None, without moving, if that is not next."""
    start = scanner.at
    if not (scanner.word("ID") and scanner.sign("=") and scanner.ahead()):
        scanner.at = start
        return None
    name = scanner.name("the name of a function")
    scanner.expect("(", "'(' before the variables of the identity", "as in ID=F($x)")
    found = [Variable(*scanner.variable())]
    while scanner.sign(","):
        found.append(Variable(*scanner.variable()))
    scanner.expect(")", "')'")
    return Identity(name, tuple(found))
