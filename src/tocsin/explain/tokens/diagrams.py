"""Patterns as syntax trees, automata as nodes and edges."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.tokens.domain import domain_of
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Within,
    children,
)
from tocsin.automata.tokens.automaton import Automaton, State
from tocsin.automata.tokens.show import SpecText, arrows, ended_by, fails_on, node_text
from tocsin.explain.contents import Diagram, Edge, Node, Tree

MATCH = "match"


def syntax_tree(pattern: Pattern, spec_text: SpecText) -> Tree:
    """A pattern as a tree.

    >>> from tocsin.algebra.tokens.pattern import EventSpec
    >>> a, b = (Atom((EventSpec(name),)) for name in "AB")
    >>> tree = syntax_tree(Sequence((a, Repeat(b)), Order.STRONG), lambda spec: spec.name)
    >>> tree.operator, [operand.words for operand in tree.operands]
    ('strong-sequence', ['[A]', 'any number of times  *'])
    """
    span = pattern.span
    return Tree(
        node_text(pattern, spec_text),
        _operator(pattern),
        tuple(syntax_tree(child, spec_text) for child in children(pattern)),
        None if span is None else (span.start, span.end),
    )


def _operator(pattern: Pattern) -> str:
    match pattern:
        case Atom():
            return "not" if pattern.negated else "atom"
        case Sequence(_, Order.WEAK):
            return "sequence"
        case Sequence():
            return "strong-sequence"
        case Repeat():
            return "repeat"
        case Optional():
            return "optional"
        case Within():
            return "within"
        case AnyOf():
            return "any-of"
        case AllOf():
            return "all-of"
        case Timed():
            return "timed"
        case _:
            assert_never(pattern)


def automaton_diagram(name: str, automaton: Automaton, spec_text: SpecText) -> Diagram:
    """An automaton as nodes and edges; the match comes after all states."""
    nodes = [
        Node(
            f"S{number}",
            start=number in automaton.starts,
            domain=_domain(automaton, state, spec_text),
            fails_on=(*fails_on(state, spec_text), *ended_by(automaton, state)),
        )
        for number, state in enumerate(automaton.states)
    ]
    edges = [
        Edge(
            f"S{arrow.source}",
            MATCH if arrow.target is None else f"S{arrow.target}",
            arrow.text,
            arrow.strong,
            arrow.starts,
        )
        for arrow in arrows(automaton, spec_text)
    ]
    return Diagram(name, "automaton", (*nodes, Node(MATCH, "match", final=True)), tuple(edges))


def _domain(automaton: Automaton, state: State, spec_text: SpecText) -> tuple[str, ...]:
    """The events in the domain of a state, and the timers it waits for."""
    domains = [domain_of(move.place.atom, move.place.context.timers) for move in state.moves]
    events = [spec_text(spec) for domain in domains for spec in domain.relevant]
    timers = [automaton.timers[number].name for domain in domains for number in sorted(domain.timers)]
    return tuple(dict.fromkeys([*events, *timers]))
