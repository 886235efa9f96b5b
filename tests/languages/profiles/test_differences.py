"""For each two languages that differ in their parameters a trace on which the same operator finds something else.

The search goes through traces of two classes in a fixed order, from the shortest on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

import pytest

from support.profile_texts import common_text, notation
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.parameters import Views
from tocsin.algebra.pairs.semantics import instances
from tocsin.events import Event, Interval
from tocsin.languages.profiles.description import built_in_names
from tocsin.languages.registry import language

SECOND = 1_000_000
STEPS = (1, 800)  # seconds; the longer one is beyond the default window of any language
COMPOSING = [name for name in built_in_names() if notation(name).own.composes]
OPERATORS = ("sequence", "conjunction")


@cache
def _traces() -> tuple[Observation, ...]:
    return tuple(_observations())


def _observations() -> Iterator[Observation]:
    for length in range(2, 6):
        for names in product("ab", repeat=length):
            for steps in product(STEPS, repeat=length) if length < 4 else [(1,) * length]:
                for made in (1, -1):  # in the order of arrival, or against it
                    time, events = 0, []
                    for number, (name, step) in enumerate(zip(names, steps, strict=True)):
                        time += step * SECOND
                        known = {"workflow": number % 2, "created": made * number}
                        events.append(
                            Event(f"{name}{number}", frozenset({name}), Interval(time, time), known)
                        )
                    yield Observation.of(events)


@cache
def _expression(name: str, operator: str, options: tuple[tuple[str, str], ...] = ()) -> Expression | None:
    text = common_text(notation(name), operator)
    return None if text is None else language(name).read(text, dict(options)).expression


def _said(expression: Expression) -> str:
    """The expression with its parameters; keeping all is what trace views without parameters do."""
    how = getattr(expression, "how", None)
    plain = show(expression)
    return plain if not isinstance(how, Views) else plain + "{consume=keep}"


@cache
def _found(expression: Expression, number: int) -> tuple[str, ...]:
    return tuple(sorted(str(i.ids) for i in instances(expression, _traces()[number])))


def _distinguishing(one: Expression, other: Expression) -> int | None:
    return next((n for n in range(len(_traces())) if _found(one, n) != _found(other, n)), None)


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_other_parameters_find_something_else(operator: str) -> None:
    having = [name for name in COMPOSING if _expression(name, operator) is not None]
    assert len(having) >= 12
    told = 0
    for left, right in combinations(having, 2):
        one, other = _expression(left, operator), _expression(right, operator)
        assert one is not None
        assert other is not None
        if _said(one) == _said(other):
            continue
        number = _distinguishing(one, other)
        assert number is not None, (left, right, _said(one), _said(other))
        assert _found(one, number) != _found(other, number)
        told += 1
    assert told > 40


CONTEXTS = {
    name: [
        {option.name: word}
        for option in notation(name).own.options
        if option.name in ("context", "consumption")
        for word in option.values
    ]
    for name in COMPOSING
}


@pytest.mark.parametrize("name", [name for name in COMPOSING if CONTEXTS[name]])
def test_each_two_contexts_of_a_language_differ(name: str) -> None:
    operator = "sequence" if _expression(name, "sequence") is not None else "conjunction"
    for left, right in combinations(CONTEXTS[name], 2):
        one = _expression(name, operator, (*left.items(), *_first(name)))
        other = _expression(name, operator, (*right.items(), *_first(name)))
        assert one is not None
        assert other is not None
        assert _distinguishing(one, other) is not None, (left, right)


def _first(name: str) -> tuple[tuple[str, str], ...]:
    """Where duplicates can be chosen, the first: with all of them nothing is left to consume."""
    return (
        (("duplicates", "first"),) if any(o.name == "duplicates" for o in notation(name).own.options) else ()
    )
