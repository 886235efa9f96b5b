"""Filters as syntax trees, their acceptors as nodes and edges."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.correlation.expression import (
    Accumulation,
    Atom,
    Collection,
    Expression,
    Labelled,
    Sequence,
    parts,
)
from tocsin.automata.correlation import Table
from tocsin.explain.contents import Diagram, Edge, Node, Tree

# An acceptor with more states is not drawn: it would be unreadable.
MAX_SHOWN = 200


def syntax_tree(expression: Expression) -> Tree:
    """A branch of a filter as a tree.

    >>> tree = syntax_tree(Labelled("l", Sequence(Atom("a"), Atom("b"))))
    >>> tree.words, [part.words for part in tree.operands[0].operands]
    ('l:', ['a', 'b'])
    """
    operator, words = _operator(expression)
    span = expression.span
    place = None if span is None else (span.start, span.end)
    return Tree(words, operator, tuple(map(syntax_tree, parts(expression))), place)


def _operator(expression: Expression) -> tuple[str, str]:
    match expression:
        case Atom(event):
            return "atom", event
        case Labelled(label):
            return "labelled", f"{label}:"
        case Accumulation():
            return "accumulation", "both, in any order  +"
        case Collection():
            return "collection", "at least one of  |"
        case Sequence():
            return "sequence", "one after the other  ;"
        case _:
            assert_never(expression)


def acceptor_diagram(name: str, table: Table) -> Diagram:
    """An acceptor as nodes and edges; an event that changes nothing has no edge."""
    if len(table.accepting) > MAX_SHOWN:
        return Diagram(name, "acceptor", left_out=f"{len(table.accepting):,} states, too many to show")
    nodes = [
        Node(f"S{number}", start=number == 0, final=accepts, domain=() if accepts else table.events)
        for number, accepts in enumerate(table.accepting)
    ]
    edges = [
        Edge(f"S{number}", f"S{after}", event)
        for number, row in enumerate(table.next)
        for event, after in zip(table.events, row, strict=True)
        if after != number
    ]
    return Diagram(name, "acceptor", tuple(nodes), tuple(edges))
