"""Writes ECL as a person would: `parse(show_program(p)) == p`."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.completion.expression import (
    FALSE,
    TRUE,
    Accumulate,
    DoUnless,
    Expression,
    Fail,
    Handwritten,
    Loop,
    Modes,
    Named,
    Parallel,
    Persist,
    Predicate,
    Program,
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
)
from tocsin.algebra.completion.output import Constant, FieldOf, Forward, Make, Output
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or, Unify
from tocsin.errors import PatternError
from tocsin.languages.ecl.words import RESERVED, is_name
from tocsin.values import Relation

_WIDTH = 100


def show_program(program: Program) -> str:
    """The whole text: definitions, then the expression or the subscriptions."""
    taken = RESERVED | {definition.name for definition in program.definitions}
    lines = [f"define {d.name} = {_show(d.expression, '', taken)};" for d in program.definitions]
    for subscription in program.subscriptions:
        if subscription.name is None:
            lines.append(_show(subscription.expression, "", taken))
        else:
            lines.append(f"subscribe {subscription.name} {_braces((subscription.expression,), '', taken)}")
    return "\n".join(lines)


def show(expression: Expression, taken: frozenset[str] = RESERVED) -> str:
    """The text of an expression; `taken` are names that cannot stand for a type of events.

    >>> show(DoUnless(Predicate(TRUE), Fail(Predicate(FALSE))))
    'do {true} unless {fail {false}}'
    """
    return _show(expression, "", taken)


def _show(expression: Expression, indent: str, taken: frozenset[str]) -> str:
    """On one line if it fits, else with a line for each part."""
    flat = _flat(expression, taken)
    if len(indent) + len(flat) <= _WIDTH:
        return flat
    match expression:
        case Predicate() | Named() | Handwritten():
            return flat
        case _:
            blocks = [f"{head} {_braces(parts, indent, taken)}" for head, parts in _blocks(expression, taken)]
            return f"\n{indent}".join(blocks) if isinstance(expression, Modes) else " ".join(blocks)


def _braces(parts: tuple[Expression, ...], indent: str, taken: frozenset[str]) -> str:
    flat = "{" + ", ".join([_flat(part, taken) for part in parts]) + "}"
    if len(indent) + len(flat) <= _WIDTH * 2 // 3:
        return flat
    inner = indent + "  "
    return "{\n" + ",\n".join([inner + _show(part, inner, taken) for part in parts]) + f"\n{indent}}}"


def _flat(expression: Expression, taken: frozenset[str]) -> str:
    match expression:
        case Predicate(filter):
            return show_filter(filter, taken)
        case Named(name):
            return name
        case Handwritten(machine):
            hint = "a machine is a text of its own"
            message = f"the machine {machine.name} cannot stand in an expression"
            raise PatternError("not-expressible", message, expression.span, hint)
        case _:
            blocks = _blocks(expression, taken)
            return " ".join(
                [f"{head} {{{', '.join([_flat(p, taken) for p in parts])}}}" for head, parts in blocks]
            )


_Operator = (
    Accumulate
    | Select
    | SelectStar
    | Sequential
    | Parallel
    | DoUnless
    | Fail
    | Push
    | Modes
    | Repeat
    | Persist
    | Loop
)


def _blocks(expression: _Operator, taken: frozenset[str]) -> list[tuple[str, tuple[Expression, ...]]]:
    """The words of an operator, each with the contents of the braces after it."""
    match expression:
        case Accumulate(parts):
            return [("accumulate", parts)]
        case Select(parts):
            return [("select", parts)]
        case SelectStar(parts):
            return [("select*", parts)]
        case Sequential(parts):
            return [("sequential", parts)]
        case Parallel(parts):
            return [("parallel", parts)]
        case DoUnless(body, unless):
            return [("do", (body,)), ("unless", (unless,))]
        case Fail(body):
            return [("fail", (body,))]
        case Push(output, body):
            return [(f"push({show_output(output)})", (body,))]
        case Modes(modes):
            return [(f"in ({show_filter(mode.guard, taken)}) do", (mode.body,)) for mode in modes]
        case Repeat(body, times):
            return [("repeat" + _times(times), (body,))]
        case Persist(body, times):
            return [("persist" + _times(times), (body,))]
        case Loop(body, times):
            return [("loop" + _times(times), (body,))]
        case _:
            assert_never(expression)


def _times(times: int | None) -> str:
    return "" if times is None else f"({times})"


def show_filter(filter: Filter, taken: frozenset[str] = RESERVED) -> str:
    """The text of a predicate."""
    match filter:
        case And(()):
            return "true"
        case Or(()):
            return "false"
        case Compare(Attribute("type"), Relation.EQ, Literal(str() as name)) if is_name(name, taken):
            return name
        case Compare(Attribute(name), relation, Literal(value)):
            return f"<{name} {relation} {_value(value)}>"
        case Compare(Attribute(name), relation, Attribute(other)):
            return f"<{name} {relation} event.{other}>"
        case And(parts):
            return " /\\ ".join([_within(part, taken, And | Or) for part in parts])
        case Or(parts):
            return " \\/ ".join([_within(part, taken, Or) for part in parts])
        case Not(part):
            return f"!{_within(part, taken, And | Or)}"
        case Compare() | IsNull() | Like() | Unify():
            raise TypeError(f"ECL cannot compare one event with another: {filter}")
        case _:
            assert_never(filter)


def _within(filter: Filter, taken: frozenset[str], weaker: type | object) -> str:
    text = show_filter(filter, taken)
    bare = filter in (TRUE, FALSE) or not isinstance(filter, weaker)  # type: ignore[arg-type]  # a union of classes
    return text if bare else f"({text})"


def show_output(output: Output) -> str:
    """The text of an output."""
    match output:
        case Constant(value):
            return _value(value)
        case Forward():
            return "*"
        case Make(type, fields):
            shown = ", ".join([f"{name} = {_source(source)}" for name, source in fields])
            return f"{type} {{{shown}}}"
        case _:
            assert_never(output)


def _source(source: Literal | FieldOf) -> str:
    return f"event.{source.name}" if isinstance(source, FieldOf) else _value(source.value)


def _value(value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A value is a text whether it has quotes or not; only the words of the language need them.
        return value if is_name(value, RESERVED) else '"' + value.replace('"', '""') + '"'
    return repr(value)
