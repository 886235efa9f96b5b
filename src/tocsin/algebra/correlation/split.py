"""Splits a filter by where its events come from, so that only completed parts have to cross the network.

>>> from tocsin.algebra.correlation.expression import Atom
>>> ab, cd = Accumulation(Atom("a"), Atom("b")), Accumulation(Atom("c"), Atom("d"))
>>> found = decompose((Collection(ab, cd),), {"a": "n1", "b": "n1", "c": "n1", "d": "n2"})
>>> [part.node for part in found.node_local], found.cross_node == (cd,)
(['n1'], True)

Paper: 001, section 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from tocsin.algebra.correlation.expression import (
    Accumulation,
    Atom,
    Branches,
    Collection,
    Expression,
    Labelled,
    Sequence,
    events,
)
from tocsin.errors import InputError, did_you_mean

Placement = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LocalPart:
    """A part of a filter whose events all come from one node: only its completion has to leave that node."""

    node: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The largest parts that one node can decide, and the alternatives that need more than one node."""

    node_local: tuple[LocalPart, ...]
    cross_node: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A branch with its local parts cut out: `rest` waits for their completions, named in `parts`."""

    parts: Mapping[str, LocalPart]
    rest: Expression


def decompose(branches: Branches, placement: Placement) -> Decomposition:
    """The parts of a filter that each node can decide by itself; `placement` names the node of every event."""
    for event in sorted({event for branch in branches for event in events(branch)} - placement.keys()):
        raise InputError(
            "unplaced-event",
            f"event {event} is on no node",
            hint=did_you_mean(event, placement, "give its node"),
        )
    return Decomposition(
        tuple(part for branch in branches for part in _local(branch, placement)),
        tuple(
            part for branch in branches for part in _alternatives(branch) if len(_nodes(part, placement)) > 1
        ),
    )


def split(branch: Expression, placement: Placement) -> Split:
    """Cut the node-local parts out of a branch and put the events of their completions in their place.

    A part has to restart from scratch whenever its turn comes: with each window, or when the stage before it is
    complete. Labels inside a part are not in `rest`: its node knows whether they are active, and must be told
    when they are switched.

    >>> from tocsin.algebra.correlation.expression import Atom
    >>> branch = Accumulation(Accumulation(Atom("a"), Atom("b")), Atom("c"))
    >>> found = split(branch, {"a": "n1", "b": "n1", "c": "n2"})
    >>> found.rest, found.parts["n1.1"].node
    (Accumulation(left=Atom(event='n1.1'), right=Atom(event='c')), 'n1')
    """
    parts: dict[str, LocalPart] = {}

    def cut(expression: Expression) -> Expression:
        match expression:
            case Atom():
                return expression
            case Labelled(label, body, span):
                return Labelled(label, cut(body), span)
            case (
                Accumulation(left, right, span) | Collection(left, right, span) | Sequence(left, right, span)
            ):
                nodes = _nodes(expression, placement)
                if len(nodes) > 1:
                    return type(expression)(cut(left), cut(right), span)
                (node,) = nodes
                name = f"{node}.{sum(part.node == node for part in parts.values()) + 1}"
                parts[name] = LocalPart(node, expression)
                return Atom(name, span)
            case _:
                assert_never(expression)

    decompose((branch,), placement)  # refuses events without a node
    rest = cut(branch)
    return Split(parts, rest)


def _nodes(expression: Expression, placement: Placement) -> frozenset[str]:
    return frozenset(placement[event] for event in events(expression))


def _local(expression: Expression, placement: Placement) -> Iterator[LocalPart]:
    match expression:
        case Atom():
            return
        case Labelled(_, body):
            yield from _local(body, placement)
        case Accumulation(left, right) | Collection(left, right) | Sequence(left, right):
            nodes = _nodes(expression, placement)
            if len(nodes) == 1:
                yield LocalPart(next(iter(nodes)), expression)
            else:
                yield from _local(left, placement)
                yield from _local(right, placement)
        case _:
            assert_never(expression)


def _alternatives(expression: Expression, operand: bool = True) -> Iterator[Expression]:
    """The operands of `||` and `|`, at whatever depth, that are not collections themselves."""
    match expression:
        case Atom():
            if operand:
                yield expression
        case Labelled(_, body):
            yield from _alternatives(body, operand)
        case Collection(left, right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case Accumulation(left, right) | Sequence(left, right):
            if operand:
                yield expression
            yield from _alternatives(left, operand=False)
            yield from _alternatives(right, operand=False)
        case _:
            assert_never(expression)
