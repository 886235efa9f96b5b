"""Automata and acceptors in a row: states from left to right in the order in which they are reached.

A double line is a strong move; a double circle is a final state or the match. Below a state stands what ends a partial
match there. An arrow to the next state is straight. Every other arrow has a track of its own, those forward above the
states, those back below, so that no label lies on another.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.explain.contents import Diagram, Node
from tocsin.explain.drawing.canvas import LINE, RADIUS, Canvas, width_of

WRAP = 34  # characters in a line of a label


@dataclass(frozen=True, slots=True)
class _Arrow:
    """All moves of one strength between two states, with their labels."""

    source: int
    target: int
    strong: bool
    lines: tuple[str, ...]

    @property
    def width(self) -> float:
        return width_of(self.lines)

    @property
    def height(self) -> float:
        return LINE * len(self.lines)


def draw_row(diagram: Diagram) -> Canvas:
    """An automaton or an acceptor as a row of states."""
    canvas = Canvas()
    arrows = _arrows(diagram)
    notes = [_notes(node) for node in diagram.nodes]
    straight, tracked = _divided(arrows)
    xs = _columns(arrows, notes)
    for node, note, x in zip(diagram.nodes, notes, xs, strict=True):
        canvas.circle(x, 0, RADIUS)
        if node.final:
            canvas.circle(x, 0, RADIUS - 4)
        if node.shape == "match":
            canvas.text(x - width_of([node.name]) / 2, RADIUS + LINE, [node.name])
        else:
            canvas.name(x, 0, node.name)
        canvas.text(x - 8, RADIUS + LINE, note, "note")
    for arrow in straight:
        start, end = xs[arrow.source] + RADIUS, xs[arrow.target] - RADIUS
        canvas.arrow(f"M{start:.0f} 0H{end:.0f}", strong=arrow.strong)
        canvas.text((start + end - arrow.width) / 2 - 3, 9 - arrow.height, arrow.lines)
    above = RADIUS + 14 + max((arrow.height for arrow in straight), default=0)
    below = RADIUS + 14 + LINE * max((len(note) for note in notes), default=0)
    _draw_tracks([arrow for arrow in tracked if arrow.source <= arrow.target], xs, -1, above, canvas)
    _draw_tracks([arrow for arrow in tracked if arrow.source > arrow.target], xs, 1, below, canvas)
    return canvas


def _arrows(diagram: Diagram) -> list[_Arrow]:
    number = {node.name: position for position, node in enumerate(diagram.nodes)}
    lines: dict[tuple[int, int, bool], list[str]] = {}
    for edge in diagram.edges:
        ends = (number[edge.source], number[edge.target], edge.strong)
        lines.setdefault(ends, []).extend(textwrap.wrap(edge.label, WRAP))
    return [_Arrow(*ends, tuple(texts)) for ends, texts in lines.items()]


def _notes(node: Node) -> list[str]:
    start = ["start"] if node.start else []
    return start + (textwrap.wrap("fails on " + ", ".join(node.fails_on), WRAP) if node.fails_on else [])


def _divided(arrows: Sequence[_Arrow]) -> tuple[list[_Arrow], list[_Arrow]]:
    """The arrows that are drawn straight, one between two neighbours, and all others."""
    straight: dict[int, _Arrow] = {}
    for arrow in arrows:
        if arrow.target == arrow.source + 1:
            straight.setdefault(arrow.source, arrow)
    return list(straight.values()), [arrow for arrow in arrows if arrow not in straight.values()]


def _columns(arrows: Sequence[_Arrow], notes: Sequence[Sequence[str]]) -> list[float]:
    """The positions of the states, far enough apart for the labels between them."""
    xs = [0.0]
    for number in range(1, len(notes)):
        room = [xs[-1] + 6 * RADIUS, xs[-1] + width_of(notes[number - 1]) + 2 * RADIUS]
        # Every label stands in the gap behind the first of its two states, so no line of another state
        # crosses it.
        own = [arrow for arrow in arrows if min(arrow.source, arrow.target) == number - 1]
        xs.append(max([*room, *(xs[-1] + arrow.width + 4 * RADIUS for arrow in own)]))
    return xs


def _draw_tracks(
    arrows: Sequence[_Arrow], xs: Sequence[float], side: int, base: float, canvas: Canvas
) -> None:
    """Arrows that leave the row of states, each on the nearest free track; `side` is -1 above and 1 below."""
    tracks: list[list[_Arrow]] = []
    for arrow in sorted(arrows, key=lambda arrow: abs(xs[arrow.target] - xs[arrow.source])):
        free = [t for t in tracks if not any(_overlap(arrow, other, xs) for other in t)]
        if not free:
            tracks.append([])
        (free or tracks[-1:])[0].append(arrow)
    for track in tracks:
        for arrow in track:
            _draw_tracked(arrow, xs, side, side * base, canvas)
        base += max(arrow.height for arrow in track) + 12


def _overlap(one: _Arrow, other: _Arrow, xs: Sequence[float]) -> bool:
    (left, right), (first, last) = _span(one, xs), _span(other, xs)
    return left < last and first < right


def _span(arrow: _Arrow, xs: Sequence[float]) -> tuple[float, float]:
    first, last = sorted((xs[arrow.source], xs[arrow.target]))
    return first - 24, max(last + 24, first + arrow.width + 30)


def _draw_tracked(arrow: _Arrow, xs: Sequence[float], side: int, y: float, canvas: Canvas) -> None:
    source, target, foot = xs[arrow.source], xs[arrow.target], side * (RADIUS - 4)
    if arrow.source == arrow.target:
        ends = f"M{source - 7:.0f} {foot - 3:.0f}", f"{source + 7:.0f} {foot - 3:.0f}"
        canvas.arrow(
            f"{ends[0]}C{source - 26:.0f} {y:.0f} {source + 26:.0f} {y:.0f} {ends[1]}", strong=arrow.strong
        )
        canvas.text(source + 30, y + 14 - arrow.height + LINE, arrow.lines)
        return
    # Forward from the upper right into the upper left; back from the lower left into the lower left, so
    # that what is written below the states is not crossed.
    leave, arrive = (source + 13, target - 13) if side < 0 else (source - 15, target - 12)
    turn = 14 if arrive > leave else -14
    canvas.arrow(
        f"M{leave:.0f} {foot:.0f}V{y - side * 14:.0f}Q{leave:.0f} {y:.0f} {leave + turn:.0f} {y:.0f}"
        f"H{arrive - turn:.0f}Q{arrive:.0f} {y:.0f} {arrive:.0f} {y - side * 14:.0f}V{foot:.0f}",
        strong=arrow.strong,
    )
    top = y - 5 - arrow.height + LINE if side < 0 else y + LINE
    canvas.text(min(source, target) + 30, top, arrow.lines)
    canvas.cover(min(leave, arrive), min(y, 0), max(leave, arrive), max(y, 0))
