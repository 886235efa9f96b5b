"""The structure of a pattern: its text, its syntax tree, and the automata, machines or acceptors that detect it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

Shape = OneOf["state", "transition", "match"]
Drawn = OneOf["automaton", "machine", "acceptor"]


@dataclass(frozen=True, slots=True)
class Text:
    """A text as the printer of its language writes it."""

    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A node of a syntax tree with its operands.

    `words` explain the node, `operator` names it for programs. `place` is where it stands in the given text, from its
    first character up to but not including the one behind it; None where the parser does not keep that.
    """

    words: str
    operator: str
    operands: tuple[Tree, ...] = ()
    place: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a diagram: a state, a transition that joins several states, or the match.

    `domain` are the events that a state looks at, `fails_on` those of them (and the timers) that end a partial match
    there. Of a transition, `label` is its input and output, `clears` are the states that it leaves; it `joins` if it
    needs more than one active state.
    """

    name: str
    shape: Shape = "state"
    start: bool = False
    final: bool = False
    domain: tuple[str, ...] = ()
    fails_on: tuple[str, ...] = ()
    label: str = ""
    clears: tuple[str, ...] = ()
    joins: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A move from one node to another on an event. The event of a strong move lies wholly after the one before."""

    source: str
    target: str
    event: str = ""
    strong: bool = False
    starts: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The event, and the timers that start with it."""
        return self.event + "".join(f", starts {timer}" for timer in self.starts)


@dataclass(frozen=True, slots=True)
class Diagram:
    """An automaton, a machine or an acceptor as nodes and edges; an event without an edge changes nothing.

    `text` is the diagram in the notation of its language, where the language has one. `left_out` says why there are
    no nodes.
    """

    name: str
    kind: Drawn
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    text: str | None = None
    left_out: str | None = None

    def node(self, name: str) -> Node:
        """The node of this name."""
        return next(node for node in self.nodes if node.name == name)
