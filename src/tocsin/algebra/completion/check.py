"""Finds mistakes in ECL texts other than syntax errors, once the fields of the events are known.

>>> from tocsin.algebra.completion.expression import Predicate, Program, Subscription
>>> from tocsin.algebra.predicate import Attribute, Compare, Literal
>>> from tocsin.values import Relation
>>> low = Predicate(Compare(Attribute("altitud"), Relation.LT, Literal(500)))
>>> [str(error) for error in check(Program((Subscription("S", low),)), {"altitude": "int"})]
["unknown-attribute: the events have no field 'altitud'\\nhint: did you mean 'altitude'?"]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tocsin.algebra.completion.expression import (
    Expression,
    Handwritten,
    Modes,
    Predicate,
    Program,
    Push,
    walk,
)
from tocsin.algebra.completion.output import FieldOf, Make, Output
from tocsin.algebra.predicate import Attribute, Filter, comparisons
from tocsin.errors import PatternError, Span, did_you_mean

ALWAYS_THERE = ("source", "timestamp", "type")


def check(program: Program, fields: Collection[str]) -> list[PatternError]:
    """The mistakes in a program over events with these fields."""
    known = {*fields, *ALWAYS_THERE}
    errors: dict[tuple[str, Span | None], PatternError] = {}
    for subscription in program.subscriptions:
        for name, span in _named(subscription.expression):
            if name not in fields and name not in ALWAYS_THERE:
                message = f"the events have no field {name!r}"
                error = PatternError("unknown-attribute", message, span, did_you_mean(name, known))
                errors.setdefault((name, span), error)
    return list(errors.values())


def _named(expression: Expression) -> Iterator[tuple[str, Span | None]]:
    """Every field that an expression names, and where."""
    for node in walk(expression):
        match node:
            case Predicate(filter):
                yield from _asked(filter)
            case Modes(modes):
                for mode in modes:
                    yield from _asked(mode.guard)
            case Push(output):
                yield from _taken(output)
            case Handwritten(machine):
                for transition in machine.transitions:
                    yield from () if transition.input is None else _asked(transition.input)
                    for emit in transition.outputs:
                        yield from _taken(emit.output)
            case _:
                pass


def _taken(output: Output) -> Iterator[tuple[str, Span | None]]:
    fields = output.fields if isinstance(output, Make) else ()
    yield from ((source.name, source.span) for _, source in fields if isinstance(source, FieldOf))


def _asked(filter: Filter) -> Iterator[tuple[str, Span | None]]:
    for comparison in comparisons(filter):
        yield comparison.left.name, comparison.left.span or comparison.span
        if isinstance(comparison.right, Attribute):
            yield comparison.right.name, comparison.right.span or comparison.span
