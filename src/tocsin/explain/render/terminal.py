"""The parts of an explanation as text for a terminal."""

from __future__ import annotations

from typing import assert_never

from tocsin.explain.contents import (
    Branches,
    Detectors,
    Diagram,
    Findings,
    Job,
    Kernels,
    Matches,
    Needs,
    Part,
    Placement,
    Predicates,
    Route,
    Sharing,
    Sizes,
    Text,
    Transformer,
    Tree,
    Waits,
)
from tocsin.explain.render.layout import branching, columns
from tocsin.explain.render.rows import rows_of, wait_words

WEAK, STRONG = "──▶", "══▶"
# Wide enough for the longest word, so that the lists of two patterns line up.
_NEEDS_WIDTH = len("variables")
_MOST_NAMES = 20
_BOUND = "hint: a timer bounds time and memory, as in ([A], [B])_{T1=1h}; so does a key with few events"


def text_of(part: Part) -> str:
    """A part as text, without a heading."""
    match part:
        case Text(text):
            return text
        case Tree():
            return tree_text(part)
        case Diagram():
            return part.left_out or part.text or automaton_text(part)
        case Needs():
            return columns(rows_of(part), _NEEDS_WIDTH)
        case Waits():
            return _waits(part)
        case Placement():
            return _placement(part)
        case Job(subscriptions=names):
            more = [f"… and {len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else []
            return "\n".join([*names[:_MOST_NAMES], *more])
        case Findings(findings):
            return "\n\n".join(map(str, findings)) or "none"
        case (
            Matches()
            | Detectors()
            | Kernels()
            | Predicates()
            | Sizes()
            | Branches()
            | Transformer()
            | Sharing()
            | Route()
        ):
            return columns(rows_of(part))
        case _:
            assert_never(part)


def tree_text(tree: Tree) -> str:
    """A syntax tree, one line a node.

    >>> print(tree_text(Tree("one of  |", "any-of", (Tree("[A]", "atom"), Tree("[B]", "atom")))))
    one of  |
    ├─ [A]
    └─ [B]
    """
    return branching(tree.words, map(tree_text, tree.operands))


def automaton_text(diagram: Diagram) -> str:
    """States with their moves: `──▶` is a weak move, `══▶` a strong one.

    >>> from tocsin.explain.contents import Edge, Node
    >>> nodes = (Node("S0", start=True), Node("S1", fails_on=("C",)), Node("match", "match", final=True))
    >>> edges = (Edge("S0", "S1", "A"), Edge("S1", "match", "B", strong=True))
    >>> print(automaton_text(Diagram("D0", "automaton", nodes, edges)))
    S0  start
        A ──▶ S1
    S1  fails on C
        B ══▶ match
    """
    lines = []
    for node in diagram.nodes:
        if node.shape == "match":
            continue
        notes = ["start"] if node.start else []
        notes += ["accepts"] if node.final else []
        notes += ["fails on " + ", ".join(node.fails_on)] if node.fails_on else []
        lines.append(f"{node.name}  {', '.join(notes)}".rstrip())
        for edge in diagram.edges:
            if edge.source == node.name:
                starts = "".join(f", starts {timer}" for timer in edge.starts)
                lines.append(f"    {edge.event} {STRONG if edge.strong else WEAK} {edge.target}{starts}")
    return "\n".join(lines)


def _waits(part: Waits) -> str:
    lines = [f"{state} waits for {how_long}" for state, how_long in map(wait_words, part.waits)]
    if any(wait.longest is None for wait in part.waits):
        lines.append(_BOUND)
    return "\n".join(lines) or "none: every match is a single event"


def _placement(part: Placement) -> str:
    if part.unknown is not None:
        return f"not known: {part.unknown}"
    lines = [f"{one.node} decides {one.filter}" for one in part.local]
    lines += [f"several are needed for {filter}" for filter in part.shared]
    return "\n".join(lines) or "every event crosses the network by itself"
