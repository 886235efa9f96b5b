"""Writes correlations as a person would: `parse(show(library)) == library`."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.correlation.expression import (
    Accumulation,
    And,
    Assignment,
    Atom,
    Branches,
    Case,
    Collection,
    Correlation,
    Expression,
    Field,
    Guard,
    Is,
    Labelled,
    Library,
    Not,
    Or,
    Push,
    PushNew,
    Sequence,
    Statement,
    Switch,
)

# How tightly each operator binds; what binds no tighter than its surroundings is put in parentheses.
_COLLECTION, _ACCUMULATION, _SEQUENCE, _PRIMARY = range(4)
_WIDTH = 100


def show(library: Library) -> str:
    """The text of a library."""
    return "\n\n".join(show_correlation(correlation) for correlation in library.correlations)


def show_correlation(correlation: Correlation) -> str:
    """The text of one correlation."""
    parameters = ", ".join(f"{p.type} {p.name}" for p in correlation.parameters)
    head = f"{correlation.output} correlation {correlation.name} ({parameters})"
    filter = show_filter(correlation.branches)
    space = " " if len(head) + len(filter) < _WIDTH else "\n    "
    lines = [f"  {show_statement(switch)};" for switch in correlation.initial]
    lines += [f"  {show_case(case)}" for case in correlation.cases]
    body = "{\n" + "\n".join(lines) + "\n}" if lines else "{ }"
    return f"{head}{space}{filter} {body}"


def show_filter(branches: Branches) -> str:
    """The text of a filter.

    >>> show_filter((Labelled("l", Accumulation(Sequence(Atom("a"), Atom("b")), Atom("c"))), Atom("d")))
    'l:((a;b)+c) || d'
    """
    return " || ".join(show_expression(branch) for branch in branches)


def show_expression(expression: Expression) -> str:
    """The text of one branch of a filter, or of a part of it."""
    return _show(expression, _COLLECTION)


def _show(expression: Expression, outside: int) -> str:
    text, strength = _text(expression)
    return text if strength >= outside else f"({text})"


def _text(expression: Expression) -> tuple[str, int]:
    match expression:
        case Atom(event):
            return event, _PRIMARY
        case Labelled(label, body):
            return f"{label}:{_show(body, _PRIMARY)}", _PRIMARY
        case Sequence(left, right):
            return f"{_show(left, _SEQUENCE)};{_show(right, _PRIMARY)}", _SEQUENCE
        case Accumulation(left, right):
            # A sequence binds tighter here, but few readers know; parentheses make it clear.
            first = _show(left, _PRIMARY if isinstance(left, Sequence) else _ACCUMULATION)
            return f"{first}+{_show(right, _PRIMARY)}", _ACCUMULATION
        case Collection(left, right):
            return f"{_show(left, _COLLECTION)} | {_show(right, _ACCUMULATION)}", _COLLECTION
        case _:
            assert_never(expression)


def show_guard(guard: Guard) -> str:
    """The text of a guard.

    >>> show_guard(And((Is("l1"), Not(Or((Is("l2"), Is("l3")))))))
    'l1 & !(l2 | l3)'
    """
    match guard:
        case Is(label):
            return label
        case Not(part):
            return f"!{show_guard(part)}" if isinstance(part, Is | Not) else f"!({show_guard(part)})"
        case And(parts):
            return " & ".join(
                f"({show_guard(p)})" if isinstance(p, And | Or) else show_guard(p) for p in parts
            )
        case Or(parts):
            return " | ".join(f"({show_guard(p)})" if isinstance(p, Or) else show_guard(p) for p in parts)
        case _:
            assert_never(guard)


def show_case(case: Case) -> str:
    """The text of one case; one that does nothing says so with a lone semicolon."""
    return f"case {show_case_body(case)};"


def show_case_body(case: Case) -> str:
    """The guard and the statements of a case, without its keyword."""
    return f"{show_guard(case.guard)}: {'; '.join(map(show_statement, case.body))}"


def show_statement(statement: Statement) -> str:
    """The text of one statement.

    >>> show_statement(PushNew("Notify", (Assignment("SourceID", Field("a", "SourceID")),)))
    'push new Notify { SourceID = a.SourceID }'
    """
    match statement:
        case Push(event):
            return f"push {event}"
        case PushNew(kind, assignments):
            listed = ", ".join(f"{a.attribute} = {_value(a)}" for a in assignments)
            return f"push new {kind} {{ {listed} }}" if listed else f"push new {kind} {{}}"
        case Switch(action, labels):
            return f"{action} ({', '.join(labels)})"
        case _:
            assert_never(statement)


def _value(assignment: Assignment) -> str:
    value = assignment.value
    if isinstance(value, Field):
        return f"{value.event}.{value.attribute}"
    constant = value.value
    if isinstance(constant, bool):
        return "true" if constant else "false"
    if isinstance(constant, str):
        return '"' + constant.replace('"', '""') + '"'
    return repr(constant)
