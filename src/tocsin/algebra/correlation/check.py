"""Mistakes in a correlation that parses: unknown or duplicate names, incompatible types.

All mistakes are returned at once, each with its place in the text. Without event types, types are not
checked.

>>> from tocsin.algebra.correlation.expression import Case, Is, Labelled
>>> wrong = Correlation("N", "C", (Parameter("E", "a"),), (Labelled("l", Atom("b")),), (), (Case(Is("m")),))
>>> [error.message for error in check(wrong)]
['event b not declared', 'label m not declared']

Paper: 001, sections 3.7, 4.2 and 4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tocsin.algebra.correlation.expression import (
    Assignment,
    Atom,
    Branches,
    Correlation,
    Field,
    Library,
    Parameter,
    Push,
    PushNew,
    Statement,
    Switch,
    asked,
    events,
    labelled,
    walk,
)
from tocsin.algebra.correlation.types import DELIVERY_CHOICES, Types, assignable, holds_value, value_type
from tocsin.algebra.predicate import Literal
from tocsin.errors import PatternError, Span, did_you_mean

Errors = Iterator[PatternError]


def check_library(library: Library, types: Types | None = None) -> list[PatternError]:
    """Every mistake in the correlations of a file."""
    errors = [error for correlation in library.correlations for error in check(correlation, types)]
    for name, again in _repeated((c.name, c.span) for c in library.correlations):
        errors.append(
            PatternError("duplicate-name", f"duplicate correlation {name}", again, "rename one of them")
        )
    return errors


def check(correlation: Correlation, types: Types | None = None) -> list[PatternError]:
    """Every mistake in a correlation; an empty list if it can run."""
    errors = [*_check_parameters(correlation), *check_filter(correlation.branches, correlation.parameters)]
    if correlation.branches:
        # A filter that could not be parsed is empty; its declarations are then unknown.
        errors += [*_check_events(correlation), *_check_labels(correlation)]
    for statement in _statements(correlation):
        errors += _check_push(statement, correlation, types)
    if types is not None:
        errors += _check_types(correlation, types)
    return errors


def check_filter(branches: Branches, parameters: Iterable[Parameter] = ()) -> Errors:
    """Mistakes in a filter: labels used twice, or named like an event."""
    parts = [part for branch in branches for part in labelled(branch)]
    for label, again in _repeated((part.label, part.span) for part in parts):
        yield PatternError(
            "duplicate-label", f"duplicate label {label}", again, "a label marks one place; choose another"
        )
    taken = {name for branch in branches for name in events(branch)} | {p.name for p in parameters}
    for part in parts:
        if part.label in taken:
            yield PatternError(
                "shared-name",
                f"label and parameter share the name {part.label}",
                part.span,
                "rename the label, so that readers know which of the two is meant",
            )


def _repeated(named: Iterable[tuple[str, Span | None]]) -> Iterator[tuple[str, Span | None]]:
    """Every duplicate name, with the place of its repeated use."""
    seen: Counter[str] = Counter()
    for name, span in named:
        seen[name] += 1
        if seen[name] > 1:
            yield name, span


def _statements(correlation: Correlation) -> Iterator[Statement]:
    yield from correlation.initial
    for case in correlation.cases:
        yield from case.body


def _check_parameters(correlation: Correlation) -> Errors:
    for name, again in _repeated((p.name, p.span) for p in correlation.parameters):
        yield PatternError(
            "duplicate-parameter",
            f"duplicate parameter {name}",
            again,
            "each port needs a name of its own: two events are the same if they come from the same port",
        )


def _check_events(correlation: Correlation) -> Errors:
    names = dict.fromkeys(parameter.name for parameter in correlation.parameters)
    for part in (part for branch in correlation.branches for part in walk(branch)):
        if isinstance(part, Atom) and part.event not in names:
            yield _unknown_event(part.event, names, part.span)


def _unknown_event(event: str, names: Iterable[str], span: Span | None) -> PatternError:
    return PatternError(
        "unknown-event",
        f"event {event} not declared",
        span,
        did_you_mean(event, names, "declare it as a parameter: (Type " + event + ", …)"),
    )


def _check_labels(correlation: Correlation) -> Errors:
    known = dict.fromkeys(part.label for branch in correlation.branches for part in labelled(branch))
    named: list[tuple[str, Span | None]] = [
        (label.label, label.span) for case in correlation.cases for label in asked(case.guard)
    ]
    for statement in _statements(correlation):
        if isinstance(statement, Switch):
            spans = statement.spans or (statement.span,) * len(statement.labels)
            named += zip(statement.labels, spans, strict=True)
    for label, span in named:
        if label not in known:
            yield PatternError(
                "unknown-label",
                f"label {label} not declared",
                span,
                did_you_mean(label, known, f"mark a part of the filter with it: {label}:( … )"),
            )


def _check_push(statement: Statement, correlation: Correlation, types: Types | None) -> Errors:
    """Mistakes in one statement, including the types of what it sends."""
    ports = {parameter.name: parameter.type for parameter in correlation.parameters}
    match statement:
        case Push(event):
            if event not in ports:
                yield _unknown_event(event, ports, statement.span)
            elif types is not None and not _fits(ports[event], correlation.output, types):
                yield PatternError(
                    "wrong-output",
                    f"push type {ports[event]} is not a subtype of {correlation.output}",
                    statement.span,
                    f"make one of what it holds: push new {correlation.output} {{ … }}",
                )
        case PushNew():
            yield from _check_new(statement, correlation, ports, types)
        case Switch():
            return


def _fits(name: str, ancestor: str, types: Types) -> bool:
    """Whether a type is a subtype of another, or one of them is unknown and reported as such."""
    return types.find(name) is None or types.find(ancestor) is None or types.is_subtype(name, ancestor)


def _check_new(
    statement: PushNew, correlation: Correlation, ports: dict[str, str], types: Types | None
) -> Errors:
    if types is not None:
        if types.find(statement.type) is None:
            yield _unknown_type(statement.type, types, statement.span)
        elif not _fits(statement.type, correlation.output, types):
            yield PatternError(
                "wrong-output",
                f"{statement.type} is not a subtype of {correlation.output}",
                statement.span,
                f"{correlation.name} sends {correlation.output} and its subtypes",
            )
    for name, again in _repeated((a.attribute, a.span) for a in statement.assignments):
        yield PatternError("duplicate-attribute", f"duplicate assignment of attribute {name}", again)
    for assignment in statement.assignments:
        value = assignment.value
        if isinstance(value, Field) and value.event not in ports:
            yield _unknown_event(value.event, ports, value.span)
        elif types is not None:
            yield from _check_assignment(statement.type, assignment, ports, types)


def _check_assignment(owner: str, assignment: Assignment, ports: dict[str, str], types: Types) -> Errors:
    target = types.attribute(owner, assignment.attribute)
    if target is None and types.find(owner) is not None:
        yield _unknown_attribute(owner, assignment.attribute, types, assignment.span)
    match assignment.value:
        case Field(event, attribute):
            source = types.attribute(ports[event], attribute)
            if source is None:
                if types.find(ports[event]) is not None:
                    yield _unknown_attribute(ports[event], attribute, types, assignment.value.span)
                return
            good = target is None or assignable(source, target)
        case literal:
            source = value_type(literal.value)
            good = target is None or holds_value(literal.value, target)
            if good and assignment.attribute not in types.attributes(owner):
                yield from _check_delivery(assignment.attribute, literal)
    if not good:
        yield PatternError(
            "wrong-type",
            f"{source} not assignable to {target}, the type of {assignment.attribute}",
            assignment.value.span,
            "only a type that keeps every value can be assigned",
        )


def _check_delivery(attribute: str, literal: Literal) -> Errors:
    choices = DELIVERY_CHOICES.get(attribute, ())
    if choices and literal.value not in choices:
        hint = "one of " + ", ".join(f'"{choice}"' for choice in choices)
        yield PatternError("bad-delivery", f"{attribute} cannot be {literal.value!r}", literal.span, hint)


def _unknown_attribute(owner: str, attribute: str, types: Types, span: Span | None) -> PatternError:
    known = types.attributes(owner)
    return PatternError(
        "unknown-attribute",
        f"{owner} has no attribute {attribute}",
        span,
        did_you_mean(attribute, known) or None,
    )


def _unknown_type(name: str, types: Types, span: Span | None) -> PatternError:
    inside = [full for full in types.names if full.endswith(f"::{name}")]
    hint = f"did you mean {inside[0]!r}?" if inside else did_you_mean(name, types.names)
    return PatternError("unknown-type", f"event type {name} not declared", span, hint or None)


def _check_types(correlation: Correlation, types: Types) -> Errors:
    """Mistakes in the types that the head of a correlation names."""
    if types.find(correlation.output) is None:
        yield _unknown_type(correlation.output, types, correlation.span)
    for parameter in correlation.parameters:
        if types.find(parameter.type) is None:
            yield _unknown_type(parameter.type, types, parameter.span)
