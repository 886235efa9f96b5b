"""Parses correlation libraries, the `.cor` files. The grammar is in the README beside this file.

After a mistake, parsing resumes at the next statement, case or correlation, so that one run reports every
mistake.

Paper: 001, sections 3.7, 4.2 and 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.algebra.correlation.check import check_library
from tocsin.algebra.correlation.expression import (
    Action,
    Assignment,
    Branches,
    Case,
    Correlation,
    Field,
    Library,
    Parameter,
    Push,
    PushNew,
    Statement,
    Switch,
    asked,
    walk,
)
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.correlation.warnings import warnings
from tocsin.algebra.predicate import Literal
from tocsin.algebra.tokens.bounds import MAX_ERRORS
from tocsin.algebra.tokens.check import too_many
from tocsin.errors import PatternError, PatternErrors
from tocsin.languages.ksu.filter import read_filter, read_guard
from tocsin.languages.ksu.words import SYMBOLS, name, skip_to, type_name
from tocsin.languages.lexis import Failure, Reader

# Of a text: its characters, the parts of its filters, and those times what the transformer asks and does.
MAX_LENGTH = 50_000
MAX_PARTS = 2_000
MAX_PAIRS = 200_000
_SWITCHES: tuple[Action, ...] = ("abort", "revive", "toggle")


def parse(text: str, types: Types | None = None) -> Library:
    """The correlations a text defines; raises `PatternErrors` with all mistakes.

    >>> library = parse("N correlation C (E a, E b) l:(a;b) { case l: push b }")
    >>> library.correlations[0].cases
    (Case(guard=Is(label='l'), body=(Push(event='b'),)),)

    If event types are given, the types of everything that is sent are checked as well.
    """
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    noted: list[PatternError] = []
    found = []
    while not reader.at("end"):
        if correlation := _correlation(reader, noted):
            found.append(correlation)
    _check_extent(reader, found)
    library = Library(tuple(found))
    errors = reader.errors + check_library(library, types)
    if len(errors) > MAX_ERRORS:
        errors = too_many(errors)
    if errors:
        raise PatternErrors(errors)
    noted += [warning for correlation in found for warning in warnings(correlation)]
    return Library(library.correlations, tuple(sorted(noted, key=lambda w: w.span.start if w.span else 0)))


def _check_extent(reader: Reader, correlations: Sequence[Correlation]) -> None:
    """Refuse texts that are too large to be checked and compiled in a second or two."""
    parts = pairs = 0
    for one in correlations:
        own = sum(1 for branch in one.branches for _ in walk(branch))
        said = sum(1 + sum(1 for _ in asked(case.guard)) + len(case.body) for case in one.cases)
        parts, pairs = parts + own, pairs + own * (1 + said + len(one.parameters))
        for much, limit, what in (
            (parts, MAX_PARTS, "the filters have more than {:,} parts"),
            (
                pairs,
                MAX_PAIRS,
                "there are more than {:,} pairs of a part of a filter with a label or statement",
            ),
        ):
            if much > limit:
                hint = "make several texts of it"
                raise PatternErrors([PatternError("too-large", what.format(limit), one.span, hint)])


def _correlation(reader: Reader, noted: list[PatternError]) -> Correlation | None:
    try:
        output, span = type_name(reader, "the type of the events a correlation sends")
        if not reader.accept_word("correlation"):
            reader.fail("'correlation'", "write Type correlation Name (Type event, …) filter { … }")
        title = name(reader, "the name of the correlation")
        head = reader.span_from(title)
        parameters = _parameters(reader)
    except Failure:
        skip_to(reader, "{")
        if reader.accept("{"):
            skip_to(reader, "}")
            reader.accept("}")
        return None
    branches = _filter(reader, noted)
    initial, cases = _transformer(reader)
    return Correlation(output, title.text, parameters, branches, initial, cases, span.through(head))


def _parameters(reader: Reader) -> tuple[Parameter, ...]:
    reader.expect("(", "'(' and the events of the correlation")
    found = [_parameter(reader)]
    while reader.accept(","):
        found.append(_parameter(reader))
    reader.expect(")", "')' or ','")
    return tuple(found)


def _parameter(reader: Reader) -> Parameter:
    kind, span = type_name(reader)
    event = name(
        reader,
        "the name of an event",
    )
    return Parameter(kind, event.text, span.through(event.span))


def _filter(reader: Reader, noted: list[PatternError]) -> Branches:
    """Parse the filter; empty if that fails, so that the transformer can still be parsed."""
    try:
        branches = read_filter(reader, noted)
        if not reader.at("{"):
            reader.fail("an operator or '{' and the transformer")
    except Failure:
        skip_to(reader, "{")
        return ()
    return branches


def _transformer(reader: Reader) -> tuple[tuple[Switch, ...], tuple[Case, ...]]:
    initial: list[Switch] = []
    cases: list[Case] = []
    if not reader.accept("{"):
        return (), ()
    while not reader.at("end", "}"):
        try:
            if reader.at_word("case"):
                cases.append(_case(reader))
            else:
                initial.append(_first(reader))
        except Failure:
            skip_to(reader, ";", "case", "}")
            reader.accept(";")
    if not reader.accept("}"):
        reader.note("open-bracket", "the transformer is never closed", reader.last.span, "close it with '}'")
    return tuple(initial), tuple(cases)


def _first(reader: Reader) -> Switch:
    """A statement of the initialisation."""
    start = reader.here
    if not reader.at_word(*_SWITCHES, "push"):
        reader.fail("'case', or abort, revive or toggle to begin with")
    statement = _statement(reader)
    reader.expect(";", "';' after the statement")
    if not isinstance(statement, Switch):
        hint = "put it into a case; before the first event there is nothing to push"
        reader.note("push-at-start", "the initialisation can only abort, revive or toggle", start.span, hint)
        raise Failure
    return statement


def _case(reader: Reader) -> Case:
    start = reader.advance()
    guard = read_guard(reader)
    reader.expect(":", "':', '&' or '|'")
    body: list[Statement] = []
    while not reader.at("end", "}") and not reader.at_word("case"):
        if reader.accept(";"):
            continue
        try:
            body.append(_statement(reader))
            if not reader.at("end", "}", ";") and not reader.at_word("case"):
                reader.fail("';', 'case' or '}'")
        except Failure:
            skip_to(reader, ";", "case", "}")
    return Case(guard, tuple(body), reader.span_from(start))


def _statement(reader: Reader) -> Statement:
    start = reader.here
    if reader.accept_word("push"):
        if reader.accept_word("new"):
            return _new(reader)
        event = name(reader, "an event, or 'new' and a type")
        return Push(event.text, start.span.through(event.span))
    for action in _SWITCHES:
        if reader.accept_word(action):
            reader.expect("(", f"'(' and labels: {action} (l1, l2)")
            labels = [name(reader, "a label")]
            while reader.accept(","):
                labels.append(name(reader, "a label"))
            reader.expect(")", "')' or ','")
            names, spans = tuple(label.text for label in labels), tuple(label.span for label in labels)
            return Switch(action, names, reader.span_from(start), spans)
    reader.fail("push, abort, revive or toggle")


def _new(reader: Reader) -> PushNew:
    start = reader.last
    kind, _ = type_name(reader)
    opening = reader.index
    reader.expect("{", "'{' and what the attributes are set to", f"write push new {kind} {{}}")
    assignments: list[Assignment] = []
    try:
        if not reader.at("}"):
            assignments.append(_assignment(reader))
            while reader.accept(","):
                assignments.append(_assignment(reader))
        reader.expect("}", "'}' or ','")
    except Failure:
        reader.leave(opening)
        raise
    return PushNew(kind, tuple(assignments), reader.span_from(start))


def _assignment(reader: Reader) -> Assignment:
    attribute = reader.expect("name", "the name of an attribute")
    reader.expect("=", "'='")
    value = _value(reader)
    return Assignment(attribute.text, value, reader.span_from(attribute))


def _value(reader: Reader) -> Field | Literal:
    start = reader.here
    if reader.at_word("true", "false"):
        return Literal(reader.advance().text == "true", start.span)
    if reader.at("string"):
        return Literal(reader.advance().value, start.span)
    if reader.at("number", "-"):
        negative = reader.accept("-") is not None
        number = reader.expect("number", "a number").value
        assert not isinstance(number, str)
        return Literal(-number if negative else number, reader.span_from(start))
    event = name(reader, "a value, or an event and its attribute as in a.SourceID")
    reader.expect(".", "'.' and an attribute, as in a.SourceID")
    attribute = reader.expect("name", "the name of an attribute")
    return Field(event.text, attribute.text, reader.span_from(event))
