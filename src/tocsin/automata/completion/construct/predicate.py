"""A predicate: wait for an event that satisfies it."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.algebra.completion.expression import FALSE
from tocsin.algebra.completion.fields import holds
from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal
from tocsin.automata.completion.construct.module import Builder, Module
from tocsin.values import Relation


def predicate(builder: Builder, filter: Filter, letters: Sequence[str] | None) -> Module:
    """Three states and a transition; with an alphabet, one for each letter that satisfies the predicate.

    The failure state cannot be reached. Paper: 000, Fig. 3.
    """
    waiting, succeeded, failed = builder.state(), builder.state(), builder.state()
    if letters is None:
        inputs = [] if filter == FALSE else [filter]
    else:
        inputs = [_letter(letter) for letter in letters if holds(filter, {"type": letter})]
    taken = tuple(builder.take(waiting, input, succeeded) for input in inputs)
    return Module((waiting, succeeded, failed), frozenset({waiting}), taken, (), succeeded, failed)


def _letter(name: str) -> Filter:
    return Compare(Attribute("type"), Relation.EQ, Literal(name))
