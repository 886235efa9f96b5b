"""A page of SVG: shapes, labels over them, and the space that both take."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

RADIUS, LINE, CHARACTER = 20.0, 15.0, 7.3  # pixels; a character of the 12-pixel typewriter face is 7.2 wide
MARGIN, GAP = 24.0, 40.0
# Every rule names the class of the picture: in a notebook it must not change the page around it.
_STYLE = """\
.tocsin-drawing text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2933;stroke:none}
.tocsin-drawing .title{font-weight:bold}.tocsin-drawing .note{fill:#b3261e}
.tocsin-drawing circle,.tocsin-drawing .box{fill:#fff;stroke:#1f2933;stroke-width:1.5}
.tocsin-drawing .initial{stroke-width:3}.tocsin-drawing .joins{fill:#d9dee3}.tocsin-drawing .paper{fill:#fff}
.tocsin-drawing path{fill:none;stroke:#1f2933;stroke-width:1.5}
.tocsin-drawing .wide{stroke-width:4.5}.tocsin-drawing .gap{stroke:#fff;stroke-width:1.5}"""


@dataclass
class Canvas:
    """The shapes and labels drawn so far. Labels come last, so that no line runs through them."""

    shapes: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    left: float = 0
    top: float = 0
    right: float = 0
    bottom: float = 0

    def cover(self, left: float, top: float, right: float, bottom: float) -> None:
        """Make room for a rectangle."""
        self.left, self.right = min(self.left, left), max(self.right, right)
        self.top, self.bottom = min(self.top, top), max(self.bottom, bottom)

    def circle(self, x: float, y: float, radius: float, style: str = "") -> None:
        """Draw a circle."""
        named = f' class="{style}"' if style else ""
        self.shapes.append(f'<circle{named} cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}"/>')
        self.cover(x - radius, y - radius, x + radius, y + radius)

    def name(self, x: float, y: float, text: str) -> None:
        """Write a name around a point, without a background."""
        self.labels.append(f'<text x="{x - width_of([text]) / 2:.0f}" y="{y + 4:.0f}">{escape(text)}</text>')

    def text(self, x: float, y: float, lines: Sequence[str], style: str = "") -> None:
        """Write lines of text; `x` is their left edge and `y` the foot of the first line."""
        if not lines:
            return
        width, height = width_of(lines), LINE * len(lines)
        box = f'x="{x - 2:.0f}" y="{y - LINE + 3:.0f}" width="{width + 4:.0f}" height="{height:.0f}"'
        self.labels.append(f'<rect class="paper" {box}/>')
        for number, line in enumerate(lines):
            place = f'x="{x:.0f}" y="{y + number * LINE:.0f}"'
            self.labels.append(f'<text class="{style}" {place} xml:space="preserve">{escape(line)}</text>')
        self.cover(x, y - LINE, x + width, y + height)

    def arrow(self, path: str, *, strong: bool = False) -> None:
        """Draw an arrow along a path; a strong one has a double line."""
        if strong:
            self.shapes.append(f'<path class="wide" d="{path}"/><path class="gap" d="{path}"/>')
        line = ' style="stroke:none"' if strong else ""
        self.shapes.append(f'<path d="{path}" {_HEAD}{line}/>')

    def place_below(self, other: Canvas) -> None:
        """Add another canvas below what is drawn so far."""
        right, down = self.left - other.left, self.bottom + GAP / 4 - other.top
        moved = f'<g transform="translate({right:.0f} {down:.0f})">'
        self.labels += [moved, *other.shapes, *other.labels, "</g>"]
        self.cover(other.left + right, other.top + down, other.right + right, other.bottom + down)

    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        left, top = self.left - MARGIN, self.top
        width, height = self.right - left + MARGIN, self.bottom - top + MARGIN
        size = f'width="{width:.0f}" height="{height:.0f}"'
        box = f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}"'
        body = "\n".join([*self.shapes, *self.labels])
        # Two pictures on one page must not refer to each other's arrow heads, so each has an id of its own.
        own = "tocsin-" + hashlib.sha256(body.encode()).hexdigest()[:12]
        head = (
            f'<marker id="{own}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" '
            'markerUnits="userSpaceOnUse" orient="auto">'
            '<path d="M0 0 10 5 0 10z" style="fill:#1f2933;stroke:none"/></marker>'
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="tocsin-drawing" {size} {box}>',
                f"<style>{_STYLE}</style><defs>{head}</defs>",
                f'<rect class="paper" x="{left:.0f}" y="{top:.0f}" {size}/>',
                body.replace(_HEAD, f'marker-end="url(#{own})"'),
                "</svg>\n",
            ]
        )


# Stands for the arrow head until the picture is complete; no text of a user has plain quotation marks any more.
_HEAD = 'marker-end=""'


def width_of(lines: Iterable[str]) -> float:
    """The width of the longest line."""
    return CHARACTER * max((len(line) for line in lines), default=0)
