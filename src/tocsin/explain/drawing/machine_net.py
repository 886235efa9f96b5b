"""Machines as a net, in the manner of the paper's figures: states round, transitions square.

A transition that needs several active states is shaded. A state with a double ring is final, one with a thick ring is
initial. What a transition clears is in its tooltip, and written under it where that is more than what enables it.

Paper: 000, Figs. 1, 3 to 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tocsin.explain.contents import Diagram, Node
from tocsin.explain.drawing.canvas import Canvas, width_of

_ROW, _RADIUS = 84.0, 18.0
_LEAST_COLUMN = 96.0
_DIP = 44.0  # how far an arrow back reaches below what it joins


def draw_net(diagram: Diagram) -> Canvas:
    """A machine as states and transitions, column by column in the order in which they are reached."""
    canvas = Canvas()
    places = _places(diagram)
    for edge in diagram.edges:
        _draw_edge(canvas, places[edge.source], places[edge.target])
    enabled_by = {
        node.name: {e.source for e in diagram.edges if e.target == node.name} for node in diagram.nodes
    }
    for node in diagram.nodes:
        x, y = places[node.name]
        if node.shape == "transition":
            _draw_transition(canvas, node, x, y, more=not enabled_by[node.name].issuperset(node.clears))
        else:
            canvas.circle(x, y, _RADIUS, "initial" if node.start else "")
            if node.final:
                canvas.circle(x, y, _RADIUS - 4)
            canvas.name(x, y, node.name)
    return canvas


def _draw_transition(canvas: Canvas, node: Node, x: float, y: float, *, more: bool) -> None:
    clears = ", ".join(node.clears) or "nothing"
    style = "box joins" if node.joins else "box"
    canvas.shapes.append(
        f"<g><title>{escape(node.name)}: clears {escape(clears)}</title>"
        f'<rect class="{style}" x="{x - _RADIUS:.0f}" y="{y - _RADIUS:.0f}"'
        f' width="{2 * _RADIUS:.0f}" height="{2 * _RADIUS:.0f}"/></g>'
    )
    canvas.cover(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS)
    canvas.name(x, y, node.name)
    canvas.text(x - width_of([node.label]) / 2, y - _RADIUS - 7, [node.label] if node.label else [])
    if more:
        note = f"clears {len(node.clears)}"
        canvas.text(x - width_of([note]) / 2, y + _RADIUS + 14, [note], "note")


def _places(diagram: Diagram) -> dict[str, tuple[float, float]]:
    """Where each node stands: columns by distance from the initial states, rows by what leads there."""
    leads: dict[str, list[str]] = {}
    came: dict[str, list[str]] = {}
    for edge in diagram.edges:
        leads.setdefault(edge.source, []).append(edge.target)
        came.setdefault(edge.target, []).append(edge.source)
    column = {node.name: 0 for node in diagram.nodes if node.start}
    queue = list(column)
    for name in queue:
        for after in leads.get(name, ()):
            if after not in column:
                column[after] = column[name] + 1
                queue.append(after)
    last = max(column.values(), default=0) + 1
    columns: dict[int, list[Node]] = {}
    for node in diagram.nodes:
        columns.setdefault(column.get(node.name, last), []).append(node)
    places: dict[str, tuple[float, float]] = {}
    x = half = 0.0
    for number in sorted(columns):
        before, half = half, _half_width(columns[number])
        x += max(_LEAST_COLUMN, before + half + _RADIUS) if places else 0
        rows = sorted(columns[number], key=lambda node: _height(came.get(node.name, []), places))
        for row, node in enumerate(rows):
            places[node.name] = (x, row * _ROW)
    return places


def _half_width(nodes: list[Node]) -> float:
    """How far the widest label of a column reaches to each side."""
    return max([_RADIUS, *(width_of([node.label]) / 2 for node in nodes)])


def _height(before: list[str], places: Mapping[str, tuple[float, float]]) -> float:
    rows = [places[name][1] for name in before if name in places]
    return sum(rows) / len(rows) if rows else 0


def _draw_edge(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Forward from side to side; back from foot to foot, so that the two look different."""
    (x1, y1), (x2, y2) = start, end
    if x2 > x1:
        bend = (x2 - x1) / 2
        canvas.arrow(
            f"M{x1 + _RADIUS:.0f} {y1:.0f} C{x1 + bend:.0f} {y1:.0f} {x2 - 2 * _RADIUS:.0f} {y2:.0f}"
            f" {x2 - _RADIUS:.0f} {y2:.0f}"
        )
        return
    foot, arrives, low = y1 + _RADIUS, y2 + _RADIUS, max(y1, y2) + _RADIUS + _DIP
    canvas.arrow(f"M{x1:.0f} {foot:.0f} C{x1:.0f} {low:.0f} {x2:.0f} {low:.0f} {x2:.0f} {arrives:.0f}")
    canvas.cover(x2, arrives, x1, low)
