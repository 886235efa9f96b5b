"""Automata under construction: states that read one event, and empty moves between them, as in Appendix B.

Each operator has a file in `construct` that adds its part to a `Draft`. `remove_empty` then turns the draft into an
`Automaton` that has no empty moves.

Paper: 003, Appendix B, Fig. 14.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tocsin.algebra.tokens.bounds import MAX_OF_A_KIND, MAX_WORK
from tocsin.algebra.tokens.pattern import Atom, Timer
from tocsin.errors import LimitError, Span


@dataclass(frozen=True, slots=True)
class Way:
    """An empty move, or several in a row: whether one is strong, the strong links it enters, the timers it starts."""

    strong: bool = False
    enters: frozenset[int] = frozenset()
    arms: frozenset[int] = frozenset()

    def along(self, other: Way) -> Way:
        """This way, then the other."""
        return Way(self.strong or other.strong, self.enters | other.enters, self.arms | other.arms)


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of a part: strong links it lies behind (outermost first), timers by name, those running."""

    behind: tuple[int, ...] = ()
    timers: Mapping[str, int] = field(default_factory=dict)
    running: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Read:
    """A state that waits for an event of its atom and then goes to `target`."""

    atom: Atom
    context: Context
    target: int


@dataclass(frozen=True, slots=True)
class Fork:
    """A state that is left immediately, in several ways, each with a token of its own."""

    ways: tuple[tuple[Way, int], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A state that is left immediately, into the body and past it: both are waited for in one place."""

    body: int
    past: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A state that is left immediately, into the body and past it; the body ends at `past`, and is not entered again."""

    body: int
    past: int


Node = Read | Fork | Loop | Skip


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of the automaton, with the node it begins at and the one it ends at."""

    start: int
    end: int


@dataclass
class Spent:
    """The cost so far of the automata of one pattern, including the composites that it names."""

    states: int = 0
    moves: int = 0
    work: int = 0  # moves that were copied or merged


@dataclass
class Draft:
    """The automaton so far."""

    nodes: dict[int, Node] = field(default_factory=dict)
    timers: list[Timer] = field(default_factory=list)
    limits: set[int] = field(default_factory=set)  # the timers that only close what they limit
    links: int = 0
    size: int = 0
    spans: dict[int, Span | None] = field(default_factory=dict)  # of the parts that begin at a node
    spent: Spent = field(default_factory=Spent)

    def node(self) -> int:
        """A new node without a way out yet."""
        self.size += 1
        return self.size - 1

    def timer(self, timer: Timer, span: Span | None) -> int:
        """A new timer."""
        if len(self.timers) == MAX_OF_A_KIND:
            message = f"the pattern has more than {MAX_OF_A_KIND} timers"
            raise LimitError("too-many-timers", message, span, "name a part of it as a composite")
        self.timers.append(timer)
        return len(self.timers) - 1

    def link(self) -> int:
        """A new strong link."""
        self.links += 1
        return self.links - 1

    def spend(self, work: int, node: int) -> None:
        """Count work that is done for a node, before it is done."""
        self.spent.work += work
        if self.spent.work > MAX_WORK:
            raise self.too_much("too-much-work", f"more than {MAX_WORK:,} moves have to be merged", node)

    def too_much(self, code: str, message: str, node: int) -> LimitError:
        """The error for the part of a pattern at a node when it exceeds a limit."""
        hint = "join alternatives that wait for single events: [A, B] for [A] | [B]; or make several patterns of it"
        return LimitError(code, message, self.span(node), hint)

    def span(self, node: int) -> Span | None:
        """The part of the text that a node stands for: that of the first choice reached from it, if there is one."""
        while isinstance(at := self.nodes.get(node), Fork) and len(at.ways) == 1:
            ((_, node),) = at.ways
        return self.spans.get(node)

    def connect(self, source: int, target: int, way: Way = Way()) -> None:
        """An empty move out of a node that has no way out yet."""
        self.nodes[source] = Fork(((way, target),))
