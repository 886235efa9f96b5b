"""Expressions as syntax trees, machines as nodes and edges."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.completion.expression import (
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
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
    children,
)
from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.errors import counted
from tocsin.explain.completion.wording import Printers
from tocsin.explain.contents import Diagram, Edge, Node, Tree

# A machine with more transitions is not written out: it would be unreadable.
MAX_SHOWN = 200


def syntax_tree(expression: Expression, printers: Printers) -> Tree:
    """An expression as a tree, with the operators in words."""
    operator, words = _operator(expression, printers)
    operands = tuple(syntax_tree(child, printers) for child in children(expression))
    span = getattr(expression, "span", None)
    return Tree(words, operator, operands, None if span is None else (span.start, span.end))


def _operator(expression: Expression, printers: Printers) -> tuple[str, str]:
    """The name of an operator, and the operator in words."""
    match expression:
        case Predicate(filter):
            return "predicate", printers.filter(filter)
        case Handwritten(machine):
            return "machine", f"the machine {machine.name}"
        case Accumulate():
            return "accumulate", "accumulate: all of"
        case Select():
            return "select", "select: one of"
        case SelectStar():
            return "select-star", "select*: whichever completes first, either way"
        case Sequential():
            return "sequential", "sequential: one after the other"
        case DoUnless():
            return "do-unless", "do the first, unless the second succeeds"
        case Fail():
            return "fail", "fail: the other way round"
        case Push(output):
            return "push", f"push {printers.output(output)} on the success of"
        case Parallel():
            return "parallel", "parallel: each by itself"
        case Modes(modes):
            return "modes", "modes: " + ", ".join(printers.filter(mode.guard) for mode in modes)
        case Repeat(_, times):
            return "repeat", f"repeat{_rounds(times)}: again, whatever the outcome"
        case Persist(_, times):
            return "persist", f"persist{_rounds(times)}: again until it succeeds"
        case Loop(_, times):
            return "loop", f"loop{_rounds(times)}: again until it fails"
        case Named(name):
            return "named", f"{name}:"
        case _:
            assert_never(expression)


def _rounds(times: int | None) -> str:
    return "" if times is None else f", at most {counted(times, 'time')}"


def machine_diagram(name: str, machine: Machine, printers: Printers) -> Diagram:
    """A machine as nodes and edges: states, and transitions between them."""
    if len(machine.transitions) > MAX_SHOWN:
        left_out = f"{len(machine.transitions):,} transitions, too many to show"
        return Diagram(name, "machine", left_out=left_out)
    final = (machine.success, machine.failure)
    states = [Node(one, start=one in machine.initial, final=one in final) for one in machine.states]
    transitions = [
        Node(
            one.name,
            "transition",
            label=_label(one, printers),
            clears=tuple(sorted(one.clear)),
            joins=len(one.enable) > 1,
        )
        for one in machine.transitions
    ]
    edges = [edge for transition in machine.transitions for edge in _edges(transition)]
    return Diagram(name, "machine", (*states, *transitions), tuple(edges), printers.machine(machine))


def _edges(transition: Transition) -> list[Edge]:
    waits = sorted(frozenset[str]().union(*transition.enable))
    return [
        *(Edge(state, transition.name) for state in waits),
        *(Edge(transition.name, state) for state in sorted(transition.target)),
    ]


def _label(transition: Transition, printers: Printers) -> str:
    input = "ε" if transition.input is None else printers.filter(transition.input)
    outputs = ", ".join(printers.output(emit.output) for emit in transition.outputs)
    return f"{input} / {outputs}" if outputs else input
