"""Diagrams as SVG pictures, without scripts and without anything that is loaded from elsewhere."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from tocsin.errors import LimitError
from tocsin.explain.contents import Diagram
from tocsin.explain.drawing.canvas import GAP, Canvas
from tocsin.explain.drawing.machine_net import draw_net
from tocsin.explain.drawing.state_row import draw_row

MAX_NODES = 300


def draw(diagrams: Iterable[tuple[str, Diagram]]) -> str:
    """One picture of several diagrams, each under its title; refuses one that is too large to read.

    >>> from tocsin.explain.contents import Edge, Node
    >>> nodes = Node("S0", start=True), Node("match", "match", final=True)
    >>> draw([("[A]", Diagram("D0", "automaton", nodes, (Edge("S0", "match", "A"),)))]).count("<circle")
    3
    """
    whole = Canvas()
    for title, diagram in diagrams:
        if (refused := too_large(diagram)) is not None:
            raise LimitError("too-many-states", refused, hint="split the pattern into named parts")
        if title:
            whole.text(0, whole.bottom + GAP, textwrap.wrap(title, 110), "title")
        whole.place_below(draw_net(diagram) if diagram.kind == "machine" else draw_row(diagram))
    return whole.svg()


def too_large(diagram: Diagram) -> str | None:
    """Why a diagram cannot be drawn; None if it can."""
    if diagram.left_out is not None:
        return f"{diagram.name} cannot be drawn: {diagram.left_out}"
    if len(diagram.nodes) > MAX_NODES:
        size = f"{len(diagram.nodes):,} nodes"
        return f"{diagram.name} has {size}, too many for a picture; the limit is {MAX_NODES}"
    return None
