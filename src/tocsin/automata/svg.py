"""Automata as a picture: states from left to right as they are reached, one automaton below the other.

A double line is a strong move, a double circle the generative state, in which a composite event comes into
being. Below a state stands what ends a partial match there. An arrow to the next state is straight. Every
other arrow has a track of its own, those forward above the states, those back below, so that no label lies
on another.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from tocsin.automata.automaton import Automaton
from tocsin.automata.show import SpecText, arrows, ended_by, fails_on
from tocsin.errors import LimitError

RADIUS, LINE, CHARACTER = 20.0, 15.0, 7.3  # pixels; a character of the 12-pixel typewriter face is 7.2 wide
WRAP = 34  # characters in a line of a label
MARGIN, GAP = 24.0, 40.0
MAX_STATES = 300
_STYLE = """\
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2933}.title{font-weight:bold}.note{fill:#b3261e}
circle{fill:#fff;stroke:#1f2933;stroke-width:1.5}.paper{fill:#fff}
path{fill:none;stroke:#1f2933;stroke-width:1.5}.wide{stroke-width:4.5}.gap{stroke:#fff;stroke-width:1.5}"""
_HEAD = (
    '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" '
    'markerUnits="userSpaceOnUse" orient="auto">'
    '<path d="M0 0 10 5 0 10z" style="fill:#1f2933;stroke:none"/></marker>'
)


@dataclass(frozen=True, slots=True)
class _Edge:
    """All moves of one strength between two states, with what is written beside them."""

    source: int
    target: int
    strong: bool
    lines: tuple[str, ...]

    @property
    def width(self) -> float:
        return _width(self.lines)

    @property
    def height(self) -> float:
        return LINE * len(self.lines)


@dataclass
class _Canvas:
    """What was drawn, and how much room it takes. Labels come last, so that no line runs through them."""

    shapes: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    left: float = 0
    top: float = 0
    right: float = 0
    bottom: float = 0

    def cover(self, left: float, top: float, right: float, bottom: float) -> None:
        self.left, self.right = min(self.left, left), max(self.right, right)
        self.top, self.bottom = min(self.top, top), max(self.bottom, bottom)

    def circle(self, x: float, y: float, radius: float) -> None:
        self.shapes.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}"/>')
        self.cover(x - radius, y - radius, x + radius, y + radius)

    def text(self, x: float, y: float, lines: Sequence[str], style: str = "") -> None:
        """Lines of text; `x` is their left edge and `y` the foot of the first line."""
        if not lines:
            return
        width, height = _width(lines), LINE * len(lines)
        box = f'x="{x - 2:.0f}" y="{y - LINE + 3:.0f}" width="{width + 4:.0f}" height="{height:.0f}"'
        self.labels.append(f'<rect class="paper" {box}/>')
        for number, line in enumerate(lines):
            place = f'x="{x:.0f}" y="{y + number * LINE:.0f}"'
            self.labels.append(f'<text class="{style}" {place} xml:space="preserve">{escape(line)}</text>')
        self.cover(x, y - LINE, x + width, y + height)

    def arrow(self, path: str, *, strong: bool = False) -> None:
        if strong:
            self.shapes.append(f'<path class="wide" d="{path}"/><path class="gap" d="{path}"/>')
        line = ' style="stroke:none"' if strong else ""
        self.shapes.append(f'<path d="{path}" marker-end="url(#head)"{line}/>')


def show_svg(automata: Sequence[tuple[str, Automaton]], spec_text: SpecText) -> str:
    """A picture of automata, each under its title."""
    states = max((len(automaton.states) for _, automaton in automata), default=0)
    if states > MAX_STATES:
        message = f"an automaton of {states:,} states is too large for a picture; the limit is {MAX_STATES}"
        raise LimitError("too-many-states", message, hint="split the pattern into named composites")
    whole = _Canvas()
    for title, automaton in automata:
        whole.text(0, whole.bottom + GAP, textwrap.wrap(title, 110) or [""], "title")
        own = _drawn(automaton, spec_text)
        right, down = whole.left - own.left, whole.bottom + GAP / 4 - own.top
        moved = f'<g transform="translate({right:.0f} {down:.0f})">'
        whole.labels += [moved, *own.shapes, *own.labels, "</g>"]
        whole.cover(own.left + right, own.top + down, own.right + right, own.bottom + down)
    left, top = whole.left - MARGIN, whole.top
    width, height = whole.right - left + MARGIN, whole.bottom - top + MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}"'
    box = f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>',
            f"<style>{_STYLE}</style><defs>{_HEAD}</defs>",
            f'<rect class="paper" x="{left:.0f}" y="{top:.0f}" {size}/>',
            *whole.labels,
            "</svg>\n",
        ]
    )


def _width(lines: Iterable[str]) -> float:
    return CHARACTER * max((len(line) for line in lines), default=0)


def _drawn(automaton: Automaton, spec_text: SpecText) -> _Canvas:
    canvas = _Canvas()
    match = len(automaton.states)  # the generative state stands behind all others
    edges = _edges(automaton, spec_text, match)
    notes = [_notes(automaton, number, spec_text) for number in range(match)]
    straight, tracked = _divided(edges)
    xs = _columns(edges, notes, match)
    for number, x in enumerate(xs):
        canvas.circle(x, 0, RADIUS)
        if number == match:
            canvas.circle(x, 0, RADIUS - 4)
            canvas.text(x - _width(["match"]) / 2, RADIUS + LINE, ["match"])
            continue
        name = f"S{number}"
        canvas.labels.append(f'<text x="{x - _width([name]) / 2:.0f}" y="4">{name}</text>')
        canvas.text(x - 8, RADIUS + LINE, notes[number], "note")
    for edge in straight:
        start, end = xs[edge.source] + RADIUS, xs[edge.target] - RADIUS
        canvas.arrow(f"M{start:.0f} 0H{end:.0f}", strong=edge.strong)
        canvas.text((start + end - edge.width) / 2 - 3, 9 - edge.height, edge.lines)
    above = RADIUS + 14 + max((edge.height for edge in straight), default=0)
    below = RADIUS + 14 + LINE * max((len(note) for note in notes), default=0)
    _draw_tracks([edge for edge in tracked if edge.source <= edge.target], xs, -1, above, canvas)
    _draw_tracks([edge for edge in tracked if edge.source > edge.target], xs, 1, below, canvas)
    return canvas


def _edges(automaton: Automaton, spec_text: SpecText, match: int) -> list[_Edge]:
    lines: dict[tuple[int, int, bool], list[str]] = {}
    for arrow in arrows(automaton, spec_text):
        ends = (arrow.source, match if arrow.target is None else arrow.target, arrow.strong)
        lines.setdefault(ends, []).extend(textwrap.wrap(arrow.label, WRAP))
    return [_Edge(*ends, tuple(texts)) for ends, texts in lines.items()]


def _notes(automaton: Automaton, number: int, spec_text: SpecText) -> list[str]:
    state = automaton.states[number]
    failing = [*fails_on(state, spec_text), *ended_by(automaton, state)]
    start = ["start"] if number in automaton.starts else []
    return start + (textwrap.wrap("fails on " + ", ".join(failing), WRAP) if failing else [])


def _divided(edges: Sequence[_Edge]) -> tuple[list[_Edge], list[_Edge]]:
    """The edges that are drawn straight, one between two neighbours, and all others."""
    straight: dict[int, _Edge] = {}
    for edge in edges:
        if edge.target == edge.source + 1:
            straight.setdefault(edge.source, edge)
    return list(straight.values()), [edge for edge in edges if edge not in straight.values()]


def _columns(edges: Sequence[_Edge], notes: Sequence[Sequence[str]], match: int) -> list[float]:
    """Where the states stand: so far apart that what is written between two of them fits."""
    xs = [0.0]
    for number in range(1, match + 1):
        room = [xs[-1] + 6 * RADIUS, xs[-1] + _width(notes[number - 1]) + 2 * RADIUS]
        # Every label stands in the gap behind the first of its two states, so no line of another state
        # crosses it.
        own = [edge for edge in edges if min(edge.source, edge.target) == number - 1]
        xs.append(max([*room, *(xs[-1] + edge.width + 4 * RADIUS for edge in own)]))
    return xs


def _draw_tracks(
    edges: Sequence[_Edge], xs: Sequence[float], side: int, base: float, canvas: _Canvas
) -> None:
    """Edges that leave the row of states, each on the nearest free track; `side` is -1 above and 1 below."""
    tracks: list[list[_Edge]] = []
    for edge in sorted(edges, key=lambda edge: abs(xs[edge.target] - xs[edge.source])):
        free = [t for t in tracks if not any(_overlap(edge, other, xs) for other in t)]
        if not free:
            tracks.append([])
        (free or tracks[-1:])[0].append(edge)
    for track in tracks:
        for edge in track:
            _draw_tracked(edge, xs, side, side * base, canvas)
        base += max(edge.height for edge in track) + 12


def _overlap(one: _Edge, other: _Edge, xs: Sequence[float]) -> bool:
    (left, right), (first, last) = _span(one, xs), _span(other, xs)
    return left < last and first < right


def _span(edge: _Edge, xs: Sequence[float]) -> tuple[float, float]:
    first, last = sorted((xs[edge.source], xs[edge.target]))
    return first - 24, max(last + 24, first + edge.width + 30)


def _draw_tracked(edge: _Edge, xs: Sequence[float], side: int, y: float, canvas: _Canvas) -> None:
    source, target, foot = xs[edge.source], xs[edge.target], side * (RADIUS - 4)
    if edge.source == edge.target:
        ends = f"M{source - 7:.0f} {foot - 3:.0f}", f"{source + 7:.0f} {foot - 3:.0f}"
        canvas.arrow(
            f"{ends[0]}C{source - 26:.0f} {y:.0f} {source + 26:.0f} {y:.0f} {ends[1]}", strong=edge.strong
        )
        canvas.text(source + 30, y + 14 - edge.height + LINE, edge.lines)
        return
    # Forward from the upper right into the upper left; back from the lower left into the lower left, so
    # that what is written below the states is not crossed.
    leave, arrive = (source + 13, target - 13) if side < 0 else (source - 15, target - 12)
    turn = 14 if arrive > leave else -14
    canvas.arrow(
        f"M{leave:.0f} {foot:.0f}V{y - side * 14:.0f}Q{leave:.0f} {y:.0f} {leave + turn:.0f} {y:.0f}"
        f"H{arrive - turn:.0f}Q{arrive:.0f} {y:.0f} {arrive:.0f} {y - side * 14:.0f}V{foot:.0f}",
        strong=edge.strong,
    )
    top = y - 5 - edge.height + LINE if side < 0 else y + LINE
    canvas.text(min(source, target) + 30, top, edge.lines)
    canvas.cover(min(leave, arrive), min(y, 0), max(leave, arrive), max(y, 0))
